"""Files of pictures: a bare picture below a heading, several side by side, and no name twice."""

import json
import math

import pytest

from tests import hostile
from tests.analysis.hand_made import ABOUT, SVG, assert_only_ours, asymmetric, parse, shown, texts
from transformer import __version__
from transformer.export.svg import wrapped
from transformer.export.svg_document import beside, framed, renamed, size_of
from transformer.export.svg_grid import grid_svg
from transformer.export.svg_head import head_svg

BARE = '<svg width="300" height="90" viewBox="0 0 300 90"><rect x="0" y="0" width="300" height="90"/></svg>'


def test_a_bare_picture_stands_below_its_heading_and_above_its_notes():
    root = parse(framed(BARE, "A title", ABOUT, {"model": "m"}, ["one note", "another"]))
    (inner,) = (each for each in root.iter(f"{SVG}svg") if each is not root)
    (heading,) = (each for each in root.iter(f"{SVG}text") if each.text == "A title")
    notes = [each for each in root.iter(f"{SVG}text") if each.text in ("one note", "another")]
    bottom = float(inner.attrib["y"]) + 90
    assert float(heading.attrib["y"]) < float(inner.attrib["y"])
    assert [float(each.attrib["y"]) > bottom for each in notes] == [True, True]
    assert float(notes[-1].attrib["y"]) < float(root.attrib["height"])
    assert float(root.attrib["width"]) >= float(inner.attrib["x"]) + 300
    assert json.loads(root.findtext(f"{SVG}metadata")) == {"model": "m"}
    assert f"model · step 1,200 · Roundtable {__version__} · words" in texts(root)


def test_two_pictures_stand_side_by_side_and_share_no_name():
    one, other = head_svg(asymmetric(), 0, 1, ABOUT), grid_svg(asymmetric(), ABOUT)
    root = parse(beside([one, one, other], ["first", "second", "third"], "Three", [{"a": 1}, {"a": 2}, {"a": 3}]))
    placed = [each for each in root if each.tag == f"{SVG}svg"]
    widths = [size_of(svg)[0] for svg in (one, one, other)]
    assert [float(each.attrib["x"]) for each in placed] == [0, widths[0], 2 * widths[0]]
    assert float(root.attrib["width"]) == sum(widths)
    captions = [each for each in root if each.tag == f"{SVG}text"]
    assert [shown(each).strip("\u2068\u2069") for each in captions] == ["first", "second", "third"]
    for caption, picture in zip(captions, placed, strict=True):
        assert 0 < float(caption.attrib["x"]) - float(picture.attrib["x"]) < 30
        assert float(caption.attrib["y"]) < float(picture.attrib["y"])
    lowest = float(placed[0].attrib["y"]) + max(size_of(svg)[1] for svg in (one, other))
    assert float(root.attrib["height"]) == math.ceil(lowest)
    names = [each.attrib["id"] for each in root.iter() if "id" in each.attrib]
    assert len(set(names)) == len(names)
    used = {each.attrib["fill"] for each in root.iter() if each.attrib.get("fill", "").startswith("url(")}
    assert used == {f"url(#{name})" for name in names}
    about = json.loads(root.findtext(f"{SVG}metadata"))
    assert (about["version"], about["pictures"]) == (__version__, [{"a": 1}, {"a": 2}, {"a": 3}])


def test_a_long_sentence_stands_in_lines_above_its_picture():
    picture = framed(BARE, "A title", ABOUT, {})
    sentence = "The animal didn't cross the street because it was too wide"
    root = parse(beside([picture, picture], [sentence, "b"], "Two", [{}, {}]))
    lines = [each for each in root if each.attrib.get("data-picture") == "0"]
    assert " ".join(shown(each).strip("\u2068\u2069") for each in lines) == sentence
    assert 1 < len(lines) <= 3
    assert [float(each.attrib["x"]) for each in lines] == [16.0] * len(lines)
    first = next(each for each in root if each.tag == f"{SVG}svg")
    assert float(lines[-1].attrib["y"]) < float(first.attrib["y"])


@pytest.mark.parametrize(
    ("text", "lines"), [("", [""]), ("aa bb cc", ["aa bb", "cc"]), ("a verylongword b", ["a", "very…", "b"])]
)
def test_lines_break_at_spaces_and_a_word_too_wide_is_cut(text, lines):
    assert wrapped(text, 5) == lines


def test_only_names_are_renamed():
    svg = '<svg width="1" height="2"><text>url(#a) id=&quot;b&quot;</text><rect id="a" fill="url(#a)"/></svg>'
    assert renamed(svg, "x-") == svg.replace('id="a"', 'id="x-a"').replace('fill="url(#a)"', 'fill="url(#x-a)"')


def test_what_has_no_size_is_refused():
    with pytest.raises(ValueError, match=r"^This picture has no size: '<svg>"):
        size_of("<svg></svg>")


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_is_text_and_nothing_else(text):
    facts = {"sentence": text}
    root = assert_only_ours(framed(BARE, text, ABOUT, facts, [text]))
    assert json.loads(root.findtext(f"{SVG}metadata")) == facts
    assert_only_ours(beside([framed(BARE, text, ABOUT, facts)] * 2, [text] * 2, text, [facts] * 2))
