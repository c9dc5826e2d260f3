import numpy as np
import plotly.graph_objects as go
import pytest

from tests.ui.samples import asymmetric, attention, random, tokens
from transformer.export.markup import shorten
from ui.figures import describe_head, escape, head_figure
from ui.theme import AXIS_TITLES


def heat_map(figure: go.Figure) -> go.Heatmap:
    return next(trace for trace in figure.data if isinstance(trace, go.Heatmap))


def masked_cells(figure: go.Figure) -> set[tuple[int, int]]:
    """(row, column) of every cell that the hatch covers."""
    region = next(trace for trace in figure.data if isinstance(trace, go.Scatter))
    cells, corners = set(), [(x, y) for x, y in zip(region.x, region.y, strict=True) if x is not None]
    for start in range(0, len(corners), 5):
        xs, ys = zip(*corners[start : start + 5], strict=True)
        rows, columns = (np.arange(min(side) + 0.5, max(side)).astype(int) for side in (ys, xs))
        cells |= {(int(row), int(column)) for row in rows for column in columns}
    return cells


def test_queries_are_rows_and_keys_are_columns():
    figure = head_figure(asymmetric(), layer=0, head=1)
    assert np.array_equal(heat_map(figure).z, np.float32([[0.25, 0.75, 0], [0.5, 0.125, 0.375]]))
    assert figure.layout.yaxis.ticktext == ("ja", "nein")
    assert figure.layout.xaxis.ticktext == ("yes", "no", "&lt;/s&gt;")
    assert figure.layout.yaxis.range == (1.5, -0.5), "the first query stands at the top"
    assert figure.layout.xaxis.range == (-0.5, 2.5)
    assert figure.layout.xaxis.title.text.startswith("key")
    assert figure.layout.yaxis.title.text.startswith("query")


def test_hovering_names_query_and_key_of_the_cell():
    figure = head_figure(asymmetric(), layer=0, head=1)
    assert heat_map(figure).hovertemplate.startswith("query %{y}<br>attends to key %{x}: <b>%{z:.3f}")
    assert (heat_map(figure).xaxis, heat_map(figure).yaxis) == ("x2", "y2")
    assert [text.strip("'\u2068\u2069") for text in figure.layout.yaxis2.ticktext] == ["ja", "nein"]
    assert [text.strip("'\u2068\u2069") for text in figure.layout.xaxis2.ticktext] == ["yes", "no", "&lt;/s&gt;"]
    for side in ("x", "y"):
        shown, hovered = figure.layout[f"{side}axis"], figure.layout[f"{side}axis2"]
        assert hovered.matches == hovered.overlaying == side
        assert hovered.tickvals == tuple(range(len(hovered.ticktext)))
        assert shown.tickvals == hovered.tickvals


def test_hovering_tells_the_token_that_was_read():
    decoder = attention(
        np.ones((1, 1, 2, 2)) / 2,
        tokens("Das", "Tier"),
        tokens("<s>", "Das"),
        kind="decoder",
        read=tokens("<s>", "Das"),
    )
    first, second = head_figure(decoder, 0, 0).layout.yaxis2.ticktext
    assert first == "'\u2068Das\u2069', having read '\u2068&lt;s&gt;\u2069',"
    assert second == "'\u2068Tier\u2069', having read '\u2068Das\u2069',"


@pytest.mark.parametrize("kind", AXIS_TITLES)
def test_both_axes_say_what_they_are(kind):
    layout = head_figure(random(1, 1, 20, 20, kind), 0, 0).layout
    assert (layout.yaxis.title.text, layout.xaxis.title.text) == AXIS_TITLES[kind]
    assert layout.yaxis.title.text.startswith("query: ")
    assert layout.xaxis.title.text.startswith("key: ")


def test_repeated_words_stay_apart():
    words = tokens("the", "cat", "the", "dog", "the")
    pattern = np.eye(5)[[[[1, 2, 3, 4, 0]]]]
    figure = head_figure(attention(pattern, words, words, kind="encoder"), 0, 0)
    assert heat_map(figure).z.shape == (5, 5)
    assert heat_map(figure).x is None
    assert heat_map(figure).y is None
    assert figure.layout.xaxis.ticktext == words.labels
    assert figure.layout.xaxis.tickvals == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("label", ["2024-01-01", "12:30", "1e5", "007", "1,5", "NaN", "true", ""])
def test_labels_that_look_like_values_stay_labels(label):
    words = tokens(label, label)
    layout = head_figure(attention(np.eye(2)[None, None], words, words), 0, 0).layout
    assert layout.xaxis.ticktext == (label, label)
    for axis in (layout.xaxis, layout.yaxis, layout.xaxis2, layout.yaxis2):
        assert axis.tickmode == "array"
        assert axis.type is None
        assert all(isinstance(place, int) for place in axis.tickvals)


