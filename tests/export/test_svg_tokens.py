"""A target token by token: bars as long as probabilities, numbers beside them, others without the token itself."""

import json
import math

import pytest

from tests import hostile
from tests.analysis.hand_made import ABOUT, SVG, assert_only_ours, parse, texts
from tests.export.test_svg_maps import found
from transformer.decoding.score import TargetScore
from transformer.export.markup import shorten
from transformer.export.svg_tokens import tokens_svg

JA, NEIN, END = 4, 5, 3
NAMES = {JA: "ja", NEIN: "nein", END: "</s>"}
HALF, QUARTER, LITTLE = math.log(0.5), math.log(0.25), math.log(0.0001)
SCORED = TargetScore(
    (JA, END), (QUARTER, HALF), (1.25, 0.5), ((NEIN, JA, END), (END, JA, NEIN)), ((HALF, QUARTER, LITTLE),) * 2
)


def drawn(**options):
    return parse(
        tokens_svg(SCORED, ("ja", "</s>"), NAMES.__getitem__, "Token by token", ABOUT, ABOUT.facts(), **options)
    )


def test_bars_are_as_long_as_probabilities():
    bars = found(drawn(), "data-bar")
    assert float(bars["1"]["width"]) == 2 * float(bars["0"]["width"])
    assert float(bars["0"]["y"]) < float(bars["1"]["y"])


def test_numbers_and_others_stand_in_the_row_of_their_token():
    shown = texts(drawn())
    start = shown.index("1")
    assert shown[start : start + 7] == [
        "1", "ja", "25%", "−1.39", "1.25", "\u2068nein\u2069 50%", "\u2068</s>\u2069 <0.1%",
    ]  # fmt: skip
    assert shown[start + 7 : start + 12] == ["2", "</s>", "50%", "−0.69", "0.50"]


def test_tokens_that_were_given_are_hollow():
    bars = found(drawn(n_given=1), "data-bar")
    assert (bars["0"]["fill"], bars["1"]["fill"] != "none") == ("none", True)
    assert any("The first 1 tokens were given" in text for text in texts(drawn(n_given=1)))


def test_no_token_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"^There is nothing to draw: the target has no tokens\.$"):
        tokens_svg(TargetScore((), (), (), (), ()), (), str, "t", ABOUT, {})


def test_an_impossible_token_has_no_bar():
    never = TargetScore((JA,), (-math.inf,), (0.0,), ((),), ((),))
    root = parse(tokens_svg(never, ("ja",), NAMES.__getitem__, "t", ABOUT, {}))
    assert found(root, "data-bar")["0"]["width"] == "0"
    assert "−inf" in texts(root)


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_is_text_and_nothing_else(text):
    facts = {**ABOUT.facts(), "sentence": text}
    root = assert_only_ours(tokens_svg(SCORED, (text, text), lambda piece: text, text, ABOUT, facts))
    assert json.loads(root.findtext(f"{SVG}metadata"))["sentence"] == text
    assert shorten(text, 22) in texts(root)
