"""What each source word is worth to each target token: the source without it, beside where cross-attention looks.

Attention says where a head looks, not what would change (Jain & Wallace 2019). Deleting a word and scoring the same
target again says what would change, with its own fault: the sentence that is left may be one that nobody would write.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from transformer.analysis.attention import Tokens
from transformer.analysis.retrace import piece_ids
from transformer.analysis.trace import Trace
from transformer.text.batches import pad
from transformer.text.tokenizer import BOS

if TYPE_CHECKING:
    from transformer.checkpoint import Checkpoint
    from transformer.model import Transformer

NOTICEABLE = 0.1
"""Nats: drops closer than that (a tenth of the probability) are too close to disagree about."""

_BATCH_LOGITS = 2**25  # numbers; 128 MB in float32


@dataclass(frozen=True)
class Comparison:
    """Drop and attention of each target token, over the source words."""

    rank_correlation: Float[np.ndarray, "target"]
    """Spearman's, −1 to 1; NaN where there are fewer than 3 words, or all weights or all drops are equal."""
    attended: Int[np.ndarray, "target"]
    """The word with the largest weight."""
    needed: Int[np.ndarray, "target"]
    """The word with the largest drop."""
    disagrees: Bool[np.ndarray, "target"]
    """Where these are two words whose drops differ noticeably, by at least NOTICEABLE."""


@dataclass(frozen=True)
class Deletion:
    """The effect of deleting each source word, and the attention of the same cells."""

    words: Tokens
    """The source words, special tokens left out."""
    target: Tokens
    """The tokens written, </s> among them."""
    drop: Float[np.ndarray, "target word"]
    """Nats by which a target token's log-probability falls without the word: log p(yₜ | x) − log p(yₜ | x without it).

    Positive where the word helps, negative where it stands in the way.
    """
    attention: Float[np.ndarray, "layer head target word"]
    """Cross-attention summed over a word's pieces; what goes to </s> is left out, so rows sum to less than 1."""

    def compare(self, layer: int | None = None, head: int | None = None) -> Comparison:
        """The drops beside the attention of a head, the mean of a layer (no head), or the mean of all (no layer).

        Raises ValueError for a head without a layer, or where there is no word to compare.
        """
        if layer is None and head is not None:
            raise ValueError(f"Head {head} was asked for without its layer; allowed is a layer, or a layer and a head.")
        if not len(self.words):
            raise ValueError("The source has no words to delete; allowed is at least one.")
        chosen = self.attention if layer is None else self.attention[layer][None]
        weights = chosen.mean((0, 1)) if head is None else chosen[0, head]
        attended, needed = weights.argmax(1), self.drop.argmax(1)
        rows = np.arange(len(self.drop))
        gap = self.drop[rows, needed] - self.drop[rows, attended]
        correlation = np.array([_spearman(*pair) for pair in zip(weights, self.drop, strict=True)])
        return Comparison(correlation, attended, needed, gap >= NOTICEABLE)


def delete_words(checkpoint: "Checkpoint", trace: Trace) -> Deletion:
    """Score the trace's target again without each of its source words, all of them in one batch.

    The trace has to be of this checkpoint, without interventions. Time grows with the number of words times the length
    of both sentences: a moment for a sentence, a minute for three hundred words on one core. Raises ValueError for a
    piece that the tokenizer does not have.
    """
    # Encoding the text again might cut a target that the model wrote into other pieces.
    source, written = (piece_ids(checkpoint.tokenizer, side.pieces) for side in (trace.source, trace.target))
    member = trace.source.membership()
    ordinary = ~np.array(trace.source.merged().special, bool)
    kept = [[number for number, out in zip(source, row, strict=True) if not out] for row in member[ordinary] > 0]
    log_probs = _log_probs(checkpoint.model, [source, *kept], written)
    return Deletion(
        words=trace.source.merged().select(ordinary.tolist()),
        target=trace.target,
        drop=(log_probs[0] - log_probs[1:]).T,
        attention=trace.cross.pattern @ member[ordinary].T,
    )


def _log_probs(
    model: "Transformer", sources: Sequence[Sequence[int]], written: Sequence[int]
) -> Float[np.ndarray, "source target"]:
    """Of each written token after those before it, for each of the sources; both with EOS."""
    target_in = torch.tensor([[BOS, *written[:-1]]], device=model.device)
    target_out = torch.tensor([written], device=model.device)[..., None]
    rows = max(1, _BATCH_LOGITS // (len(written) * model.config.vocab_size))
    found = []
    with torch.inference_mode():
        for start in range(0, len(sources), rows):
            source = pad(sources[start : start + rows]).to(model.device)
            logits = model(source, target_in.expand(len(source), -1)).float()
            log_probs = logits.gather(2, target_out.expand(len(source), -1, -1)).squeeze(2) - logits.logsumexp(-1)
            found.append(log_probs.cpu())
    return torch.cat(found).numpy()


def _spearman(one: np.ndarray, other: np.ndarray) -> float:
    """Pearson's correlation of the ranks, equal values sharing the mean of theirs."""
    first, second = _ranks(one), _ranks(other)
    if len(one) < 3 or first.std() == 0 or second.std() == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    less, equal = values < values[:, None], values == values[:, None]
    return less.sum(1) + (equal.sum(1) - 1) / 2
