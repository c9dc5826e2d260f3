"""Views of attention, against values worked out by hand on an asymmetric pattern."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from transformer.analysis.attention import Attention, Tokens


def tokens(*labels: str, words: list[int] | None = None, special: list[bool] | None = None) -> Tokens:
    words = list(range(len(labels))) if words is None else words
    special = [False] * len(labels) if special is None else special
    return Tokens(tuple(labels), tuple(labels), tuple(words), tuple(special))


def attention(pattern, queries: Tokens, keys: Tokens, mask=None) -> Attention:
    pattern = np.array(pattern, np.float32)
    mask = np.ones(pattern.shape[2:], bool) if mask is None else np.array(mask)
    return Attention("cross", pattern, np.log(pattern + 1), mask, queries, keys)


@pytest.fixture
def hand_made() -> Attention:
    """Two heads; queries `a` and the two pieces of `bc`; keys the two pieces of `xy`, and </s>."""
    return attention(
        [[[[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]], [[0.1, 0.1, 0.8], [0.0, 1.0, 0.0], [0.2, 0.2, 0.6]]]],
        tokens("a", "b", "c", words=[0, 1, 1]),
        tokens("x", "y", "</s>", words=[0, 0, 1], special=[False, False, True]),
    )


def test_words_sum_over_keys_and_average_over_queries(hand_made):
    words = hand_made.words()
    assert words.queries.labels == ("a", "bc")
    assert words.keys.labels == ("xy", "</s>")
    assert_allclose(words.pattern[0, 0], [[0.8, 0.2], [0.6, 0.4]], atol=1e-6)
    assert_allclose(words.pattern[0, 1], [[0.2, 0.8], [0.7, 0.3]], atol=1e-6)
    assert words.scores is None


def test_words_that_are_not_next_to_each_other_stay_apart():
    twice = attention([[[[0.6, 0.4]]]], tokens("a"), tokens("the", "the"))
    assert twice.words().keys.labels == ("the", "the")


def test_a_merged_word_hides_the_dots_of_its_later_bytes():
    emoji = Tokens(("<0xF0>", "<0x9F>", "<0x98>", "<0x80>"), ("😀", "·", "·", "·"), (0, 0, 0, 0), (False,) * 4)
    assert emoji.merged().labels == ("😀",)
    family = ("▁", *(f"<0x{byte:02X}>" for byte in "👩\u200d👧".encode()))
    joined = Tokens(family, family, (0,) * len(family), (False,) * len(family))
    assert joined.merged().labels == ("👩\u200d👧",)
    middle_dot = Tokens(("▁a", "·"), ("a", "·"), (0, 0), (False, False))
    assert middle_dot.merged().labels == ("a·",)


def test_mean_and_max_over_heads(hand_made):
    assert_allclose(hand_made.mean().pattern[0, 0, 0], [0.3, 0.2, 0.5], atol=1e-6)
    assert_allclose(hand_made.max().pattern[0, 0, 0], [0.5, 0.3, 0.8], atol=1e-6)
    assert hand_made.mean().heads == ("mean",)
    assert hand_made.max().heads == ("max",)


def test_special_tokens_can_be_hidden_as_they_are_or_renormalized(hand_made):
    hidden = hand_made.without_special()
    assert hidden.keys.labels == ("x", "y")
    assert_allclose(hidden.pattern[0, 0], [[0.5, 0.3], [0.1, 0.2], [0.3, 0.6]], atol=1e-6)
    renormalized = hand_made.without_special(renormalize=True)
    assert_allclose(renormalized.pattern[0, 0], [[5 / 8, 3 / 8], [1 / 3, 2 / 3], [1 / 3, 2 / 3]], atol=1e-6)


def test_a_row_with_nothing_left_stays_zero_when_renormalized():
    only_end = attention([[[[0.0, 1.0]]]], tokens("a"), tokens("x", "</s>", special=[False, True]))
    assert_allclose(only_end.without_special(renormalize=True).pattern[0, 0], [[0.0]])


def test_hiding_special_tokens_keeps_the_tokens_read_beside_their_rows():
    end = tokens("y", "</s>", special=[False, True])
    shown = Attention(
        "decoder",
        np.full((1, 1, 2, 2), 0.5, np.float32),
        None,
        np.tri(2, dtype=bool),
        queries=end,
        keys=tokens("<s>", "y", special=[True, False]),
        read=tokens("<s>", "y", special=[True, False]),
    ).without_special()
    assert (shown.queries.labels, shown.keys.labels) == (("y",), ("y",))
    assert shown.read is not None
    assert shown.read.labels == ("<s>",)


def test_frame_has_one_row_a_cell_with_query_and_key_not_swapped(hand_made):
    frame = hand_made.to_frame()
    assert len(frame) == 2 * 3 * 3
    cell = frame[(frame["head"] == "0") & (frame["query"] == "b") & (frame["key"] == "</s>")].iloc[0]
    assert cell["weight"] == pytest.approx(0.7)
    assert (cell["query_position"], cell["key_position"]) == (1, 2)
    assert cell["score"] == pytest.approx(np.log(1.7))


def test_labels_that_do_not_fit_the_pattern_are_refused():
    with pytest.raises(ValueError, match=r"cross: .*\(1, 1, 1, 2\).* 2 queries and 2 keys"):
        attention([[[[0.5, 0.5]]]], tokens("a", "b"), tokens("x", "y"))
