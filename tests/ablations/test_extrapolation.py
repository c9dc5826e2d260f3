"""Does an encoding reach further than training? The rule, on rows made by hand."""

from dataclasses import replace

import pytest

from tests.ablations.rows import row
from transformer.ablations.extrapolation import Kept, kept


def rows_of(*pairs: tuple[float, float | None], encoding: str = "sinusoidal", part: str = "copy"):
    """Of each seed, the share right within the trained lengths and beyond."""
    return [
        replace(row(encoding, low, high, share, seed), part=part)
        for seed, pair in enumerate(pairs, 1)
        for (low, high), share in zip(((1, 20), (21, 60)), pair, strict=True)
    ]


@pytest.mark.parametrize(
    ("pairs", "answer", "n_kept"),
    [
        ([(1.0, 0.9), (0.8, 0.73)], "yes", 2),
        ([(1.0, 0.89), (0.8, 0.7)], "no", 0),
        ([(1.0, 0.95), (1.0, 0.5)], "seeds differ", 1),
        ([(1.0, None), (1.0, None)], "stops", 0),
        ([(0.4, 0.4), (0.3, 0.4)], "not learned", 0),
    ],
)
def test_a_seed_reaches_on_if_it_keeps_nine_tenths(pairs, answer: str, n_kept: int):
    found = kept(rows_of(*pairs), "copy", "sinusoidal")
    assert found is not None
    assert (found.answer, found.n_kept) == (answer, n_kept)


def test_a_seed_that_has_not_learned_the_task_has_no_say():
    assert kept(rows_of((1.0, 0.95), (0.4, 0.1)), "copy", "sinusoidal") == Kept("yes", 1, 1, 0.95)


def test_what_is_not_in_the_table_is_not_measured():
    assert kept(rows_of((1.0, 1.0)), "reverse", "sinusoidal") == Kept("not measured")


def test_a_part_of_every_length_has_nothing_beyond():
    assert kept([row("sinusoidal", 1, 20, 0.9)], "copy", "sinusoidal") is None


def words(part: str, trained_to: int, within: float, beyond: float):
    return [
        replace(row("rope", low, high, share), part=part, unit="words", trained_to=trained_to)
        for (low, high), share in (((1, 8), within), ((9, 30), beyond))
    ]


def test_real_text_is_measured_by_a_model_trained_on_all_lengths():
    """One that keeps 0.8 where nothing was too long for it: 0.75 is nearly all of that, and 0.7 is not."""
    reference = words("tatoeba", 54, 0.5, 0.4)
    for beyond, answer in ((0.3, "yes"), (0.28, "no")):
        found = kept([*reference, *words("short", 8, 0.4, beyond)], "short", "rope")
        assert found is not None
        assert found.answer == answer
        assert found.expected == pytest.approx(0.8)
    assert kept(words("short", 8, 0.4, 0.3), "short", "rope") == Kept("no reference", 0, 1, pytest.approx(0.75))
