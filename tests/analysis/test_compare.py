"""Heads of two models beside each other: divergence, and the assignment that finds a permuted copy."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.analysis.hand_made import tokens
from transformer.analysis.attention import Attention
from transformer.analysis.compare import (
    Match,
    aligned,
    apart_from,
    assignment,
    best_matches,
    by_index,
    divergences,
    partners,
    ranked,
)

LN_2 = np.log(2)


def attention(pattern: np.ndarray, kind: str = "cross") -> Attention:
    n_query, n_key = pattern.shape[2:]
    queries, keys = (tokens(*(f"{side}{i}" for i in range(n))) for side, n in (("q", n_query), ("k", n_key)))
    return Attention(kind, pattern.astype(np.float32), None, np.ones((n_query, n_key), bool), queries, keys)


def random_attention(n_layers: int = 2, n_heads: int = 3, seed: int = 0, sharpness: float = 4) -> Attention:
    weights = np.exp(sharpness * np.random.default_rng(seed).standard_normal((n_layers, n_heads, 4, 5)))
    return attention(weights / weights.sum(-1, keepdims=True))


def test_divergence_by_hand():
    """(1, 0) and (½, ½): ½ KL((1, 0) ‖ (¾, ¼)) + ½ KL((½, ½) ‖ (¾, ¼)); (1, 0) and (0, 1) share no key."""
    one = attention(np.array([[[[1.0, 0], [1, 0]]]]))
    other = attention(np.array([[[[0.5, 0.5], [0, 1]]]]))
    first = 0.5 * np.log(4 / 3) + 0.5 * (0.5 * np.log(2 / 3) + 0.5 * np.log(2))
    assert divergences(one, other)[0, 0, 0, 0] == pytest.approx((first + LN_2) / 2)


def test_heads_of_one_model_by_hand():
    """Heads 0 and 1 share no key; head 2 is the mean of both, so that half of its weight is shared with each."""
    one = attention(np.array([[[[1.0, 0]], [[0, 1]], [[0.5, 0.5]]]]))
    half = (-0.75 * np.log(0.75) - 0.25 * np.log(0.25)) - LN_2 / 2
    expected = [[0, LN_2, half], [LN_2, 0, half], [half, half, 0]]
    assert_allclose(divergences(one, one)[0, :, 0, :], expected, atol=1e-12)


def test_it_is_0_with_itself_symmetric_and_at_most_ln_2():
    one, other = random_attention(seed=1), random_attention(3, 2, seed=2)
    both = divergences(one, other)
    assert both.shape == (2, 3, 3, 2)
    assert_allclose(both, divergences(other, one).transpose(2, 3, 0, 1), atol=1e-12)
    assert (both >= 0).all()
    assert (both <= LN_2).all()
    assert_allclose(by_index(divergences(one, one)), 0, atol=1e-9)


def test_what_shares_no_key_is_ln_2_away():
    one = attention(np.array([[[[1.0, 0, 0]]]]))
    other = attention(np.array([[[[0, 0.5, 0.5]]]]))
    assert divergences(one, other).item() == pytest.approx(LN_2)


def test_queries_that_see_nothing_count_in_none():
    one = attention(np.array([[[[1.0, 0], [0, 0]]]]))
    other = attention(np.array([[[[1.0, 0], [0, 1]]]]))
    assert divergences(one, other).item() == pytest.approx(0)
    nothing = attention(np.zeros((1, 1, 2, 2)))
    assert np.isnan(divergences(one, nothing)).all()
    (match,) = best_matches(divergences(one, nothing))
    assert np.isnan(match.divergence), "what was not measured is no ln 2"


def test_other_lengths_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"^Patterns of 4 × 5 and 4 × 2 queries and keys do not compare .*\.$"):
        divergences(random_attention(), attention(np.full((1, 1, 4, 2), 0.5)))


def test_by_index_is_nan_where_the_other_has_no_such_head():
    found = by_index(divergences(random_attention(3, 2), random_attention(2, 4)))
    assert np.isnan(found[2]).all()
    assert np.isfinite(found[:2]).all()


def test_matching_recovers_a_permuted_copy():
    one = random_attention(3, 4)
    order = np.random.default_rng(3).permutation(12)
    shuffled = one.pattern.reshape(12, 4, 5)[order].reshape(3, 4, 4, 5)
    noise = np.random.default_rng(4).dirichlet(np.ones(5), (3, 4, 4)).astype(np.float32)
    other = replace(one, pattern=0.95 * shuffled + 0.05 * noise)
    matches = best_matches(divergences(one, other))
    assert [match.one for match in matches] == [divmod(index, 4) for index in range(12)]
    assert [match.other for match in matches] == [divmod(int(np.flatnonzero(order == i)[0]), 4) for i in range(12)]
    assert all(match.divergence < 0.1 for match in matches)


@pytest.mark.parametrize("shape", [(1, 2, 2, 3), (2, 3, 1, 2)])
def test_the_smaller_model_is_matched_whole(shape: tuple[int, int, int, int]):
    one, other = random_attention(*shape[:2]), random_attention(*shape[2:], seed=5)
    matches = best_matches(divergences(one, other))
    assert len(matches) == min(shape[0] * shape[1], shape[2] * shape[3])
    assert len({match.one for match in matches}) == len({match.other for match in matches}) == len(matches)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 10_000), st.booleans())
def test_the_assignment_is_the_cheapest_there_is(n_rows: int, n_columns: int, seed: int, ties: bool):
    random = np.random.default_rng(seed)
    cost = random.integers(0, 3, (n_rows, n_columns)).astype(float) if ties else random.random((n_rows, n_columns))
    pairs = assignment(cost)
    n = min(n_rows, n_columns)
    assert len(pairs) == len({row for row, _ in pairs}) == len({column for _, column in pairs}) == n
    assert pairs == sorted(pairs)
    found = sum(cost[pair] for pair in pairs)
    tall = cost if n_rows <= n_columns else cost.T
    cheapest = min(
        sum(tall[row, column] for row, column in enumerate(columns))
        for columns in itertools.permutations(range(max(n_rows, n_columns)), n)
    )
    assert found == pytest.approx(cheapest)


def cut(*pieces: str, words: tuple[int, ...]):
    """Tokens whose pieces make words: "▁a" begins one."""
    return replace(tokens(*(piece.removeprefix("▁") for piece in pieces)), pieces=pieces, words=words)


def test_the_same_tokens_are_compared_as_they_are():
    three = [random_attention(seed=seed) for seed in range(3)]
    found = aligned(three)
    assert (found.attentions, found.compares, found.on_words) == (tuple(three), (True, True, True), False)


def test_tokenizers_that_differ_are_compared_on_words():
    query = cut("▁q", words=(0,))
    whole = replace(attention(np.full((1, 1, 1, 2), 0.5)), keys=cut("▁ab", "▁c", words=(0, 1)), queries=query)
    pieces = replace(
        attention(np.array([[[[0.25, 0.25, 0.5]]]])), keys=cut("▁a", "b", "▁c", words=(0, 0, 1)), queries=query
    )
    found = aligned([whole, pieces, whole])
    assert (found.compares, found.on_words) == ((True, True, True), True)
    assert [one.keys.labels for one in found.attentions] == [("ab", "c")] * 3
    assert divergences(*found.attentions[:2]).item() == pytest.approx(0)


def test_other_words_compare_with_none_and_stay_as_they_are():
    """The third is of other words; that the second is cut otherwise brings it to words all the same."""
    query = cut("▁q", words=(0,))
    whole = replace(attention(np.full((1, 1, 1, 2), 0.5)), keys=cut("▁ab", "▁c", words=(0, 1)), queries=query)
    pieces = replace(attention(np.full((1, 1, 1, 3), 1 / 3)), keys=cut("▁a", "b", "▁c", words=(0, 0, 1)), queries=query)
    elsewhere = replace(attention(np.full((1, 1, 1, 2), 0.5)), keys=cut("▁x", "y", words=(0, 0)), queries=query)
    assert aligned([whole, pieces, elsewhere]).compares == (True, True, False)
    assert aligned([whole, pieces, elsewhere]).attentions[2] is elsewhere
    alone = aligned([pieces, elsewhere])
    assert (alone.attentions, alone.compares, alone.on_words) == ((pieces, elsewhere), (True, False), False)


def test_matched_divergences_stand_where_the_first_models_heads_do():
    pairs = divergences(random_attention(1, 3), random_attention(1, 2, seed=5))
    matches = best_matches(pairs)
    apart = apart_from(pairs, matches)
    assert int(np.isnan(apart).sum()) == 1, "the head that nobody is left for"
    assert all(apart[match.one] == pairs[*match.one, *match.other] for match in matches)
    assert_allclose(apart_from(pairs, None), by_index(pairs))


def test_heads_are_ranked_by_their_mean_and_those_without_a_partner_are_left_out():
    one, other = np.array([[0.1, 0.3, np.nan]]), np.array([[0.5, np.nan, np.nan]])
    assert ranked([one, other]) == [((0, 0), pytest.approx(0.3)), ((0, 1), pytest.approx(0.3))]
    assert ranked([one]) == [((0, 1), 0.3), ((0, 0), 0.1)]


def test_by_place_a_head_opens_in_all_that_have_one_there():
    shapes = [(3, 4), (3, 4), (2, 8), (1, 1)]
    assert partners((0, (1, 3)), shapes, [None] * 4) == [(1, 3), (1, 3), (1, 3), None]
    assert partners((2, (1, 7)), shapes, [None] * 4) == [None, None, (1, 7), None], "opened where only one has it"
    assert partners((3, (0, 0)), shapes, [None] * 4) == [(0, 0)] * 4


def test_matched_heads_open_with_the_first_models_between_them():
    """The first has 1 × 2 heads, the second 1 × 3, of which the last is left over; the third has one head."""
    second = [Match((0, 0), (0, 1), 0.1), Match((0, 1), (0, 0), 0.2)]
    third = [Match((0, 1), (0, 0), 0.3)]
    shapes, matches = [(1, 2), (1, 3), (1, 1)], [None, second, third]
    assert partners((0, (0, 0)), shapes, matches) == [(0, 0), (0, 1), None]
    assert partners((1, (0, 0)), shapes, matches) == [(0, 1), (0, 0), (0, 0)]
    assert partners((1, (0, 2)), shapes, matches) == [None, (0, 2), None]
    assert partners((2, (0, 0)), shapes, matches) == [(0, 1), (0, 0), (0, 0)]
