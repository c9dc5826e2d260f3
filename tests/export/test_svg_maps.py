"""Heat maps and grids: no picture is transposed, colours are exact, masked cells are hatched."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.analysis.hand_made import ABOUT, SVG, asymmetric, image, long, parse, texts, tokens
from transformer.analysis.attention import Attention
from transformer.export.svg_grid import grid_svg, pool
from transformer.export.svg_head import head_svg
from transformer.export.svg_scale import MASKED, Scale, levels


def found(root, name: str) -> dict[str, dict[str, str]]:
    return {element.attrib[name]: element.attrib for element in root.iter() if name in element.attrib}


def middle(box: dict[str, str]) -> tuple[float, float]:
    return tuple(float(box[at]) + float(box[size]) / 2 for at, size in (("x", "width"), ("y", "height")))


def test_every_cell_has_its_colour_and_stands_in_its_row_and_column():
    attention = asymmetric()
    root = parse(head_svg(attention, 1, 2, ABOUT))
    cells, queries, keys = (found(root, name) for name in ("data-cell", "data-query", "data-key"))
    values = levels(attention, Scale(0, 1))[1, 2]
    assert len(cells) == attention.mask.sum()
    for place, cell in cells.items():
        query, key = map(int, place.split(","))
        assert cell["fill"] == Scale(0, 1).colours[values[query, key]]
        x, y = middle(cell)
        assert x == pytest.approx(float(keys[str(key)]["x"]), abs=1)
        assert y == pytest.approx(float(queries[str(query)]["y"]), abs=8)
    left = min(float(cell["x"]) for cell in cells.values())
    top = min(float(cell["y"]) for cell in cells.values())
    assert all(float(label["x"]) < left for label in queries.values())
    assert all(float(label["y"]) < top for label in keys.values())


def test_colours_of_nought_and_one_are_exact():
    attention = asymmetric(1, 1)
    attention.pattern[0, 0] = np.eye(3, 4)
    cells = found(parse(head_svg(attention, 0, 0, ABOUT)), "data-cell")
    assert cells["1,1"]["fill"] == "#fde725"
    assert cells["1,2"]["fill"] == "#440154"
    assert cells["2,0"]["fill"] == "#440154"


def test_pointing_at_a_cell_says_its_number():
    root = parse(head_svg(asymmetric(), 0, 1, ABOUT))
    said = {
        rect.attrib["data-cell"]: rect.findtext(f"{SVG}title") for rect in root.iter() if "data-cell" in rect.attrib
    }
    weight = asymmetric().pattern[0, 1, 1, 2]
    assert said["1,2"] == f"\u2068q1\u2069 → \u2068k2\u2069: {weight:.3f}"


def test_axes_say_which_side_is_which():
    for kind in ("encoder", "decoder", "cross"):
        square = Attention(
            kind,
            np.full((1, 1, 12, 12), 1 / 12, np.float32),
            None,
            np.ones((12, 12), bool),
            *[tokens(*"abcdefghijkl")] * 2,
        )
        shown = texts(parse(head_svg(square, 0, 0, ABOUT)))
        assert any(text.startswith("← query: ") for text in shown)
        assert any(text.startswith("key: ") and text.endswith(" →") for text in shown)
    assert "← query" in texts(parse(head_svg(asymmetric(), 0, 0, ABOUT)))


def test_masked_cells_are_hatched_and_have_no_colour():
    root = parse(head_svg(asymmetric(), 0, 0, ABOUT))
    assert found(root, "data-masked").keys() == {"0,3,4", "2,1,2"}
    assert not {"0,3", "2,1"} & found(root, "data-cell").keys()
    (region,) = (each for each in root.iter(f"{SVG}g") if each.attrib.get("class") == "masked")
    identifier = re.fullmatch(r"url\(#(.+)\)", region.attrib["fill"])[1]
    assert any(pattern.attrib["id"] == identifier for pattern in root.iter(f"{SVG}pattern"))
    assert "masked" in texts(root)


def test_a_picture_without_masked_cells_speaks_of_none():
    attention = asymmetric()
    attention.mask[...] = True
    for svg in (head_svg(attention, 0, 0, ABOUT), grid_svg(attention, ABOUT)):
        assert "masked" not in svg


def test_a_weight_that_is_no_number_is_flagged():
    attention = asymmetric()
    attention.pattern[0, 0, 1, 1] = np.nan
    root = parse(head_svg(attention, 0, 0, ABOUT))
    assert found(root, "data-cell")["1,1"]["fill"] == "#e5484d"
    assert "not a number" in texts(root)
    assert "not a number" in texts(parse(grid_svg(attention, ABOUT)))
    assert "not a number" not in texts(parse(head_svg(attention, 1, 0, ABOUT)))


def test_a_long_map_is_one_image_with_the_same_colours():
    attention = long(60)
    (drawn,) = parse(head_svg(attention, 1, 3, ABOUT)).iter(f"{SVG}image")
    assert_array_equal(image(drawn), Scale(0, 1).palette[levels(attention, Scale(0, 1))[1, 3]])


def test_the_grid_has_each_head_in_its_place_and_not_transposed():
    attention = asymmetric()
    root = parse(grid_svg(attention, ABOUT))
    heads = {each.attrib["data-head"]: each.find(f"{SVG}image") for each in root.iter() if "data-head" in each.attrib}
    values = levels(attention, Scale(0, 1))
    for place, drawn in heads.items():
        layer, head = map(int, place.split(","))
        assert_array_equal(image(drawn), Scale(0, 1).palette[values[layer, head]])
    assert float(heads["0,1"].attrib["x"]) > float(heads["0,0"].attrib["x"])
    assert float(heads["1,0"].attrib["y"]) > float(heads["0,0"].attrib["y"])
    assert {"L0", "L1", "H0", "H1", "H2"} <= set(texts(root))


def test_masked_cells_of_the_grid_let_the_hatch_through():
    attention = asymmetric()
    root = parse(grid_svg(attention, ABOUT))
    for drawn in root.iter(f"{SVG}image"):
        assert_array_equal(image(drawn)[..., 3] == 0, ~attention.mask)
    hatched = [each.attrib for each in root.iter(f"{SVG}rect") if each.attrib.get("class") == "masked"]
    assert len(hatched) == 6
    assert {each["fill"] for each in hatched} == {"url(#masked-cross-grid)"}


def test_pooling_keeps_the_brightest_and_masks_only_what_is_all_masked():
    values = np.full((1, 1, 5, 7), MASKED, np.uint8)
    values[0, 0, 4, 6], values[0, 0, 1, 2] = 9, 200
    pooled, step = pool(values, 3)
    assert step == (2, 3)
    assert pooled[0, 0].tolist() == [[200, 0, 0], [0, 0, 0], [0, 0, 9]]


def test_the_grid_of_a_long_sentence_says_what_a_pixel_is():
    root = parse(grid_svg(long(130), ABOUT))
    assert any("A pixel is the largest weight of 3 × 3 tokens." in text for text in texts(root))
    assert {image(drawn).shape for drawn in root.iter(f"{SVG}image")} == {(44, 44, 4)}


def test_right_to_left_labels_are_laid_out_as_their_script_is():
    attention = asymmetric()
    hebrew = Attention("cross", attention.pattern, None, attention.mask, tokens("שלום!", "b", "(ab"), attention.keys)
    labels = found(parse(head_svg(hebrew, 0, 0, ABOUT)), "data-query")
    assert (labels["0"].get("direction"), labels["0"].get("text-anchor")) == ("rtl", None)
    assert (labels["1"].get("direction"), labels["1"].get("text-anchor")) == (None, "end")


def test_a_label_that_was_cut_says_the_whole_when_pointed_at():
    attention = asymmetric()
    word = "Donaudampfschifffahrtsgesellschaft"
    cut = Attention("cross", attention.pattern, None, attention.mask, tokens(word, "b", "c"), attention.keys)
    (label,) = (each for each in parse(head_svg(cut, 0, 0, ABOUT)).iter() if each.attrib.get("data-query") == "0")
    assert label.findtext(f"{SVG}title") == word
    assert "".join(label.itertext()).endswith("…")
