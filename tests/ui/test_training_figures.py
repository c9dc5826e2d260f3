"""Curves of runs: what becomes of the lines of metrics.jsonl, by numbers worked out by hand."""

import json
import math

import numpy as np
import pytest

from ui.training_figures import Curve, curves_chart, entropy_chart, perplexity, points_of, smooth, thin

LINES = [
    {"step": 5, "nll": 2.0, "smoothed": 3.0, "lr": 0.1},
    {"step": 5, "validation_nll": 1.0},
    {"step": 10, "nll": float("nan"), "smoothed": 2.0, "lr": 0.2},
    {"step": 15, "nll": 0.0, "smoothed": 1.0, "lr": "much"},
]


def test_points_are_the_lines_that_have_the_field():
    assert points_of(LINES, "nll") == [(5, 2.0), (10, None), (15, 0.0)]
    assert points_of(LINES, "validation_nll") == [(5, 1.0)]
    assert points_of(LINES, "lr") == [(5, 0.1), (10, 0.2), (15, None)]
    assert points_of(LINES, "grad_norm") == []
    assert points_of([], "nll") == []


def test_perplexity_is_e_to_the_loss_and_always_a_number():
    assert points_of(LINES, "nll", perplexity) == [(5, pytest.approx(math.e**2)), (10, None), (15, 1.0)]
    assert math.isfinite(perplexity(10_000.0))


def test_smoothing_is_a_mean_of_what_was_before_without_a_pull_to_zero():
    # m1 = 4; m2 = (½·½·4 + ½·2) / ¾ = 8/3; the gap changes nothing; m3 = (½·½·½·4 + ½·½·2 + ½·0) / ⅞ = 8/7
    assert smooth([(1, 4.0), (2, 2.0), (3, None), (4, 0.0)], 0.5) == [
        (1, 4.0), (2, pytest.approx(8 / 3)), (3, None), (4, pytest.approx(8 / 7)),
    ]  # fmt: skip


def test_no_smoothing_leaves_every_value():
    points = [(1, 4.0), (2, None), (3, 1.0)]
    assert smooth(points, 0.0) == points
    assert smooth([], 0.9) == []


def test_a_constant_stays_what_it_is_however_much_it_is_smoothed():
    assert [value for _, value in smooth([(step, 3.0) for step in range(50)], 0.99)] == pytest.approx([3.0] * 50)


def test_thinning_keeps_the_ends_and_every_spike():
    points = [(step, 1.0) for step in range(10_000)]
    points[4321] = (4321, 99.0)
    points[7654] = (7654, -99.0)
    kept = thin(points, 100)
    assert len(kept) <= 100
    assert {(4321, 99.0), (7654, -99.0), (0, 1.0), (9999, 1.0)} <= set(kept)
    assert [step for step, _ in kept] == sorted({step for step, _ in kept})


def test_thinning_keeps_gaps_and_leaves_short_curves_alone():
    assert thin([(1, 1.0), (2, None)], 100) == [(1, 1.0), (2, None)]
    gaps = [(step, None if 100 <= step < 900 else 1.0) for step in range(1000)]
    assert None in [value for _, value in thin(gaps, 50)]


def test_a_chart_has_a_series_a_curve_and_is_json():
    option = curves_chart(
        "Loss", "nats",
        [Curve("a", "#111111", [(1, 2.0), (2, None)]), Curve("a", "#111111", [(1, 3.0)], faint=True),
         Curve("b", "#222222", [(1, 1.0)], dashed=True, dots=True), Curve("empty", "#333333", [])],
    )  # fmt: skip
    first, faint, second = json.loads(json.dumps(option, allow_nan=False))["series"]
    assert first["data"] == [[1, 2.0], [2, None]]
    assert (first["symbol"], second["symbol"]) == ("none", "circle")
    assert second["lineStyle"]["type"] == "dashed"
    assert faint["name"] != first["name"]
    assert faint["lineStyle"]["opacity"] < 1


def test_a_single_point_is_seen():
    assert curves_chart("", "", [Curve("a", "#111111", [(1, 2.0)])])["series"][0]["symbol"] == "circle"


def test_a_head_has_a_line_of_entropy_and_a_layer_a_colour():
    entropies = np.array([[[0.5, 1.0], [0.0, np.nan]], [[0.25, 0.75], [0.0, 0.5]]])
    option = json.loads(json.dumps(entropy_chart((0, 8), entropies), allow_nan=False))
    assert {each["name"]: each["data"] for each in option["series"]} == {
        "L0·H0": [[0, 0.5], [8, 0.25]],
        "L0·H1": [[0, 1.0], [8, 0.75]],
        "L1·H0": [[0, 0.0], [8, 0.0]],
        "L1·H1": [[0, None], [8, 0.5]],
    }
    colours = [each["color"] for each in option["series"]]
    assert colours[0] == colours[1] != colours[2] == colours[3]
