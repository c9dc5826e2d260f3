"""What the table of scores by length says: each encoding within the lengths it was trained on, and beyond them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from transformer.ablations.table import Row


@dataclass(frozen=True)
class Spread:
    """One number of several seeds' models: its mean, and the lowest and highest of them."""

    mean: float
    lowest: float
    highest: float
    n_seeds: int


@dataclass(frozen=True)
class Reach:
    """How one encoding does within the trained lengths and beyond; None where no pair could be tried."""

    within: Spread | None
    beyond: Spread | None


def value_of(rows: Sequence[Row], metric: str) -> float | None:
    """perplexity | accuracy | whole over some rows of one model, each row weighted by what its mean is over."""
    measured = [row for row in rows if row.nll is not None]
    if metric == "perplexity":
        total = sum(row.n_tokens for row in measured)
        return math.exp(sum((row.nll or 0.0) * row.n_tokens for row in measured) / total) if total else None
    weights = [(getattr(row, metric), row.n_pairs if metric == "whole" else row.n_judged) for row in measured]
    known = [(value, weight) for value, weight in weights if value is not None]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None


def spread_of(rows: Sequence[Row], metric: str) -> Spread | None:
    """The metric of each seed's rows, over the seeds that have one."""
    seeds = sorted({row.seed for row in rows})
    values = [value_of([row for row in rows if row.seed == seed], metric) for seed in seeds]
    known = [value for value in values if value is not None]
    return Spread(sum(known) / len(known), min(known), max(known), len(known)) if known else None


def reach(rows: Sequence[Row], part: str, metric: str) -> dict[str, Reach]:
    """For each encoding of a part that the table has, in the table's order."""
    chosen = [row for row in rows if row.part == part]
    found = {}
    for encoding in dict.fromkeys(row.encoding for row in chosen):
        own = [row for row in chosen if row.encoding == encoding]
        within = spread_of([row for row in own if row.longest <= row.trained_to], metric)
        beyond = spread_of([row for row in own if row.shortest > row.trained_to], metric)
        found[encoding] = Reach(within, beyond)
    return found
