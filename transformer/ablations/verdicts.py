"""Which findings of the paper hold in our own runs: differences from a base, and what is too small to tell. Light."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from transformer.ablations.paper import PAPER, ROUNDING
from transformer.ablations.results import Result
from transformer.ablations.variants import VARIANTS

Metric = Literal["perplexity", "bleu"]
Verdict = Literal["holds", "does not hold", "cannot tell"]
VERDICTS: tuple[Verdict, ...] = ("holds", "does not hold", "cannot tell")
BETTER = {"perplexity": -1, "bleu": 1}
"""The sign of a difference that is an improvement."""
_EPSILON = 1e-9
"""Of sums in floating point, so that 0.1 counts as 0.1."""

SAYS: dict[str, tuple[str, str]] = {
    "unscaled-dk128": ("A-h1", "§3.2.1: without 1/√d_k, large d_k pushes the softmax into regions of small gradients"),
    "no-positions": ("base", "§3.5: a model must be given positions to make use of order"),
}
"""What the paper says is worse and has no number for: against which variant, and its words in short."""


@dataclass(frozen=True)
class Comparison:
    """One variant beside what it is measured against, by one metric."""

    name: str
    metric: Metric
    against: str
    ours: float | None
    """Its value, the mean over its seeds; None where every seed diverged."""
    delta: float
    """Our difference; infinite where the variant diverged."""
    spread: float | None
    """Highest less lowest over the base's seeds; None where there is only one."""
    paper_delta: float | None
    """The paper's difference from its base; None where it has no number."""
    verdict: Verdict | None
    """None where the paper says nothing."""

    @property
    def exceeds_spread(self) -> bool:
        """Whether our difference is larger than what another seed makes."""
        return self.spread is not None and abs(self.delta) > self.spread + _EPSILON


def comparisons(results: Sequence[Result], metric: Metric) -> list[Comparison]:
    """Every variant of the table but the base, in the order of training; none without a measured base."""
    measured = {name: _values(results, name, metric) for name in VARIANTS}
    if not measured["base"]:
        return []
    present = {result.name for result in results}
    spread = max(measured["base"]) - min(measured["base"]) if len(measured["base"]) > 1 else None
    found = []
    for name in VARIANTS:
        against, _ = SAYS.get(name, ("base", ""))
        if name == "base" or name not in present or not measured[against]:
            continue
        reference = _mean(measured[against])
        ours = _mean(measured[name]) if measured[name] else None
        delta = -BETTER[metric] * math.inf if ours is None else ours - reference
        paper = _paper_delta(name, metric)
        found.append(
            Comparison(name, metric, against, ours, delta, spread, paper, _verdict(name, metric, delta, spread, paper))
        )
    return found


def missing(results: Sequence[Result]) -> list[str]:
    """The models of the family that the table has no row of, in the order of training: "A-h1", "base, seed 3"."""
    found = {(result.name, result.seed) for result in results}
    return [
        name if len(variant.seeds) == 1 else f"{name}, seed {seed}"
        for name, variant in VARIANTS.items()
        for seed in variant.seeds
        if (name, seed) not in found
    ]


def n_models() -> int:
    """Of the whole family, every seed counted."""
    return sum(len(variant.seeds) for variant in VARIANTS.values())


def tally(found: Sequence[Comparison]) -> dict[Verdict, int]:
    """How many findings hold, do not, and cannot be told."""
    return {verdict: sum(one.verdict == verdict for one in found) for verdict in VERDICTS}


def _verdict(name: str, metric: Metric, delta: float, spread: float | None, paper: float | None) -> Verdict | None:
    if paper is None and name not in SAYS:
        return None
    if paper is not None and abs(paper) <= ROUNDING[metric] + _EPSILON:
        return "cannot tell"
    if spread is None or abs(delta) <= spread + _EPSILON:
        return "cannot tell"
    expected = -BETTER[metric] if paper is None else paper
    return "holds" if (delta > 0) == (expected > 0) else "does not hold"


def _values(results: Sequence[Result], name: str, metric: Metric) -> list[float]:
    values = (getattr(result, metric) for result in results if result.name == name and result.diverged_at is None)
    return [value for value in values if value is not None]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _paper_delta(name: str, metric: Metric) -> float | None:
    row = VARIANTS[name].paper
    return None if row is None else round(getattr(PAPER[row], metric) - getattr(PAPER["base"], metric), 2)
