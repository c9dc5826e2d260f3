"""Figures of several models: what stands where, what is masked or missing, and that nothing is read as HTML."""

import numpy as np
import pytest

from tests.analysis.hand_made import asymmetric
from ui.apart_figure import Apart, apart_figure
from ui.compare_figures import Panel, opened_figure

LN_2 = np.log(2)


def opened(*missing: str, lower: bool = True, width: int = 980, name: str = "one"):
    attention = asymmetric()
    one, other = attention.pattern[0, 0], attention.pattern[1, 0]
    weights = [Panel(name, one, attention.mask, "L0·H0"), Panel("two", other, attention.mask, "L1·H0")]
    weights += [Panel(f"model {text}", None, said=text) for text in missing]
    differences = [None, Panel("less one", other - one, attention.mask, "0.100 nats apart")]
    return attention, opened_figure(attention, weights, differences if lower else [], width)


def test_weights_stand_above_and_their_difference_below_white_at_0():
    attention, figure = opened()
    first, second, difference = (trace for trace in figure.data if trace.type == "heatmap")
    assert np.allclose(np.array(difference.z, float), np.array(second.z, float) - np.array(first.z, float),
                       equal_nan=True)  # fmt: skip
    assert (np.isnan(np.array(difference.z, float)) == ~attention.mask).all(), "masked cells are empty"
    layout = figure.layout
    assert (layout.coloraxis.cmin, layout.coloraxis.cmax) == (0, 1)
    assert (layout.coloraxis2.cmin, layout.coloraxis2.cmax) == (-1, 1)
    assert layout.coloraxis2.colorscale[5] == (0.5, "#f7f7f7")
    assert difference.coloraxis == "coloraxis2"
    assert layout.yaxis.domain[0] > layout.yaxis3.domain[1], "the lower row lies below"
    assert layout.yaxis.range == layout.yaxis3.range == (len(attention.queries) - 0.5, -0.5), "queries run down"


def test_queries_label_the_left_once_and_keys_stand_above_the_upper_row():
    attention, figure = opened()
    layout = figure.layout
    shown = [axis for axis in ("xaxis", "xaxis3", "xaxis7") if layout[axis].showticklabels is not False]
    assert shown == ["xaxis", "xaxis3"]
    assert layout.xaxis.ticktext == attention.keys.labels
    assert layout.xaxis7.domain == layout.xaxis3.domain, "a difference stands below the model that it is of"
    assert layout.yaxis.ticktext == layout.yaxis3.ticktext


def test_something_lies_on_every_axis_that_has_labels():
    """Where nothing is masked too: Plotly draws no axis without a trace."""
    attention, _ = opened()
    panel = Panel("one", attention.pattern[0, 0], np.ones_like(attention.mask))
    figure = opened_figure(attention, [panel, panel], [None, panel], 980)
    assert {"x", "x3"} <= {trace.xaxis for trace in figure.data}
    assert {"y", "y3"} <= {trace.yaxis for trace in figure.data}


def test_a_head_that_is_missing_is_said_in_its_place():
    _, figure = opened("C has no L2·H3.")
    said = [note.text.replace("<br>", " ") for note in figure.layout.annotations]
    assert "C has no L2·H3." in said
    assert "<b>model C has no L2·H3.</b> \u00a0" in said


def test_nothing_is_read_as_html_and_without_differences_there_is_one_row():
    _, figure = opened(lower=False, name="<b>x</b>")
    assert figure.layout.annotations[0].text.startswith("<b>&lt;b&gt;x&lt;/b&gt;</b>")
    assert len([trace for trace in figure.data if trace.type == "heatmap"]) == 2
    assert "yaxis3" not in figure.layout


def test_a_lower_row_with_nothing_to_draw_takes_no_room():
    attention, whole = opened()
    panel, nothing = Panel("one", attention.pattern[0, 0], attention.mask), Panel("less one", None, said="No pair.")
    figure = opened_figure(attention, [panel, Panel("two", None, said="gone")], [nothing, nothing], 980)
    assert figure.layout.height < whole.layout.height
    assert "No pair." not in [note.text for note in figure.layout.annotations]


@pytest.mark.parametrize("width", [100, 980, 2000])
def test_every_axis_lies_inside_whatever_the_width(width: int):
    _, figure = opened("gone", "gone", width=width)
    axes = [figure.layout[name] for name in figure.layout if name[:5] in ("xaxis", "yaxis")]
    domains = [axis.domain for axis in axes if axis.domain]
    assert len(domains) == len(axes)
    assert all(0 <= low < high <= 1 for low, high in domains)


def test_divergences_reach_from_0_to_ln_2_and_every_cell_with_a_partner_opens():
    figure = apart_figure([Apart("two", np.array([[0.0, LN_2, np.nan]]))], (0, 1), 980)
    assert figure.layout.coloraxis.cmax == LN_2
    (clicks,) = (trace for trace in figure.data if trace.type == "scatter")
    assert [cell[:2] for cell in clicks.customdata] == [[0, 0], [0, 1]], "a head without a partner opens nothing"
    (outline,) = figure.layout.shapes
    assert (outline.x0, outline.x1, outline.y0, outline.y1) == (0.5, 1.5, -0.5, 0.5)


def test_a_noise_floor_of_another_model_opens_nothing():
    panels = [Apart("two", np.zeros((1, 2))), Apart("floor", np.zeros((3, 4)), opens=False)]
    figure = apart_figure(panels, None, 980)
    assert len([trace for trace in figure.data if trace.type == "scatter"]) == 1
    assert not figure.layout.shapes
    assert figure.layout.yaxis2.ticktext == ("L0", "L1", "L2")
