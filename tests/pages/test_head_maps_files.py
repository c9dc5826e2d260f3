"""Files of the view that Head maps shows, for hostile texts and through filters: whole, escaped, and named."""

import csv
import io
import json

import numpy as np
import pytest

from pages.heads.take_two import both_svg
from tests import hostile
from tests.analysis.hand_made import SVG, assert_only_ours, parse, texts
from tests.export.test_report import Page
from transformer.analysis.attention import Attention
from transformer.analysis.filters import Filters
from transformer.export.formats import view_csv, view_npz, views_csv, views_npz
from transformer.export.markup import visible
from transformer.export.svg_grid import grid_svg
from transformer.export.svg_head import head_svg
from transformer.export.trace_json import view_json, views_json
from ui.bertviz import bertviz_html
from ui.export_state import report, view_about
from ui.filtered_state import filtered_attention
from ui.sidebar import Request

FILTERS = Filters(words=True, hide_special=True, threshold=0.01)


@pytest.fixture
def seen(checkpoints, monkeypatch):
    """A function from a text to what the page is asked for and shows of its cross-attention."""
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(checkpoints))

    def see(words: str, filters: Filters = FILTERS, *, untrained: bool = False) -> tuple[Request, Attention]:
        request = Request("sentences", words, words)
        return request, filtered_attention(request, "cross", untrained, filters)

    return see


@pytest.mark.parametrize("words", hostile.PARAMETERS)
def test_every_file_of_a_hostile_text_is_whole(seen, words):
    request, attention = seen(words)
    about = view_about(request, FILTERS, False)
    assert (about.sentence, about.target, about.view) == (words, words, str(FILTERS))
    labels = attention.keys.labels
    if 0 in attention.pattern.shape:
        attention = filtered_attention(request, "cross", False, Filters())
        labels = attention.keys.labels
    root = parse(head_svg(attention, 1, 2, about))
    assert json.loads(root.find(".//{http://www.w3.org/2000/svg}metadata").text)["sentence"] == words
    assert len(texts(parse(grid_svg(attention, about)))) > 4
    rows = list(csv.DictReader(io.StringIO(view_csv(attention, about).decode("utf-8"), newline="")))
    assert len(rows) == attention.pattern.size
    assert [row["key"] for row in rows[: len(labels)]] == list(labels)
    assert json.loads(rows[0]["about"])["sentence"] == words
    with np.load(io.BytesIO(view_npz(attention, about)), allow_pickle=False) as stored:
        assert np.array_equal(stored["pattern"], attention.pattern)
        assert json.loads(str(stored["about"]))["sentence"] == words
    content = json.loads(view_json(attention, about))
    assert content["about"]["target"] == words
    assert content["attention"]["keys"]["labels"] == list(labels)
    both = [(attention, about), (attention, about)]
    assert_only_ours(both_svg(both, None))
    twice = list(csv.DictReader(io.StringIO(views_csv(both).decode("utf-8"), newline="")))
    assert [row["sentence"] for row in twice] == ["1"] * len(rows) + ["2"] * len(rows)
    assert [row["key"] for row in twice] == 2 * [row["key"] for row in rows]
    with np.load(io.BytesIO(views_npz(both)), allow_pickle=False) as stored:
        assert np.array_equal(stored["pattern_2"], attention.pattern)
        assert [each["sentence"] for each in json.loads(str(stored["about"]))["views"]] == [words, words]
    assert [each["about"]["target"] for each in json.loads(views_json(both))["views"]] == [words, words]
    page = Page(report(request, FILTERS, "cross", (1, 2), False).decode("utf-8"))
    assert "script" not in page.elements
    assert "img" not in page.elements
    assert any(visible(words) == text for name, found in page.texts.items() if "source" in name for text in found)
    if attention.pattern[0].size < 50_000 and max(attention.mask.shape) <= 64:
        drawn = bertviz_html(attention, "head", dark=True)
        assert "<img" not in drawn
        assert drawn.count("</script>") == 4


def test_the_report_has_every_kind_through_the_filters_and_says_so(seen):
    filters = Filters(layers=("2",), heads=("1", "3"), hide_special=True)
    request, attention = seen("The animal was tired.", filters)
    page = Page(report(request, filters, "cross", (0, 1), False).decode("utf-8"))
    everything = " ".join(text for found in page.texts.values() for text in found)
    assert "heads 1, 3" in everything
    assert "layers 2 (layers of cross alone)" in everything
    assert "L2·H3" in everything
    assert attention.layers == ("2",)


def test_the_report_of_the_twin_claims_no_training(seen):
    request, _ = seen("The animal was tired.", Filters(), untrained=True)
    html = report(request, Filters(), "encoder", (0, 0), True).decode("utf-8")
    assert "sentences (untrained)" in html
    about = view_about(request, Filters(), True)
    assert (about.model, about.step) == ("sentences (untrained)", 0)


def test_two_sentences_stand_in_one_file_one_after_the_other(seen):
    views = []
    for words in ("The animal was tired.", "A street"):
        request, attention = seen(words, Filters(layers=("1",)))
        views.append((attention, view_about(request, Filters(layers=("1",)), False)))
    rows = list(csv.DictReader(io.StringIO(views_csv(views).decode("utf-8"), newline="")))
    first = [row for row in rows if row["sentence"] == "1"]
    assert (len(first), len(rows) - len(first)) == tuple(attention.pattern.size for attention, _ in views)
    said = {place: json.loads(row["about"])["sentence"] for place, row in enumerate(rows) if row["about"]}
    assert said == {0: "The animal was tired.", len(first): "A street"}
    content = json.loads(views_json(views))
    assert content["schema"] == "roundtable.views"
    for (attention, _), view in zip(views, content["views"], strict=True):
        assert view["attention"]["keys"]["labels"] == list(attention.keys.labels)
    root = assert_only_ours(both_svg(views, (0, 2)))
    assert [text.strip("\u2068\u2069") for text in texts(root)][:1] == ["The animal was tired."]
    left, right = (each for each in root if each.tag == f"{SVG}svg")
    assert (left.attrib["x"], float(right.attrib["x"])) == ("0", float(left.attrib["width"]))
    for side, (attention, about) in zip((left, right), views, strict=True):
        assert json.loads(side.findtext(f"{SVG}metadata"))["sentence"] == about.sentence
        assert set(attention.keys.labels) <= set(texts(side))


def test_an_asymmetric_pattern_is_transposed_in_no_file(seen):
    request, attention = seen("The animal was tired.", Filters())
    layer, head, row, column = 2, 1, 0, len(attention.keys) - 2
    weight = attention.pattern[layer, head, row, column]
    assert not np.isclose(weight, attention.pattern[layer, head, column % len(attention.queries), row], atol=1e-4)
    rows = csv.DictReader(
        io.StringIO(view_csv(attention, view_about(request, Filters(), False)).decode("utf-8"), newline="")
    )
    place = {"layer": "2", "head": "1", "query_position": "0", "key_position": str(column)}
    found = [float(each["weight"]) for each in rows if place.items() <= each.items()]
    assert found == [pytest.approx(float(weight), rel=1e-5)]
    content = json.loads(view_json(attention, view_about(request, Filters(), False)))
    assert content["attention"]["pattern"][layer][head][row][column] == pytest.approx(float(weight), rel=1e-4)
