"""Figures of ablations: what stands where, and that nothing written by others is read as HTML."""

import numpy as np

from tests.ablations.results import result
from transformer.ablations.verdicts import comparisons
from ui.ablation_figures import Curve, cost_figure, curve_figure, dot_figure

BASE = [result("base", 10.0, 20.0, 1), result("base", 10.2, 20.4, 2)]


def test_dots_stand_at_the_differences_and_the_band_is_what_a_seed_may_make():
    results = [*BASE, result("A-h1", 11.1, 19.2), result("pre", None)]
    figure = dot_figure({metric: comparisons(results, metric) for metric in ("perplexity", "bleu")})
    band, paper, ours, _, bleu_paper, bleu = figure.data
    assert paper.x[0] == 0.37
    assert bleu_paper.x[0] == -0.9
    assert np.allclose([ours.x[0], bleu.x[0]], [1.0, -1.0])
    margin = 12.706 * 0.1 * 3**0.5
    assert np.allclose([band.base, band.x], [[-margin, -margin], [2 * margin, 2 * margin]])
    assert ours.marker.symbol == ("circle", "triangle-right"), "a diverged variant lies off the scale"
    assert bleu.marker.symbol == ("circle", "triangle-left")
    assert margin < ours.x[1] <= figure.layout.xaxis.range[1], "and outside the band"
    assert ours.hovertext[1] == "pre: diverged"


def test_a_difference_of_many_margins_lies_off_the_scale():
    """So that 45 does not press 0.5 flat; beside its arrow stands how far it is."""
    base = [result("base", 10.0 + seed / 10, 20.0, seed) for seed in range(1, 6)]
    rows = [*base, result("A-h1", 11.0), result("A-h2", 10056.0), result("A-h8", None)]
    figure = dot_figure({"perplexity": comparisons(rows, "perplexity")})
    ours = figure.data[2]
    assert ours.marker.symbol == ("circle", "triangle-right", "triangle-right")
    assert ours.text == ("", "+10,046", "diverged")
    assert ours.x[1] == ours.x[2] < 2
    assert ours.hovertext[1].startswith("A-h2: 10,056.00, +10,045.70 against base")


def test_what_lies_inside_the_band_is_pale():
    figure = dot_figure({"perplexity": comparisons([*BASE, result("A-h1", 10.2)], "perplexity")})
    ours = figure.data[2]
    assert ours.marker.opacity == (0.45,)
    assert ours.hovertext[0].endswith("within what another seed may make")


def test_curves_and_costs_have_a_name_for_every_line():
    curves = curve_figure({"base, seed 1": Curve([1, 2], [3.0, 2.0]), "pre": Curve([1], [9.0], 1200)}).data
    assert [trace.name for trace in curves[:2]] == ["base, seed 1", "pre: diverged before step 1,200"]
    assert (curves[2].x, curves[2].y, curves[2].marker.symbol) == ((1,), (9.0,), "x"), "a cross where it ended"
    figure = cost_figure([*BASE, result("pre", None)], "tokens_per_second")
    assert {7, 10, 15, 20, 30} <= set(figure.layout.yaxis.tickvals), "each says its whole number"
    assert [trace.name for trace in figure.data] == ["base"], "what diverged has no quality to show"
    failed = cost_figure([*BASE, result("pre", 10_000.0, 0.0)], "parameters")
    assert [trace.name for trace in failed.data] == ["base"], "and what learned nothing would press the rest flat"
