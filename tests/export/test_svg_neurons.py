"""A pair by dimension: stripes with their colours, a sum that arrives at the score, the row of all keys beside it."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests import hostile
from tests.analysis.hand_made import ABOUT, SVG, assert_only_ours, image, parse, texts
from tests.export.test_svg_maps import found
from tests.ui.one_head import K, Q, many_keys, one_head
from tests.ui.samples import tokens
from transformer.export.svg_neurons import LOWERS, MOST_KEYS, RAISES, neurons_svg
from transformer.export.svg_scale import differences_scale


def stripes(root) -> dict[str, np.ndarray]:
    return {each.attrib["data-values"]: image(each) for each in root.iter() if "data-values" in each.attrib}


def colours(values: np.ndarray, whole: np.ndarray | None = None) -> np.ndarray:
    scale = differences_scale(values if whole is None else whole, "")
    return scale.palette[scale.levels(values, np.ones(values.shape, bool))]


def test_stripes_hold_the_query_the_key_and_their_products():
    """Query 0 and key 1: 1·0.5, 2·1, 0·0, −1·−1."""
    drawn = stripes(parse(neurons_svg(one_head(), 0, 1, ABOUT)))
    both = np.stack([Q[0], K[1]])
    assert_array_equal(drawn["q"], colours(Q[:1], both))
    assert_array_equal(drawn["k"], colours(K[1:2], both))
    assert_array_equal(drawn["q∘k"], colours(np.array([[0.5, 2.0, 0.0, 1.0]])))


def test_the_sum_goes_up_and_down_and_arrives_at_the_score():
    """Query 0 and key 2: products over 2 are −0.5, 0, 0, −1.5, together −2."""
    root = parse(neurons_svg(one_head(), 0, 2, ABOUT))
    score = found(root, "data-score")["−2.000"]
    assert score["fill"] not in (RAISES, LOWERS)
    bars = [each.attrib for each in root.iter(f"{SVG}rect") if each.attrib.get("fill") == LOWERS]
    steps = [float(bar["height"]) for bar in bars if "data-score" not in bar]
    assert sum(steps) == pytest.approx(float(score["height"]))
    assert steps == pytest.approx([float(score["height"]) / 4, 3 * float(score["height"]) / 4], abs=0.02)
    assert "−2.000" in texts(root)


def test_each_key_has_its_score_and_its_weight_in_its_row():
    root = parse(neurons_svg(one_head(), 0, 1, ABOUT))
    labels, scores, weights = (found(root, name) for name in ("data-key", "data-score", "data-weight"))
    assert set(labels) == set(weights) == {"0", "1", "2"}
    assert [scores[at]["fill"] for at in ("0", "1", "2")] == [RAISES, RAISES, LOWERS]
    assert float(scores["1"]["width"]) / float(scores["0"]["width"]) == pytest.approx(1.75, abs=0.01)
    pattern = one_head().pattern[0]
    assert float(weights["1"]["width"]) / float(weights["0"]["width"]) == pytest.approx(
        pattern[1] / pattern[0], abs=0.01
    )
    for at in ("0", "1", "2"):
        assert float(labels[at]["y"]) - float(weights[at]["y"]) == pytest.approx(10)
    assert_array_equal(stripes(root)["terms"], colours(Q[0] * K * 0.5))


def test_a_masked_key_has_a_pale_score_and_no_weight():
    mask = np.array([[True, False, True], [True, True, True]])
    root = parse(neurons_svg(one_head(mask=mask), 0, 1, ABOUT))
    assert found(root, "data-score")["1"]["opacity"] == "0.35"
    assert "1" not in found(root, "data-weight")
    assert "masked" in texts(root)
    assert any(text.endswith("score 1.750, weight masked") for text in texts(root))


def test_the_bias_of_positions_has_a_bar_of_its_own():
    bias = np.array([[0, -1, -2], [-1, 0, -1]], np.float32)
    shown = texts(parse(neurons_svg(one_head(bias=bias), 0, 1, ABOUT)))
    assert {"bias", "score with bias", "0.750"} <= set(shown)
    assert "bias" not in texts(parse(neurons_svg(one_head(), 0, 1, ABOUT)))


def test_numbers_that_are_none_have_no_bar():
    broken = one_head(q=Q * np.nan, scores=np.full((2, 3), np.nan, np.float32), pattern=np.full((2, 3), np.nan, "f"))
    root = parse(neurons_svg(broken, 0, 1, ABOUT))
    assert not any("nan" in value for each in root.iter(f"{SVG}rect") for value in each.attrib.values())
    assert "not a number" in texts(root)


def test_of_many_keys_those_of_most_weight_are_drawn():
    root = parse(neurons_svg(many_keys(512), 0, 511, ABOUT))
    assert set(found(root, "data-key")) == {*map(str, range(MOST_KEYS - 1)), "511"}
    assert any(f"Of 512 keys the {MOST_KEYS} of most weight" in text for text in texts(root))
    facts = json.loads(root.findtext(f"{SVG}metadata"))
    assert (facts["query"], facts["key"], facts["model"]) == (0, 511, "model")


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_is_text_and_nothing_else(text):
    root = assert_only_ours(neurons_svg(one_head(queries=tokens(text, "b"), keys=tokens("a", text, "c")), 0, 1, ABOUT))
    width = float(root.attrib["width"])
    assert all(0 <= float(each.attrib["x"]) <= width for each in root.iter(f"{SVG}text"))
