"""What a search finds, and how it is ranked."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A target that the search found."""

    tokens: tuple[int, ...]
    """Its pieces, with EOS at the end unless the search reached its longest length first."""
    token_log_probs: tuple[float, ...]
    """Natural logarithm of each token's probability."""
    score: float
    """log_prob divided by the length penalty: what hypotheses are ranked by."""

    @property
    def log_prob(self) -> float:
        """The plain sum over the tokens, in nats."""
        return sum(self.token_log_probs)


def length_penalty(n_tokens: int, alpha: float) -> float:
    """((5 + n) / 6)^alpha for a target of n tokens, EOS included (Wu et al. 2016, Equation 14; §6.1)."""
    return ((5 + n_tokens) / 6) ** alpha


def ranked(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Best score first."""
    return sorted(hypotheses, key=lambda hypothesis: hypothesis.score, reverse=True)
