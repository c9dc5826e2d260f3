from xml.etree import ElementTree

import numpy as np
import pytest

from tests import hostile
from tests.ui.samples import asymmetric, attention, random, tokens
from transformer.export.about import About
from transformer.export.svg_lines import MOST_LINES
from ui.lines import MOST_TOKENS, chosen_lines, describe, n_lines, payload

ABOUT = About("model", 1200, "a sentence")


def drawn(lines) -> dict[tuple[int, int, int], float]:
    """(head, query, key) of every line in the picture, and its opacity."""
    root = ElementTree.fromstring(payload(lines, ABOUT)["svg"])
    return {
        tuple(map(int, node.attrib["data-line"].split(","))): float(node.attrib["stroke-opacity"])
        for node in root.iter("{http://www.w3.org/2000/svg}line")
        if "data-line" in node.attrib
    }


def test_lines_go_from_the_query_on_the_left_to_the_key_on_the_right():
    assert drawn(chosen_lines(asymmetric(), 0, [1], [])) == {
        (1, 0, 0): 0.25, (1, 0, 1): 0.75, (1, 1, 0): 0.5, (1, 1, 1): 0.125, (1, 1, 2): 0.375,
    }  # fmt: skip
    sent = payload(chosen_lines(asymmetric(), 0, [1], []), ABOUT)
    assert sent["queries"] == ("ja", "nein")
    assert sent["keys"] == ("yes", "no", "</s>")


def test_only_chosen_queries_have_lines_and_all_keep_their_words():
    lines = chosen_lines(asymmetric(), 0, [0, 1], [1])
    assert set(drawn(lines)) == {(0, 1, 1), (1, 1, 0), (1, 1, 1), (1, 1, 2)}
    assert payload(lines, ABOUT)["chosen"] == (1,)
    assert payload(lines, ABOUT)["heads"] == {"0": "0", "1": "1"}
    assert lines.rows == (0, 1)


@pytest.mark.parametrize(("queries", "count"), [([], 7), ([0], 3), ([1], 4), ([0, 1], 7)])
def test_lines_are_counted_before_they_are_drawn(queries, count):
    assert n_lines(asymmetric(), 0, [0, 1], queries) == count
    assert len(drawn(chosen_lines(asymmetric(), 0, [0, 1], queries))) == count


def test_masked_cells_and_small_weights_are_no_lines():
    words = tokens("a", "b")
    masked = attention([[[[1, 0], [0.005, 0.995]]]], words, words, kind="decoder", mask=np.tri(2, dtype=bool))
    assert n_lines(masked, 0, [0], []) == 2


def test_more_tokens_than_an_eye_follows_need_a_choice_of_queries():
    long = random(1, 2, MOST_TOKENS + 1, MOST_TOKENS + 1)
    with pytest.raises(ValueError, match=r"Lines between 65 tokens cannot be told apart: .* the Map and the grid\."):
        chosen_lines(long, 0, [0], [])
    lines = chosen_lines(long, 0, [0, 1], [40, 3])
    assert lines.attention.queries.labels == ("q3", "q40")
    assert lines.rows == (3, 40)
    assert lines.queries == (0, 1), "both are chosen, and a click on one lets it go"
    assert [f"k{at}" for at in lines.columns] == list(lines.attention.keys.labels)
    assert len(lines.attention.keys) <= MOST_TOKENS
    assert "the 2 chosen are drawn" in lines.note
    for (head, query, key), opacity in drawn(lines).items():
        column = int(lines.attention.keys.labels[key][1:])
        assert opacity == pytest.approx(long.pattern[0, head, lines.rows[query], column], abs=0.001)
    chosen_lines(random(1, 1, MOST_TOKENS, MOST_TOKENS), 0, [0], [])


def test_keys_without_a_line_are_left_out_but_never_all_of_them():
    words = tokens(*(f"w{at}" for at in range(100)))
    flat = attention(np.full((1, 1, 100, 100), 0.002), words, words, kind="encoder")
    lines = chosen_lines(flat, 0, [0], [5])
    assert len(lines.attention.keys) == 1
    assert not drawn(lines)


def test_more_lines_than_can_be_told_apart_get_a_sentence():
    words = tokens(*(f"w{at}" for at in range(60)))
    even = attention(np.full((1, 8, 60, 60), 1 / 60), words, words, kind="encoder")
    assert n_lines(even, 0, range(8), []) == 28_800 > MOST_LINES
    with pytest.raises(ValueError, match="These are 28,800 lines, and 5,000 are the most"):
        chosen_lines(even, 0, list(range(8)), [])
    assert len(drawn(chosen_lines(even, 0, [0, 1], [7]))) == 120


def test_weights_that_are_no_numbers_have_no_line():
    words = tokens("a", "b")
    broken = attention([[[[np.nan, 1], [0.5, 0.5]]]], words, words, kind="encoder")
    assert n_lines(broken, 0, [0], []) == 3
    assert "b to" in describe(chosen_lines(broken, 0, [0], [1]))


def test_the_strongest_lines_are_told_in_words():
    assert describe(chosen_lines(asymmetric(), 0, [1], [1])) == (
        "Lines from queries on the left to keys on the right. The strongest: nein to yes 0.50 (head 1), "
        "nein to </s> 0.38 (head 1), nein to no 0.12 (head 1)."
    )


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_hostile_words_stay_words(text):
    words = tokens(text, "b", text)
    lines = chosen_lines(attention(np.eye(3)[None, None], words, words, kind="encoder"), 0, [0], [2])
    sent = payload(lines, About("m", 1, text, text))
    root = ElementTree.fromstring(sent["svg"].encode())
    names = {node.tag.removeprefix("{http://www.w3.org/2000/svg}") for node in root.iter()}
    assert names <= {"svg", "title", "desc", "metadata", "rect", "circle", "text", "g", "line"}
    assert not any(name.startswith("on") for node in root.iter() for name in node.attrib)
    assert sent["queries"][0] == text
