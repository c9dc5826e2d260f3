"""How well a model does on texts of each length, within what it was trained on and beyond (§3.5)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer.model.transformer import Transformer, source_mask
from transformer.text.batches import Batch, Batches
from transformer.text.tokenizer import EOS, PAD

EncodedPair = tuple[list[int], list[int]]
_BATCH_TOKENS = 4096


@dataclass(frozen=True)
class LengthScore:
    """Scores of the pairs whose length lies in shortest … longest, both included; means are over their tokens.

    The decoder reads the right target at every step, whatever it would have written.
    """

    shortest: int
    longest: int
    n_pairs: int
    n_too_long: int
    """Further pairs of these lengths that a table of learned positions has no rows for; they are in no score."""
    n_tokens: int
    """Target tokens, </s> included."""
    nll: float | None
    """Negative log-likelihood of a token in nats; exp of it is the perplexity. None where there is no pair."""
    accuracy: float | None
    """Share of tokens, without </s>, that the model thinks likeliest."""
    whole: float | None
    """Share of targets of which every token, </s> too, is likeliest: just those that greedy decoding gets right."""


def buckets(longest: int, width: int) -> list[tuple[int, int]]:
    """Lengths 1 … longest in steps of width: (1, width), (width + 1, 2 · width), …"""
    return [(start, min(start + width - 1, longest)) for start in range(1, longest + 1, width)]


def score_by_length(
    model: Transformer,
    pairs: Sequence[EncodedPair],
    lengths: Sequence[int],
    edges: Sequence[tuple[int, int]],
    judged: Callable[[Tensor], Tensor] | None = None,
) -> list[LengthScore]:
    """One score for each bucket of lengths; `lengths` has one for each pair, in whatever it is counted in.

    judged: given a batch's gold tokens (batch, query), True where accuracy counts them; by default all but </s>.
    Pairs that the model's learned positions have no rows for are counted and left out, not failed on.
    """
    return [
        _score(model, [p for p, n in zip(pairs, lengths, strict=True) if low <= n <= high], low, high, judged)
        for low, high in edges
    ]


@torch.inference_mode()
def _score(
    model: Transformer,
    pairs: Sequence[EncodedPair],
    shortest: int,
    longest: int,
    judged: Callable[[Tensor], Tensor] | None,
) -> LengthScore:
    fitting = [pair for pair in pairs if fits(model, pair)]
    nll = torch.zeros((), dtype=torch.float64)
    n_tokens = n_judged = right = whole = 0
    for batch in _batches(fitting):
        batch = batch.to(model.device)
        log_probs, likeliest = _teacher_forced(model, batch)
        real = batch.target_out != PAD
        counted = real & (batch.target_out != EOS) if judged is None else real & judged(batch.target_out)
        nll -= log_probs[real].double().sum().cpu()
        n_tokens += int(real.sum())
        n_judged += int(counted.sum())
        right += int((likeliest & counted).sum())
        whole += int((likeliest | ~real).all(-1).sum())
    return LengthScore(
        shortest=shortest,
        longest=longest,
        n_pairs=len(fitting),
        n_too_long=len(pairs) - len(fitting),
        n_tokens=n_tokens,
        nll=float(nll) / n_tokens if n_tokens else None,
        accuracy=right / n_judged if n_judged else None,
        whole=whole / len(fitting) if fitting else None,
    )


def fits(model: Transformer, pair: EncodedPair) -> bool:
    """Whether the model has a position for every token of the pair, </s> and <s> included."""
    return model.config.positions != "learned" or max(map(len, pair)) < model.config.max_length


def _batches(pairs: Sequence[EncodedPair]) -> Iterator[Batch]:
    if pairs:
        batches = Batches(pairs, _BATCH_TOKENS, 0)
        yield from map(batches.batch, batches.epoch(0))


def _teacher_forced(
    model: Transformer, batch: Batch
) -> tuple[Float[Tensor, "batch query"], Bool[Tensor, "batch query"]]:
    """Log-probability of each gold token, and whether it is the likeliest one."""
    mask = source_mask(batch.source)
    logits = model.projection(model.decode(batch.target_in, model.encode(batch.source, mask), mask)).float()
    gold = batch.target_out[..., None]
    log_probs = logits.log_softmax(-1).gather(-1, gold).squeeze(-1)
    return log_probs, logits.argmax(-1) == batch.target_out
