"""Does an encoding reach further than it was trained (§3.5)? One rule over the table of scores by length.

The rule goes by the share of tokens right. Of letters a seed's model reaches on if beyond the trained lengths it keeps
KEEPS of its share within them. Real text is harder the longer it is, for any model: there the models are asked to keep
as much as one of the same encoding that was trained on all lengths, as far as chance lets that be told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from transformer.ablations.chance import margin
from transformer.ablations.summary import value_of
from transformer.ablations.table import Row

KEEPS = 0.9
LEARNED = 0.5
"""Of letters right within the trained lengths: a model with fewer has not learned its task, and has nothing to keep."""
REFERENCE = {"short": "tatoeba"}
"""For a part of real text, that with the models trained on all lengths."""

Answer = Literal["yes", "no", "seeds differ", "cannot tell", "stops", "not learned", "no reference", "not measured"]


@dataclass(frozen=True)
class Kept:
    """What the models of one encoding keep beyond the lengths that they were trained on."""

    answer: Answer
    n_kept: int = 0
    """Seeds whose models keep what is asked."""
    n_seeds: int = 0
    """Seeds whose models have learned the task and can read longer texts."""
    share: float = 0.0
    """Of what they get right within the trained lengths, kept beyond them; the mean over those seeds."""
    expected: float = 1.0
    """The share kept where all lengths were trained on: 1 for letters."""
    margin: float = 0.0
    """Of real text: how far from `expected` seeds alone may bring the share."""


def kept(rows: Sequence[Row], part: str, encoding: str) -> Kept | None:
    """The answer for one encoding of a part; None where the part trains on every length that it has."""
    own = _of(rows, part, encoding)
    if not own:
        return Kept("not measured")
    trained_to, letters = own[0].trained_to, own[0].unit == "letters"
    if not any(row.shortest > trained_to for row in own):
        return None
    pairs = [_split([row for row in own if row.seed == seed], trained_to) for seed in sorted({row.seed for row in own})]
    measured = [(within, beyond) for within, beyond in pairs if within is not None]
    learned = [pair for pair in measured if not letters or pair[0] >= LEARNED]
    shares = [beyond / within for within, beyond in learned if beyond is not None and within > 0]
    if not shares:
        return Kept("stops" if learned else "not learned")
    share = sum(shares) / len(shares)
    if part in REFERENCE:
        within, beyond = _split(_of(rows, REFERENCE[part], encoding), trained_to)
        if not within or beyond is None:
            return Kept("no reference", 0, len(shares), share)
        expected = beyond / within
        n_kept, by_chance = sum(share >= expected for share in shares), margin(shares, len(shares), 1)
        told = by_chance is not None and abs(share - expected) > by_chance
        answer: Answer = "cannot tell" if not told else "yes" if share > expected else "no"
        return Kept(answer, n_kept, len(shares), share, expected, by_chance or 0.0)
    n_kept = sum(share >= KEEPS for share in shares)
    return Kept("no" if n_kept == 0 else "yes" if n_kept == len(shares) else "seeds differ", n_kept, len(shares), share)


def _of(rows: Sequence[Row], part: str, encoding: str) -> list[Row]:
    return [row for row in rows if (row.part, row.encoding) == (part, encoding)]


def _split(rows: Sequence[Row], at: int) -> tuple[float | None, float | None]:
    """The share of tokens right in texts no longer than `at`, and in longer ones."""
    within, beyond = [row for row in rows if row.longest <= at], [row for row in rows if row.shortest > at]
    return value_of(within, "accuracy"), value_of(beyond, "accuracy")
