"""Figures of positions: right numbers in the right places, at every size, and none that needs a page."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from transformer.analysis.distance import ByDistance
from transformer.analysis.encodings import (
    distance_profile,
    principal_components,
    similarity,
    sinusoidal,
    spectrum,
    wavelengths,
)
from transformer.analysis.shift_map import fit_shift
from transformer.model.positions import alibi_slopes
from ui.encoding_figures import (
    components_figure,
    profile_figure,
    shift_figure,
    similarity_figure,
    spectrum_figure,
)
from ui.figure_parts import as_angle
from ui.position_figures import (
    distance_figure,
    divergence_figure,
    order_figure,
    parts_figure,
    shares_figure,
)
from ui.relative_figures import alibi_figure, rope_figure
from ui.table_figures import drawn_every, norms_figure, table_figure
from ui.wave_figures import rotation_figure, wave_figure, wavelength_figure

SIZES = [(1, 2), (1, 512), (2000, 2), (2000, 512)]


def texts(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def heat_map(figure: go.Figure) -> go.Heatmap:
    return next(trace for trace in figure.data if isinstance(trace, go.Heatmap))


@pytest.mark.parametrize(("n", "d_model"), SIZES)
@pytest.mark.parametrize("base", [10, 10_000])
def test_every_figure_of_a_table_at_every_size(n: int, d_model: int, base: float):
    table = sinusoidal(n, d_model, base)
    matrix = similarity(table)
    figures = [
        wave_figure(n, d_model, base, [0, d_model // 2 - 1], 15),
        wavelength_figure(d_model, base, 15),
        rotation_figure(0, 3, d_model, base, [0]),
        table_figure(table, lengths=wavelengths(d_model, base), marked=15, unvisited_from=20),
        similarity_figure(matrix),
        profile_figure({"sinusoidal": distance_profile(matrix)}),
        spectrum_figure(*spectrum(table)),
        components_figure(principal_components(table, 2), "sinusoidal"),
        norms_figure(table[:, 0], table[:, 0], table[:, 0], np.arange(n), None),
    ]
    for figure in figures:
        assert figure.data
        assert len(figure.to_json()) < 1_500_000, "what is sent at a move of a slider stays small"


@pytest.mark.parametrize("draw", [wavelength_figure, lambda d, base: wave_figure(9, d, base, [0])])
def test_odd_d_model_is_refused_with_a_sentence(draw):
    with pytest.raises(ValueError, match=r"^d_model is 7; .*even number.*\.$"):
        draw(7, 1e4)


def test_waves_by_hand():
    figure = wave_figure(5, 4, 10_000, [0, 1], marked=2)
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    curves = [trace for trace in figure.data if trace.mode == "lines"]
    assert [trace.name for trace in curves] == ["sine", "cosine"] * 2
    assert set(range(5)) <= set(curves[0].x.tolist()), "hovering finds every whole position"
    assert curves[3].y == pytest.approx(np.cos(curves[3].x / 100), abs=1e-6)
    assert dots[0].y == pytest.approx(np.sin(np.arange(2)), abs=1e-6), "a dot for each of the sentence's two tokens"
    assert "dimension 3 (cosine)" in dots[3].hovertemplate
    assert "wavelength 628.3 positions" in dots[3].hovertemplate
    band = figure.layout.shapes[0]
    assert (band.x0, band.x1) == (-0.5, 1.5)


def test_a_table_is_drawn_with_positions_down_and_its_wavelengths_on_hover():
    table = sinusoidal(3, 4)
    figure = table_figure(table, lengths=wavelengths(4), unvisited_from=2, limit=1.0)
    assert np.array_equal(heat_map(figure).z, table.astype(np.float32))
    assert figure.layout.yaxis.range == (2.5, -0.5), "position 0 stands at the top"
    assert figure.layout.xaxis2.ticktext[2] == "dimension 2 (sine), wavelength 628.3 positions"
    assert figure.data[-1].y == (1.5, 1.5, 2.5, 2.5, 1.5), "the veil lies on the rows from 2 on"


def test_a_strip_beside_the_table_tells_how_often_training_came_by():
    figure = table_figure(sinusoidal(3, 4), visits=np.array([100, 10, 0, 7]))
    strip = [trace for trace in figure.data if isinstance(trace, go.Heatmap)][1]
    assert strip.z.ravel().tolist() == [2, 1, 0]
    assert strip.customdata.ravel().tolist() == [100, 10, 0]
    assert min(strip.x) > 3.5, "beside the table, not on it"
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range
    assert "visits" in texts(figure)


def test_a_table_too_large_to_send_leaves_positions_out_and_hovers_true_ones():
    assert drawn_every(60, 128) == 1
    step = drawn_every(2000, 512)
    drawn = heat_map(table_figure(sinusoidal(2000, 512)))
    assert drawn.y.tolist() == list(range(0, 2000, step))
    assert drawn.z.size <= 90_000 + 512


def test_wavelengths_mark_their_limits_and_the_sentence():
    figure = wavelength_figure(128, 10_000, marked=12)
    assert {"2π", "10,000 · 2π, never quite reached", "within your sentence, 12 tokens"} <= set(texts(figure))
    lines = [shape.y0 for shape in figure.layout.shapes]
    assert lines[:2] == pytest.approx([2 * np.pi, 20_000 * np.pi])


def test_a_rotation_ends_where_the_moved_position_stands():
    figure = rotation_figure(3, 4, 8, 10_000, [0, 2])
    ends = {trace.name: (trace.x[1], trace.y[1]) for trace in figure.data if trace.name and trace.xaxis == "x2"}
    assert ends["PE(3)"] == pytest.approx((np.cos(0.03), np.sin(0.03)))
    assert ends["PE(7)"] == pytest.approx((np.cos(0.07), np.sin(0.07)))
    assert "4 · frequency = 2.3°" in texts(figure)[1]


def test_angles_are_read_as_degrees_or_turns():
    assert [as_angle(x) for x in (np.pi, -np.pi / 2, 0.01, 7 * np.pi)] == ["180°", "−90°", "0.57°", "3.5 turns"]


def test_rope_keeps_the_angle_when_both_move():
    here, there = rope_figure(8, 5), rope_figure(18, 15)
    assert texts(here) == texts(there)
    assert "172° apart" in texts(here)[0]
    assert here.data[2].x != there.data[2].x


def test_alibi_by_hand():
    figure = alibi_figure(8, 5, [0.25, 0.0625])
    line, point = figure.data[0], figure.data[1]
    assert line.y[8] == 0
    assert line.y[4] == line.y[12] == -1
    assert point.y[0] == -0.75
    assert texts(figure) == ["m = 0.25", "m = 0.0625"]


def test_labels_of_slopes_do_not_lie_on_each_other():
    for n_heads in (4, 8, 12):
        ends = sorted(note.y for note in alibi_figure(30, 0, alibi_slopes(n_heads)).layout.annotations)
        assert len(ends) > 1
        assert min(np.diff(ends)) > 0.5


def test_a_profile_holds_the_whole_band_and_calls_it_one_where_there_is_one():
    bent = np.array([[9.0, 1.0, -4.0], [1.0, 1.0, 1.0], [-4.0, 1.0, 1.0]])
    axis = profile_figure({"learned": distance_profile(bent)}).layout.yaxis
    assert axis.range[0] < -4
    assert axis.range[1] > 9
    assert axis.title.text == "similarity, mean and range"
    fixed = profile_figure({"sinusoidal": distance_profile(similarity(sinusoidal(9, 8)))})
    assert fixed.layout.yaxis.title.text == "similarity"


def test_the_identity_does_not_press_the_maps_flat():
    fit = fit_shift(sinusoidal(26, 16), 1)
    figure = shift_figure({"learned": [replace(fit, held_out=0.5, identity=10.6)]})
    assert figure.layout.yaxis.range[1] < 2
    assert "identity goes on, up to 10.6" in texts(figure)


def test_the_best_linear_map_is_judged_on_what_was_held_out():
    fits = {"sinusoidal": [fit_shift(sinusoidal(26, 16), k) for k in (1, 2)]}
    figure = shift_figure(fits)
    best, identity = figure.data
    assert best.y == pytest.approx([fit.held_out for fit in fits["sinusoidal"]])
    assert identity.y == pytest.approx([fit.identity for fit in fits["sinusoidal"]])
    assert identity.line.dash == "dot"


def test_shares_by_hand():
    figure = shares_figure({"content · content": np.array([0.75, 0.5]), "position · position": np.array([0.25, 0.5])})
    assert [trace.name for trace in figure.data] == ["content · content", "position · position"]
    assert figure.data[1].x.tolist() == [0.25, 0.5]
    assert figure.data[0].text == ("75%", "50%")


@pytest.mark.parametrize("names", [4, 2, 1])
def test_the_terms_of_a_score_stand_beside_their_sum(names: int):
    keys = ("content · content", "content · position", "position · content", "position · position")[:names]
    parts = {name: np.arange(8.0).reshape(2, 2, 2) * (at + 1) for at, name in enumerate(keys)}
    mask = np.tri(2, dtype=bool)
    figure = parts_figure(parts, 1, mask, ["<b>", "b"])
    assert len(figure.data) == names + 1
    total = sum(part[1] for part in parts.values())
    assert figure.data[-1].z[1].tolist() == pytest.approx((total[1] - total[1].mean()).tolist())
    assert np.isnan(figure.data[-1].z[0][1]), "a key that may not be seen is left out"
    assert texts(figure)[-1] == "sum: the score"
    assert "&lt;b&gt;" in figure.data[0].text[0][1]


def test_divergences_stand_at_their_layer_and_head():
    values = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    figure = divergence_figure({"encoder": values, "cross": values[:1]})
    assert np.array_equal(figure.data[0].z, values.astype(np.float32))
    assert figure.layout.yaxis.range == (1.5, -0.5)
    assert [trace.showscale for trace in figure.data] == [False, True]


def test_attention_by_distance_leaves_out_what_no_sentence_has():
    weight = np.array([[[np.nan, 0.2, 0.8]]])
    even = np.array([np.nan, 0.5, 0.5])
    measured = ByDistance(np.array([-1, 0, 1]), weight, even, np.array([0, 3, 2]), 1)
    figure = distance_figure(measured, 0)
    assert figure.data[0].x.tolist() == [0, 1]
    assert figure.data[0].y.tolist() == [0.2, 0.8]
    assert figure.data[-1].name == "evenly to all"


def test_order_by_hand():
    figure = order_figure(np.array([0.0, 1e-7]), np.array([0.5, 0.25]), ["a", "</s>"], "sinusoidal")
    assert [trace.name for trace in figure.data] == ["with positions", "without positions"]
    assert figure.data[1].y.tolist() == [1e-9, 1e-7]
    assert figure.layout.xaxis.ticktext == ("a", "&lt;/s&gt;")
    assert len(order_figure(np.array([1e-7]), None, ["a"], "none").data) == 1
