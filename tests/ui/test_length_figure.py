"""Scores by length as a figure: means and ranges over seeds, where training ended, and where a learned table does."""

from dataclasses import replace

import pytest

from tests.ablations.rows import row
from ui.length_figure import length_figure

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


def test_a_table_that_reads_some_of_the_longer_texts_has_no_end_drawn():
    some = [replace(row("learned", 21, 40, 0.5), n_too_long=3)]
    figure = length_figure([row("learned", 1, 20, 1.0), *some], "accuracy")
    assert figure.data[0].y == (1.0, 0.5)
    assert [note.text for note in figure.layout.annotations] == ["longer than anything trained on (20 letters)"]


def test_perplexity_stands_on_a_logarithmic_axis():
    figure = length_figure(ROWS, "perplexity")
    assert figure.layout.yaxis.type == "log"
    assert figure.data[0].y == pytest.approx([2.01375, 2.01375], rel=1e-4)
