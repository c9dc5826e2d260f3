"""What all pictures share: valid XML whatever the text, what they say of themselves, colours, sizes."""

import json

import numpy as np
import pytest

from tests import hostile
from tests.analysis.hand_made import ABOUT, SVG, assert_only_ours, asymmetric, long, parse, shown, texts, tokens
from transformer import __version__
from transformer.analysis.attention import Attention
from transformer.export.about import About
from transformer.export.markup import escape, escaped_json, shorten, tag, visible, width
from transformer.export.svg_grid import grid_svg
from transformer.export.svg_head import head_svg
from transformer.export.svg_lines import lines_svg
from transformer.export.svg_scale import HIGHEST, LOWEST, MASKED, NAN, Scale, levels, weights_scale

DRAWN = {
    "head": lambda attention, about: head_svg(attention, 1, 2, about),
    "grid": grid_svg,
    "lines": lambda attention, about: lines_svg(attention, 1, [0, 2], about),
}
drawn_as = pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN.keys())


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_is_text_and_nothing_else(text, checkpoint):
    trace = checkpoint.trace(text, text)
    words = trace.encoder.words()
    for draw in DRAWN.values():
        root = assert_only_ours(draw(words, About.of(trace)))
        about = json.loads(root.findtext(f"{SVG}metadata") or "")
        assert (about["sentence"], about["target"]) == (text, text)
    for draw in (DRAWN["head"], DRAWN["lines"]):
        root = parse(draw(words, About.of(trace)))
        for side, labels in (("data-query", words.queries.labels), ("data-key", words.keys.labels)):
            for element in root.iter():
                if side in element.attrib:
                    assert shown(element) == shorten(labels[int(element.attrib[side])], 22)


@drawn_as
def test_a_picture_says_where_it_comes_from(draw):
    attention = asymmetric()
    root = parse(draw(attention, ABOUT))
    about = json.loads(root.findtext(f"{SVG}metadata") or "")
    expected = {"model": "model", "step": 1200, "sentence": "a sentence", "target": "ein Satz", "view": "words"}
    assert expected.items() <= about.items()
    assert (about["program"], about["version"], about["kind"]) == ("Roundtable", __version__, "cross")
    assert f"model · step 1,200 · Roundtable {__version__} · words" in texts(root)
    assert (root.findtext(f"{SVG}title") or "").startswith("Encoder–decoder attention, ")
    assert "a sentence" in (root.findtext(f"{SVG}desc") or "")


def test_layers_and_heads_shown_are_named():
    def about(svg):
        found = json.loads(parse(svg).findtext(f"{SVG}metadata") or "")
        return found["layers"], found["heads"]

    attention = asymmetric()
    assert about(head_svg(attention, 1, 2, ABOUT)) == (["1"], ["2"])
    assert about(grid_svg(attention, ABOUT)) == (["0", "1"], ["0", "1", "2"])
    assert about(lines_svg(attention, 0, [2, 0], ABOUT)) == (["0"], ["2", "0"])
    assert about(head_svg(attention.mean(), 1, 0, ABOUT)) == (["1"], ["mean"])
    assert (
        parse(head_svg(attention.mean(), 1, 0, ABOUT)).findtext(f"{SVG}title") == "Encoder–decoder attention, L1·mean"
    )


@drawn_as
def test_everything_lies_inside_the_picture(draw):
    for attention in (asymmetric(), asymmetric(2, 12), long(70)):
        root = parse(draw(attention, ABOUT))
        right, bottom = float(root.attrib["width"]), float(root.attrib["height"])
        assert root.attrib["viewBox"] == f"0 0 {right:.0f} {bottom:.0f}"
        for element in root.iter():
            if "x" in element.attrib and element.tag != f"{SVG}pattern":
                x, y = float(element.attrib["x"]), float(element.attrib["y"])
                assert 0 <= x <= x + float(element.attrib.get("width", 0)) <= right
                assert 0 <= y <= y + float(element.attrib.get("height", 0)) <= bottom


