"""How likely a model finds a target that is given, token by token, and what else it would have written there."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from transformer.decoding.hypothesis import length_penalty
from transformer.model.transformer import Transformer
from transformer.text.tokenizer import BOS, EOS


@dataclass(frozen=True)
class TargetScore:
    """A target under a model; all numbers but those of the alternatives have one entry a token."""

    tokens: tuple[int, ...]
    token_log_probs: tuple[float, ...]
    """Natural logarithm of each token's probability, given the source and the tokens before it."""
    entropies: tuple[float, ...]
    """−Σ p ln p over all pieces that could stand there, in nats: 0 (sure) to the logarithm of the vocabulary's size."""
    alternatives: tuple[tuple[int, ...], ...]
    """The likeliest pieces in its place, best first, the token itself perhaps among them."""
    alternative_log_probs: tuple[tuple[float, ...], ...]

    @property
    def log_prob(self) -> float:
        """The plain sum over the tokens, in nats."""
        return sum(self.token_log_probs)

    @property
    def mean(self) -> float:
        """log_prob per token, in nats; NaN without a token."""
        return self.log_prob / len(self.tokens) if self.tokens else float("nan")

    def score(self, alpha: float) -> float:
        """log_prob divided by the length penalty: what a search would rank the target by."""
        return self.log_prob / length_penalty(len(self.tokens), alpha)


def score_target(
    model: Transformer, source: Sequence[int], target: Sequence[int], n_alternatives: int = 5
) -> TargetScore:
    """Score a target in one teacher-forced pass.

    source: ids without EOS. target: ids, with EOS where it ends. Alternatives are the pieces that a search may write:
    PAD, UNK and BOS are not among them. Raises ValueError for an id that is not in the vocabulary.
    """
    vocab_size = model.config.vocab_size
    for piece in (*source, *target):
        if not 0 <= piece < vocab_size:
            raise ValueError(f"The id {piece} is not in the vocabulary; allowed is 0 to {vocab_size - 1}.")
    if not target:
        return TargetScore((), (), (), (), ())
    device = model.device
    with torch.inference_mode():
        read = torch.tensor([[BOS, *target[:-1]]], device=device)
        log_probs = model(torch.tensor([[*source, EOS]], device=device), read)[0].float().log_softmax(-1)
        written = torch.tensor([list(target)], device=device).T
        entropies = -(log_probs.exp() * log_probs).sum(-1)
        likeliest = log_probs[:, EOS:].topk(min(n_alternatives, vocab_size - EOS))
    return TargetScore(
        tuple(target),
        tuple(log_probs.gather(1, written).squeeze(1).tolist()),
        tuple(entropies.tolist()),
        tuple(tuple(piece + EOS for piece in row) for row in likeliest.indices.tolist()),
        tuple(map(tuple, likeliest.values.tolist())),
    )
