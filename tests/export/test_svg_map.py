"""Maps of target against source: no cell is transposed, colours are exact, frames and words stand where they belong."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests import hostile
from tests.analysis.hand_made import ABOUT, SVG, assert_only_ours, image, parse, texts
from tests.export.test_svg_maps import found, middle
from transformer.export.markup import shorten
from transformer.export.palette import DIFFERENCES, WEIGHTS
from transformer.export.svg_map import Map, map_svg
from transformer.export.svg_scale import Scale

TITLES = "query: target word", "key: source word"
VALUES = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.5]])


def drawn(values: np.ndarray = VALUES, **options):
    rows, columns = ("ja", "nein"), ("yes", "no", "no")
    return parse(map_svg(Map(values, rows, columns, *TITLES, "weight", **options), "A map", ABOUT, ABOUT.facts()))


def test_every_cell_has_its_colour_and_stands_in_its_row_and_column():
    root = drawn()
    cells, queries, keys = (found(root, name) for name in ("data-cell", "data-query", "data-key"))
    assert len(cells) == 6
    for place, cell in cells.items():
        row, column = map(int, place.split(","))
        assert cell["fill"] == Scale(0, 1).colours[1 + round(253 * VALUES[row, column])]
        x, y = middle(cell)
        assert x == pytest.approx(float(keys[str(column)]["x"]), abs=6)
        assert y == pytest.approx(float(queries[str(row)]["y"]), abs=8)
    assert (cells["1,0"]["fill"], cells["1,1"]["fill"]) == (WEIGHTS[0], WEIGHTS[-1])
    shown = texts(root)
    assert [text for text in shown if text in ("ja", "nein", "yes", "no")] == ["ja", "nein", "yes", "no", "no"]
    assert "key: source word →" in shown
    assert "← query" in shown


def test_pointing_at_a_cell_says_its_number():
    said = {
        each.attrib["data-cell"]: each.findtext(f"{SVG}title") for each in drawn().iter() if "data-cell" in each.attrib
    }
    assert said["0,1"] == "\u2068ja\u2069 → \u2068no\u2069: weight 0.200"


def test_differences_have_the_ends_of_the_diverging_palette_and_0_its_middle():
    cells = found(drawn(np.array([[-2.0, 0.0, 2.0], [1.0, -1.0, 0.0]]), differences=True), "data-cell")
    ends = cells["0,0"]["fill"], cells["0,2"]["fill"]
    assert ends == (DIFFERENCES[0], DIFFERENCES[-1])
    assert cells["0,1"]["fill"] == cells["1,2"]["fill"]
    shades = [int(cells["0,1"]["fill"][at : at + 2], 16) for at in (1, 3, 5)]
    assert min(shades) > 0xF0, "0 is nearly white"
    shown = texts(drawn(np.array([[-2.0, 0.0, 2.0], [1.0, -1.0, 0.0]]), differences=True))
    assert [text for text in shown if text in ("−2", "−1", "0", "1", "2")] == ["−2", "−1", "0", "1", "2"]
    assert "nats" in shown


def test_a_frame_lies_on_its_cell():
    root = drawn(marked={(1, 0)})
    (frame,) = found(root, "data-frame").values()
    assert middle(frame) == pytest.approx(middle(found(root, "data-cell")["1,0"]), abs=1)


def test_what_is_no_number_is_flagged():
    root = drawn(np.array([[np.nan, 0.2, 0.1], [0.0, 1.0, 0.5]]))
    assert found(root, "data-cell")["0,0"]["fill"] == "#e5484d"
    assert "not a number" in texts(root)
    assert "not a number" not in texts(drawn())


def test_a_map_without_cells_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"^There is nothing to draw: the map has 0 rows and 3 columns\.$"):
        map_svg(Map(np.zeros((0, 3)), (), "abc", *TITLES, "weight"), "A map", ABOUT, ABOUT.facts())


def test_512_words_are_one_small_image():
    values = np.random.default_rng(0).random((512, 512))
    words = [f"w{at}" for at in range(512)]
    svg = map_svg(Map(values, words, words, *TITLES, "weight"), "A map", ABOUT, ABOUT.facts())
    assert len(svg) < 600_000
    (picture,) = parse(svg).iter(f"{SVG}image")
    assert_array_equal(image(picture), Scale(0, 1).palette[Scale(0, 1).levels(values, np.ones((512, 512), bool))])


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_is_text_and_nothing_else(text):
    facts = {**ABOUT.facts(), "sentence": text}
    shown = Map(VALUES, (text, "b"), (text, "b", text), *TITLES, "weight", marked={(0, 0)})
    root = assert_only_ours(map_svg(shown, text, ABOUT, facts))
    assert json.loads(root.findtext(f"{SVG}metadata"))["sentence"] == text
    assert texts(root).count(shorten(text, 22)) >= 3