@drawn_as
def test_nothing_to_draw_is_said_in_one_sentence(draw):
    nothing, mask = np.zeros((2, 3, 0, 0), np.float32), np.zeros((0, 0), bool)
    said = "There is nothing to draw of cross: it has 2 layers, 3 heads, 0 queries and 0 keys; allowed is one or more"
    with pytest.raises(ValueError, match=said):
        draw(Attention("cross", nothing, None, mask, tokens(), tokens()), ABOUT)


@pytest.mark.parametrize("draw", [DRAWN["head"], DRAWN["lines"]], ids=["head", "lines"])
def test_a_layer_or_head_that_is_not_there_is_named(draw):
    with pytest.raises(ValueError, match=r"There is no layer 1; cross has layers 0 to 0\."):
        draw(asymmetric(1, 3), ABOUT)
    with pytest.raises(ValueError, match=r"There is no head 2; a layer has heads 0 to 1\."):
        draw(asymmetric(2, 2), ABOUT)


def test_weights_nought_and_one_have_the_ends_of_viridis():
    attention = asymmetric()
    attention.pattern[0, 0, 0] = [0, 1, 0.5, 0.5]
    numbers = levels(attention, Scale(0, 1))
    assert numbers[0, 0, 0].tolist() == [LOWEST, HIGHEST, (LOWEST + HIGHEST) // 2, MASKED]
    assert (Scale(0, 1).colours[LOWEST], Scale(0, 1).colours[HIGHEST]) == ("#440154", "#fde725")


def test_what_is_not_finite_is_marked_and_does_not_set_the_scale():
    attention = asymmetric()
    attention.pattern[0, 0, 1] = [np.nan, np.inf, -np.inf, 0.5]
    assert levels(attention, weights_scale(attention))[0, 0, 1].tolist()[:3] == [NAN] * 3
    assert weights_scale(attention).high == 1


@pytest.mark.parametrize(("largest", "top"), [(0.2, 1), (1.0005, 1), (1.23, 1.3), (7.0, 7), (843, 850)])
def test_the_scale_goes_to_one_or_just_beyond_the_largest_weight(largest, top):
    attention = asymmetric()
    attention.pattern[...] *= largest
    assert weights_scale(attention).high == pytest.approx(top)


def test_512_tokens_stay_small():
    attention = long()
    assert len(head_svg(attention, 0, 0, ABOUT)) < 600_000
    assert len(grid_svg(attention, ABOUT)) < 250_000
    assert len(lines_svg(attention, 0, [0, 1, 2, 3], ABOUT)) < 1_500_000


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_escaped_text_reads_back(text):
    assert parse(f"<a>{escape(text)}</a>").text == visible(text)
    assert parse(f'<a b="{escape(text)}"/>').attrib["b"] == visible(text)
    assert json.loads(parse(f"<a>{escaped_json(text)}</a>").text or "") == text
    assert visible(visible(text)) == visible(text)


def test_characters_that_files_cannot_hold_have_stand_ins():
    assert visible("a\0\n\x7f\x85\u2028\ufeff\ufffe\ud800\u202e") == "a␀␊␡U+0085U+2028U+FEFFU+FFFEU+D800U+202E"
    assert visible("👩\u200d👧 e\u0301 ישן\u00a0") == "👩\u200d👧 e\u0301 ישן\u00a0"


def test_long_labels_are_cut_between_characters_as_read():
    assert shorten("abcdefghijkl", 8) == "abcdefg…"
    assert shorten("👩\u200d👧" * 9, 5) == "👩\u200d👧" * 2 + "…"
    assert shorten("ae\u0301ae\u0301ae\u0301", 3) == "ae\u0301…"
    assert len(shorten("Z" + "\u0335" * 500, 22)) < 20
    assert width(shorten("动" * 99, 22)) <= 22.5


def test_an_element_is_escaped_and_leaves_out_what_is_none():
    assert (
        tag("text", "a", font_size=1.5, class_='"<', x=2.0, y=None)
        == '<text font-size="1.5" class="&quot;&lt;" x="2">a</text>'
    )
    assert tag("rect") == "<rect/>"
    assert tag("g") == "<g></g>"