@pytest.mark.parametrize("label", ["<s>", "</s>", "<b>x</b>", "&amp;", "a<b", "<br>", "<a href='x'>", "&#60;"])
def test_labels_are_escaped_wherever_they_are_shown(label):
    words = tokens(label)
    figure = head_figure(attention([[[[1]]]], words, words, read=words), 0, 0)
    shown = [*figure.layout.xaxis.ticktext, *figure.layout.yaxis.ticktext]
    hovered = [*figure.layout.xaxis2.ticktext, *figure.layout.yaxis2.ticktext]
    assert shown == [escape(label)] * 2
    for text in shown + hovered:
        assert escape(label) in text
        assert "<" not in text


def test_masked_cells_are_empty_and_hatched():
    mask = np.array([[True, False, False], [True, True, False], [False, False, False]])
    pattern = [[[[1, 0, 0], [0.5, 0.5, 0], [0, 0, 0]]]]
    figure = head_figure(attention(pattern, tokens("a", "b", "c"), tokens("x", "y", "z"), mask=mask), 0, 0)
    assert np.array_equal(np.isnan(heat_map(figure).z), ~mask)
    assert masked_cells(figure) == {(0, 1), (0, 2), (1, 2), (2, 0), (2, 1), (2, 2)}


def test_a_weight_of_0_is_not_masked():
    figure = head_figure(asymmetric(), 0, 0)
    assert not np.isnan(heat_map(figure).z).any()
    assert masked_cells(figure) == set()


def test_the_scale_is_always_0_to_1():
    for head in (0, 1):
        trace = heat_map(head_figure(asymmetric(), 0, head))
        assert (trace.zmin, trace.zmax) == (0, 1)


@pytest.mark.parametrize(("n_query", "n_key"), [(1, 1), (2, 30), (30, 2), (20, 20), (64, 64), (200, 150)])
def test_cells_are_square_and_the_picture_fits(n_query, n_key):
    width = 640
    layout = head_figure(random(1, 1, n_query, n_key), 0, 0, width).layout
    margin = layout.margin
    across = (layout.width - margin.l - margin.r) / n_key
    down = (layout.height - margin.t - margin.b) / n_query
    assert across == pytest.approx(down, abs=0.6)
    assert layout.width <= width + 1
    assert across >= 2 - 0.6


def test_every_label_is_shown_until_there_is_no_room():
    assert len(head_figure(random(1, 1, 40, 40), 0, 0, 640).layout.xaxis.ticktext) == 40
    crowded = head_figure(random(1, 1, 200, 200), 0, 0, 640).layout
    assert 20 < len(crowded.xaxis.ticktext) < 60
    assert len(crowded.xaxis2.ticktext) == 200, "hovering still names every token"


def test_long_labels_are_shortened_on_the_axis_and_whole_when_hovered():
    long = "Donaudampfschifffahrtsgesellschaft"
    layout = head_figure(attention([[[[1]]]], tokens(long), tokens(long)), 0, 0).layout
    assert layout.xaxis.ticktext == (shorten(long),) == ("Donaudampfschifffahr…",)
    assert long in layout.xaxis2.ticktext[0]


def test_numbers_travel_as_single_precision():
    assert heat_map(head_figure(random(1, 1, 64, 64), 0, 0)).z.dtype == np.float32
    assert len(head_figure(random(1, 1, 64, 64), 0, 0).to_json()) < 40_000


def test_the_description_names_the_strongest_pair():
    said = describe_head(asymmetric(), layer=0, head=1)
    assert said == (
        "Heat map of attention weights, 2 queries by 3 keys. The strongest is from query ja to key no: 0.750."
    )


def test_what_is_not_a_number_is_marked_and_never_the_strongest():
    pattern = [[[[np.nan, 0.25], [0.5, 0]]]]
    broken = attention(pattern, tokens("a", "b"), tokens("c", "d"), mask=np.array([[True, True], [True, False]]))
    figure = head_figure(broken, 0, 0)
    marked = next(trace for trace in figure.data if trace.text == "not a number (NaN)")
    assert (marked.x[1], marked.y[1], marked.x[2], marked.y[3]) == (-0.5, -0.5, 0.5, 0.5), "query a, key c alone"
    assert masked_cells(figure) == {(1, 1)}
    assert "from query b to key c: 0.500" in describe_head(broken, 0, 0)
    assert len(head_figure(asymmetric(), 0, 0).data) == 2, "nothing is marked where all are numbers"


def test_a_head_without_a_number_has_no_strongest_weight():
    words = tokens("a", "b")
    broken = attention([[[[np.nan, np.nan], [np.inf, np.nan]]]], words, words, kind="encoder")
    assert describe_head(broken, 0, 0).endswith("2 queries by 2 keys. None of them is a number.")
