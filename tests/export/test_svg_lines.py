"""Lines between words: from the query on the left to the key on the right, as opaque as the weight."""

import numpy as np
import pytest

from tests.analysis.hand_made import ABOUT, SVG, asymmetric, long, parse, texts
from transformer.export.palette import HEAD_COLOURS
from transformer.export.svg_lines import MOST_LINES, lines_svg


def lines(svg: str) -> dict[tuple[int, int, int], dict[str, str]]:
    groups = (group for group in parse(svg).iter(f"{SVG}g") if "stroke" in group.attrib)
    return {
        tuple(map(int, line.attrib["data-line"].split(","))): group.attrib | line.attrib
        for group in groups
        for line in group
    }


def labels(svg: str, name: str) -> dict[int, dict[str, str]]:
    return {int(each.attrib[name]): each.attrib for each in parse(svg).iter() if name in each.attrib}


def test_a_line_goes_from_its_query_to_its_key():
    svg = lines_svg(asymmetric(), 1, [0, 2], ABOUT)
    queries, keys = labels(svg, "data-query"), labels(svg, "data-key")
    assert len(queries) == 3
    assert len(keys) == 4
    for (_, query, key), line in lines(svg).items():
        assert float(line["x1"]) > float(queries[query]["x"])
        assert float(line["x2"]) < float(keys[key]["x"])
        assert float(line["y1"]) == pytest.approx(float(queries[query]["y"]), abs=10)
        assert float(line["y2"]) == pytest.approx(float(keys[key]["y"]), abs=10)


def test_opacity_is_the_weight_and_colour_the_head():
    attention = asymmetric()
    drawn = lines(lines_svg(attention, 1, [0, 2], ABOUT))
    assert {head for head, _, _ in drawn} == {0, 2}
    for (head, query, key), line in drawn.items():
        assert float(line["stroke-opacity"]) == pytest.approx(attention.pattern[1, head, query, key], abs=5e-4)
        assert line["stroke"] == HEAD_COLOURS[head]


def test_every_weight_that_counts_has_a_line_and_masked_cells_have_none():
    attention = asymmetric()
    attention.pattern[0, 0, 1] = [0.001, 0.6, 0.009, 0.39]
    drawn = lines(lines_svg(attention, 0, [0], ABOUT))
    assert {(query, key) for _, query, key in drawn if query == 1} == {(1, 1), (1, 3)}
    full = lines(lines_svg(attention, 1, [1], ABOUT))
    assert {(query, key) for _, query, key in full} == set(zip(*map(tuple, np.nonzero(attention.mask)), strict=True))


def test_chosen_queries_alone_have_lines_and_the_others_are_pale():
    svg = lines_svg(asymmetric(), 1, [1], ABOUT, queries=[0, 2])
    assert {query for _, query, _ in lines(svg)} == {0, 2}
    assert ["opacity" in attributes for attributes in labels(svg, "data-query").values()] == [False, True, False]
    assert not lines(lines_svg(asymmetric(), 1, [1], ABOUT, queries=[]))


def test_heads_of_one_pair_lie_beside_each_other_in_their_colours():
    drawn = lines(lines_svg(asymmetric(1, 20), 0, range(20), ABOUT))
    ends = {line["y1"] for (_, query, key), line in drawn.items() if (query, key) == (1, 2)}
    assert len(ends) == len([1 for _, query, key in drawn if (query, key) == (1, 2)])
    looks = {(line["stroke"], line.get("stroke-dasharray")) for line in drawn.values()}
    assert len(looks) == len({head for head, _, _ in drawn})


def test_the_legend_names_the_heads():
    shown = texts(parse(lines_svg(asymmetric(), 0, [2, 0], ABOUT)))
    assert {"H2", "H0"} <= set(shown)
    assert "H1" not in shown
    assert "mean" in texts(parse(lines_svg(asymmetric().mean(), 0, [0], ABOUT)))


def test_of_too_many_lines_the_strongest_are_drawn_and_the_picture_says_so():
    attention = long(130)
    svg = lines_svg(attention, 0, [0], ABOUT)
    drawn = lines(svg)
    assert len(drawn) == MOST_LINES
    kept = min(attention.pattern[0, 0, query, key] for _, query, key in drawn)
    assert (attention.pattern[0, 0] > kept).sum() < MOST_LINES
    assert any("the 5,000 strongest of 8," in text for text in texts(parse(svg)))


def test_weights_that_are_no_numbers_have_no_line_and_are_counted():
    attention = asymmetric()
    attention.pattern[0, 0, 1, :2] = [np.nan, np.inf]
    svg = lines_svg(attention, 0, [0], ABOUT)
    assert not {(0, 1, 0), (0, 1, 1)} & lines(svg).keys()
    assert any(text.endswith("2 weights are not numbers and have no line.") for text in texts(parse(svg)))


def test_pointing_at_a_line_says_its_number():
    (said,) = (
        each.findtext(f"{SVG}title")
        for each in parse(lines_svg(asymmetric(), 1, [2], ABOUT)).iter()
        if each.attrib.get("data-line") == "2,1,0"
    )
    assert said == f"\u2068q1\u2069 → \u2068k0\u2069: {asymmetric().pattern[1, 2, 1, 0]:.3f}, head \u20682\u2069"


@pytest.mark.parametrize(
    ("heads", "queries", "said"),
    [
        ([], None, "Choose a head to draw; no head was given."),
        ([0, 3], None, "There is no head 3; a layer has heads 0 to 2."),
        ([-1], None, "There is no head -1"),
        ([0], [3], "There is no query 3; there are queries 0 to 2."),
    ],
)
def test_bad_choices_are_named(heads, queries, said):
    with pytest.raises(ValueError, match=said):
        lines_svg(asymmetric(), 0, heads, ABOUT, queries)
