"""One head as Equation 1: matrices in their order and not transposed, the chosen cell framed, its arithmetic below."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests import hostile
from tests.analysis.hand_made import ABOUT, SVG, assert_only_ours, image, parse, texts
from tests.ui.one_head import SCORES, Q, V, many_keys, one_head
from tests.ui.samples import tokens
from transformer.export.equation import MATRICES, Cell, arithmetic, matrices
from transformer.export.svg_equation import equation_svg
from transformer.export.svg_scale import MASKED, Scale, differences_scale

CELL = Cell("scores", 1, 0)
MASK = np.array([[True, True, True], [True, False, True]])


def groups(root) -> dict:
    return {each.attrib["data-matrix"]: each for each in root.iter() if "data-matrix" in each.attrib}


def picture(group):
    return group.find(f"{SVG}image")


def test_matrices_stand_in_the_order_of_the_equation_and_none_is_transposed():
    drawn = groups(parse(equation_svg(one_head(), CELL, ABOUT)))
    assert tuple(drawn) == MATRICES
    places = [float(drawn[name].find(f"{SVG}text").attrib["x"]) for name in MATRICES]
    assert places == sorted(places)
    for name, values in (("Q", Q), ("scores", SCORES), ("V", V)):
        scale = differences_scale(values, "")
        assert_array_equal(
            image(picture(drawn[name])), scale.palette[scale.levels(values, np.ones(values.shape, bool))]
        )
    weights = Scale(0, 1).levels(one_head().pattern, np.ones((2, 3), bool))
    assert_array_equal(image(picture(drawn["softmax"])), Scale(0, 1).palette[weights])


def test_masked_cells_are_clear_above_a_hatch():
    drawn = groups(parse(equation_svg(one_head(mask=MASK), CELL, ABOUT)))
    colours = image(picture(drawn["softmax"]))
    assert_array_equal(colours[..., 3] == 0, ~MASK)
    assert MASKED == 0
    (allowed,) = (each for each in drawn["mask"].iter(f"{SVG}g") if each.attrib.get("class") == "allowed")
    assert len(list(allowed)) == 3, "one run in the first row, two in the second"
    assert any(each.attrib.get("class") == "masked" for each in drawn["softmax"])


def test_the_chosen_cell_is_framed_and_explained():
    root = parse(equation_svg(one_head(), CELL, ABOUT))
    (frame,) = (each for each in root.iter() if each.attrib.get("data-cell") == "1,0")
    scores = picture(groups(root)["scores"]).attrib
    high = float(scores["height"]) / 2
    assert float(frame.attrib["x"]) == pytest.approx(float(scores["x"]))
    assert float(frame.attrib["y"]) == pytest.approx(float(scores["y"]) + high)
    shown = texts(root)
    made = arithmetic(one_head(), CELL)
    assert f"scores[1, 0] = {made.lines[0]}" in shown
    assert any(text.endswith("= 2.000") for text in shown), "(0·2 + 0·0 + 4·1 + 0·0) / 2"
    assert "query 1 “\u2068nein\u2069”, key 0 “\u2068yes\u2069”:" in shown
    facts = json.loads(root.findtext(f"{SVG}metadata"))
    assert (facts["cell"], facts["heads"], facts["layers"]) == (["scores", 1, 0], ["2"], ["1"])


@pytest.mark.parametrize("matrix", MATRICES)
def test_every_cell_of_every_matrix_can_be_explained(matrix):
    parts = one_head(mask=MASK, bias=SCORES, unturned={"q": Q, "k": Q[:1].repeat(3, 0)})
    last = tuple(size - 1 for size in matrices(parts)[matrix].shape)
    root = parse(equation_svg(parts, Cell(matrix, *last), ABOUT))
    assert any(text.startswith(f"{matrix}[{last[0]}, {last[1]}] = ") for text in texts(root))
    assert {"x·W_Q ↻, ±4", "x·W_K ↻, ±3"} <= set(texts(root))
    assert any(text.startswith("QKᵀ/√4 + b") for text in texts(root))


def test_512_tokens_stay_small_and_lie_inside():
    root = parse(svg := equation_svg(many_keys(512), Cell("softmax", 1, 511), ABOUT))
    assert len(svg) < 200_000
    for element in root.iter():
        if "x" in element.attrib and element.tag != f"{SVG}pattern":
            right = float(element.attrib["x"]) + float(element.attrib.get("width", 0))
            assert 0 <= right <= float(root.attrib["width"])
            assert 0 <= float(element.attrib["y"]) <= float(root.attrib["height"])


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_is_text_and_nothing_else(text):
    parts = one_head(queries=tokens(text, "b"), keys=tokens(text, "b", text))
    for cell in (Cell("softmax", 0, 2), Cell("z", 0, 1)):
        root = assert_only_ours(equation_svg(parts, cell, ABOUT))
        assert not any("U+206" in each for each in texts(root)) or "\u2066" in text or "\u2069" in text
