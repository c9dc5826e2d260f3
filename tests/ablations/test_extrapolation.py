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


def words(part: str, trained_to: int, *pairs: tuple[float, float]):
    """Of each seed, the share right in texts of up to eight words and in longer ones."""
    return [
        replace(row("rope", low, high, share, seed), part=part, unit="words", trained_to=trained_to)
        for seed, pair in enumerate(pairs, 1)
        for (low, high), share in zip(((1, 8), (9, 30)), pair, strict=True)
    ]


@pytest.mark.parametrize(
    ("beyond", "answer", "n_kept"),
    [
        ((0.38, 0.37, 0.36), "no", 0),
        ((0.35, 0.34, 0.33), "no", 0),
        ((0.42, 0.43, 0.44), "cannot tell", 2),
        ((0.48, 0.49, 0.50), "yes", 3),
    ],
)
def test_real_text_is_measured_by_a_model_trained_on_all_lengths(beyond, answer: str, n_kept: int):
    """One that keeps 0.85 where nothing was too long for it; each of three seeds gets half right within.

    By chance: shares 0.02 apart, 4.303 · 0.02 · √(1/3 + 1).
    """
    rows = [*words("tatoeba", 54, (0.4, 0.34)), *words("short", 8, *((0.5, share) for share in beyond))]
    found = kept(rows, "short", "rope")
    assert found is not None
    assert (found.answer, found.n_kept, found.expected) == (answer, n_kept, pytest.approx(0.85))
    assert found.margin == pytest.approx(0.0994, abs=1e-4)


def test_real_text_needs_a_reference_and_more_than_one_seed():
    rows = words("short", 8, (0.4, 0.3))
    assert kept(rows, "short", "rope") == Kept("no reference", 0, 1, pytest.approx(0.75))
    found = kept([*rows, *words("tatoeba", 54, (0.5, 0.45))], "short", "rope")
    assert found is not None
    assert found.answer == "cannot tell", "one seed says nothing of chance"
