"""Which findings of the paper hold in our own runs: differences from a base, and what is too small to tell. Light."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Literal

from transformer.ablations.chance import margin
from transformer.ablations.paper import PAPER, ROUNDING
from transformer.ablations.results import Result
from transformer.ablations.variants import VARIANTS

Metric = Literal["perplexity", "bleu"]
Verdict = Literal["holds", "does not hold", "cannot tell"]
VERDICTS: tuple[Verdict, ...] = ("holds", "does not hold", "cannot tell")
BETTER = {"perplexity": -1, "bleu": 1}
"""The sign of a difference that is an improvement."""

SAYS = {
    "unscaled-dk128": "§3.2.1: without 1/√d_k, large d_k pushes the softmax into regions of small gradients",
    "no-positions": "§3.5: a model must be given positions to make use of order",
}
"""What the paper says is worse and has no number for: its words in short."""


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
    margin: float | None
    """Within it another seed may make the difference, as the base's seeds tell (see chance.margin).

    None where the base has one seed.
    """
    paper_delta: float | None
    """The paper's difference from its base, taken as it stands; None where it has no number."""
    learned: bool = True
    """Whether one of its seeds did, so that it neither diverged nor failed."""

    @property
    def distinguishable(self) -> bool:
        """Whether our difference is larger than what another seed may make."""
        return self.margin is not None and abs(self.delta) > self.margin

    @property
    def verdict(self) -> Verdict | None:
        """Whether our difference points where the paper's does, if either can be told from none.

        None where the paper says nothing. What did not learn measures no difference of models that did; it counts only
        where the paper says that it would not.
        """
        if self.paper_delta is None and self.name not in SAYS:
            return None
        if not self.learned and self.name not in SAYS:
            return "cannot tell"
        expected = -BETTER[self.metric] if self.paper_delta is None else self.paper_delta
        if not self.distinguishable or abs(expected) <= ROUNDING[self.metric]:
            return "cannot tell"
        return "holds" if (self.delta > 0) == (expected > 0) else "does not hold"


def comparisons(results: Sequence[Result], metric: Metric) -> list[Comparison]:
    """Every variant of the table but the base, in the order of training; none without a measured base."""
    measured = {name: _values(results, name, metric) for name in VARIANTS}
    base = measured["base"]
    if not base:
        return []
    present = {result.name for result in results}
    learned = {result.name for result in results if result.learned}
    found = []
    for name, variant in VARIANTS.items():
        values, reference = measured[name], measured[variant.against]
        if name == "base" or name not in present or not reference:
            continue
        ours = mean(values) if values else None
        delta = -BETTER[metric] * math.inf if ours is None else ours - mean(reference)
        by_chance = margin(base, max(1, len(values)), len(reference))
        paper_delta = _paper_delta(name, metric)
        found.append(Comparison(name, metric, variant.against, ours, delta, by_chance, paper_delta, name in learned))
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
    """How many findings hold, do not, and cannot be told; each is counted once, however often it is looked at."""
    once = [one for one in found if VARIANTS[one.name].repeats is None]
    return {verdict: sum(one.verdict == verdict for one in once) for verdict in VERDICTS}


def turned(found: Sequence[Comparison]) -> dict[str, list[str]]:
    """What does not hold, and by it the variants with the same change beside another base where it does."""
    return {
        one.name: [
            again.name for again in found if VARIANTS[again.name].repeats == one.name and again.verdict == "holds"
        ]
        for one in found
        if one.verdict == "does not hold" and VARIANTS[one.name].repeats is None
    }


def _values(results: Sequence[Result], name: str, metric: Metric) -> list[float]:
    values = (getattr(result, metric) for result in results if result.name == name and result.diverged_at is None)
    return [value for value in values if value is not None]


def _paper_delta(name: str, metric: Metric) -> float | None:
    row = VARIANTS[VARIANTS[name].repeats or name].paper
    return None if row is None else round(getattr(PAPER[row], metric) - getattr(PAPER["base"], metric), 2)
