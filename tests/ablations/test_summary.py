"""What the table says within the trained lengths and beyond them, over seeds."""

import pytest

from tests.ablations.rows import row
from transformer.ablations.summary import reach, spread_of


def test_within_and_beyond_are_weighted_by_tokens():
    rows = [row("rope", 1, 10, 0.5, n_tokens=300), row("rope", 11, 20, 1.0), row("rope", 21, 40, 0.25)]
    found = reach(rows, "copy", "accuracy")["rope"]
    assert found.within.mean == pytest.approx(0.625)
    assert found.beyond.mean == 0.25
    assert reach(rows, "copy", "whole")["rope"].within.mean == pytest.approx(0.75), "targets count alike"
    assert reach([*rows], "reverse", "accuracy") == {}
    assert reach([row("learned", 21, 40, None)], "copy", "accuracy")["learned"].beyond is None


def test_a_spread_counts_only_seeds_that_have_a_number():
    spread = spread_of([row("rope", 1, 10, 0.5), row("rope", 1, 10, None, seed=2)], "accuracy")
    assert (spread.mean, spread.lowest, spread.highest, spread.n_seeds) == (0.5, 0.5, 0.5, 1)
    assert spread_of([row("rope", 1, 10, None)], "accuracy") is None
