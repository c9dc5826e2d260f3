"""Scores by length: means and ranges over seeds, where training ended, and where a learned table does."""

import pytest

from transformer.ablations.summary import reach, spread_of
from transformer.ablations.table import Row
from ui.length_figure import length_figure


def row(encoding: str, low: int, high: int, accuracy: float | None, seed: int = 1, n_tokens: int = 100) -> Row:
    gone = accuracy is None
    return Row(
        part="copy", encoding=encoding, seed=seed, unit="letters", trained_to=20, shortest=low, longest=high,
        n_pairs=0 if gone else 10, n_too_long=10 if gone else 0, n_tokens=0 if gone else n_tokens,
        nll=None if gone else 0.7, accuracy=accuracy, whole=accuracy, steps=9, target_tokens=9, version="0",
    )  # fmt: skip


ROWS = [
    row("sinusoidal", 1, 20, 0.9), row("sinusoidal", 21, 40, 0.5), row("sinusoidal", 1, 20, 0.7, seed=2),
    row("sinusoidal", 21, 40, 0.1, seed=2), row("learned", 1, 20, 1.0), row("learned", 21, 40, None),
]  # fmt: skip


def test_a_line_is_the_mean_over_seeds_with_their_range():
    line = length_figure(ROWS, "accuracy").data[0]
    assert line.y == pytest.approx([0.8, 0.3])
    assert line.error_y.array == pytest.approx([0.1, 0.2])
    assert line.error_y.arrayminus == pytest.approx([0.1, 0.2])
    assert list(line.customdata[0]) == pytest.approx([0.7, 0.9, 2, 10])


def test_a_learned_table_stops_and_the_figure_says_so():
    figure = length_figure(ROWS, "accuracy")
    assert figure.data[1].y == (1.0,)
    assert [note.text for note in figure.layout.annotations] == [
        "the learned table<br>ends here",
        "longer than anything trained on (20 letters)",
    ]
    assert figure.layout.shapes[0].x0 == 0.5
    assert figure.layout.xaxis.ticktext == ("1–20", "21–40")


def test_perplexity_stands_on_a_logarithmic_axis():
    figure = length_figure(ROWS, "perplexity")
    assert figure.layout.yaxis.type == "log"
    assert figure.data[0].y == pytest.approx([2.01375, 2.01375], rel=1e-4)


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
