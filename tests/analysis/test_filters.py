"""Filters on hand-made patterns of which no two cells are alike, so that nothing could be transposed unseen."""

from dataclasses import replace

import numpy as np
import pytest

from tests.analysis.hand_made import asymmetric, tokens
from transformer.analysis.attention import Attention
from transformer.analysis.filters import Filters, above, by_norm, select, strongest
from transformer.analysis.trace import Trace, Translation


def made(pattern, queries=("q0", "q1"), keys=("k0", "k1", "k2"), mask=None, kind="cross") -> Attention:
    weights = np.array(pattern, np.float32)
    while weights.ndim < 4:
        weights = weights[None]
    allowed = np.ones(weights.shape[2:], bool) if mask is None else np.array(mask)
    return Attention(kind, weights, None, allowed, tokens(*queries), tokens(*keys))


ROWS = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]


def test_a_threshold_sets_smaller_weights_to_0_and_keeps_the_weight_that_equals_it():
    assert above(made([[0.5, 0.25, 0.125], [0.0625, 0.25, 0.6875]]), 0.25).pattern[0, 0].tolist() == [
        [0.5, 0.25, 0],
        [0, 0.25, 0.6875],
    ]


def test_the_largest_of_each_row_are_by_query_not_by_key():
    assert np.allclose(strongest(made(ROWS), 1).pattern[0, 0], [[0.5, 0, 0], [0, 0, 0.7]])
    assert np.allclose(strongest(made(ROWS), 2).pattern[0, 0], [[0.5, 0.3, 0], [0, 0.2, 0.7]])


def test_weights_that_tie_stay_together():
    tied = made([[0.4, 0.3, 0.3], [1, 0, 0]])
    assert np.allclose(strongest(tied, 2).pattern[0, 0], [[0.4, 0.3, 0.3], [1, 0, 0]])


def test_as_many_keys_as_there_are_change_nothing():
    assert strongest(made(ROWS), 3).pattern.tolist() == made(ROWS).pattern.tolist()
    assert strongest(made(ROWS), 9).pattern.tolist() == made(ROWS).pattern.tolist()
    with pytest.raises(ValueError, match="k is 0; allowed is 1 or more"):
        strongest(made(ROWS), 0)


def test_what_is_not_a_number_is_never_filtered_away():
    broken = made([[np.nan, 0.1, 0.2], [0.1, 0.2, 0.7]])
    for filtered in (above(broken, 0.5), strongest(broken, 1)):
        assert np.isnan(filtered.pattern[0, 0, 0, 0])
        assert np.allclose(filtered.pattern[0, 0, 1], [0, 0, 0.7])


def test_masked_cells_stay_masked():
    causal = made([[1, 0, 0], [0.25, 0.75, 0]], mask=[[True, False, False], [True, True, False]], kind="decoder")
    for filtered in (above(causal, 0.5), strongest(causal, 1)):
        assert filtered.mask.tolist() == causal.mask.tolist()
        assert not filtered.pattern[..., ~filtered.mask].any()


def test_norms_weigh_keys_and_rows_become_shares():
    norms = np.array([[[1, 2, 10]]], np.float32)
    # 0.5·1, 0.3·2, 0.2·10 = 0.5, 0.6, 2 of 3.1; 0.1·1, 0.2·2, 0.7·10 = 0.1, 0.4, 7 of 7.5.
    wanted = [[0.5 / 3.1, 0.6 / 3.1, 2 / 3.1], [0.1 / 7.5, 0.4 / 7.5, 7 / 7.5]]
    assert np.allclose(by_norm(made(ROWS), norms).pattern[0, 0], wanted)
    assert by_norm(made(ROWS), norms).pattern.dtype == np.float32


def test_a_key_without_a_vector_gives_nothing_and_a_row_of_0_stays():
    shared = by_norm(made([[0, 0, 0], [0.5, 0.5, 0]]), np.array([[[0, 3, 1]]], np.float32))
    assert shared.pattern[0, 0].tolist() == [[0, 0, 0], [0, 1, 0]]


def test_norms_of_another_sentence_are_refused():
    with pytest.raises(ValueError, match=r"norms of shape \(1, 1, 4\) were given for 1 layers, 1 heads and 3 keys"):
        by_norm(made(ROWS), np.ones((1, 1, 4), np.float32))


def test_layers_and_heads_are_chosen_by_name_and_keep_their_own():
    chosen = select(asymmetric(), ("1",), ("2", "0"))
    assert (chosen.layers, chosen.heads) == (("1",), ("0", "2"))
    assert np.array_equal(chosen.pattern[0, 1], asymmetric().pattern[1, 2])
    assert chosen.scores is not None
    assert np.array_equal(chosen.scores[0, 0], asymmetric().scores[1, 0])
    assert np.array_equal(select(asymmetric()).pattern, asymmetric().pattern)
    with pytest.raises(ValueError, match="There is no head 7; cross has 0, 1, 2"):
        select(asymmetric(), heads=("7",))


def test_nothing_asked_for_changes_nothing():
    untouched = asymmetric()
    assert Filters().of(untouched) is untouched
    assert str(Filters()) == ""
    assert repr(Filters()) == "Filters()"


def test_special_tokens_go_with_or_without_their_share():
    ended = made([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]], keys=("k0", "k1", "</s>"))
    assert Filters(hide_special=True).of(ended).pattern[0, 0].tolist() == [[0.5, 0.25], [0.125, 0.125]]
    renormalized = Filters(hide_special=True, renormalize=True).of(ended).pattern[0, 0]
    assert np.allclose(renormalized, [[2 / 3, 1 / 3], [0.5, 0.5]])


def test_words_are_merged_before_small_weights_go():
    keys = replace(tokens("k0", "k1", "k2"), words=(0, 1, 1), pieces=("▁a", "▁b", "c"))
    merged = replace(made([[0.5, 0.25, 0.25], [0.75, 0.125, 0.125]]), keys=keys)
    assert Filters(words=True, threshold=0.3).of(merged).pattern[0, 0].tolist() == [[0.5, 0.5], [0.75, 0]]
    assert Filters(words=True, top_k=1).of(merged).pattern[0, 0].tolist() == [[0.5, 0.5], [0.75, 0]]


def test_a_summary_is_over_the_heads_that_are_kept():
    heads = made([[ROWS, [[0.1, 0.9, 0], [1, 0, 0]], [[0, 0, 1], [0, 0, 1]]]])
    assert np.allclose(
        Filters(heads=("0", "1"), summary="mean").of(heads).pattern[0, 0], [[0.3, 0.6, 0.1], [0.55, 0.1, 0.35]]
    )
    assert np.allclose(
        Filters(heads=("0", "1"), summary="max").of(heads).pattern[0, 0], [[0.5, 0.9, 0.2], [1, 0.2, 0.7]]
    )


def pair() -> Trace:
    """Two heads in one layer on each side; queries, keys and heads all differ."""
    words, written, read = tokens("a", "</s>"), tokens("x", "y", "</s>"), tokens("<s>", "x", "y")
    encoder = made([[[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.1, 0.9]]]], ("a", "</s>"), ("a", "</s>"), kind="encoder")
    causal = np.tri(3, dtype=bool)
    decoder = Attention(
        "decoder", np.array([[[[1, 0, 0], [0.4, 0.6, 0], [0.2, 0.3, 0.5]]] * 2], np.float32), None, causal, written,
        read, read,
    )  # fmt: skip
    cross = Attention(
        "cross", np.array([[[[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]], [[0, 1], [1, 0], [0.5, 0.5]]]], np.float32), None,
        np.ones((3, 2), bool), written, words, read,
    )  # fmt: skip
    return Trace("m", 1, "a", Translation("x y", True, (-1.0, -1.0, -1.0), -1.0), encoder, decoder, cross)


def test_rollout_goes_through_all_tokens_before_special_ones_are_hidden():
    rolled = pair().rollout()["cross"]
    hidden = Filters(summary="rollout", hide_special=True).apply(pair(), "cross")
    assert hidden.pattern[0, 0].shape == (2, 1)
    assert np.allclose(hidden.pattern[0, 0, :, 0], rolled.pattern[0, 0, :2, 0])
    assert hidden.heads == ("rollout",)


def test_rollout_is_of_the_heads_that_are_kept():
    one_head = Filters(summary="rollout", heads=("1",)).apply(pair(), "encoder").pattern[0, 0]
    assert np.allclose(one_head, [[0.75, 0.25], [0.05, 0.95]])


def test_rollout_of_shares_by_norm():
    norms = {kind: np.ones((1, 2, n_key), np.float32) for kind, n_key in (("encoder", 2), ("decoder", 3), ("cross", 2))}
    even = Filters(weighting="norm", summary="rollout").apply(pair(), "cross", norms).pattern
    assert np.allclose(even, pair().rollout()["cross"].pattern, atol=1e-6)
    norms["cross"][..., 1] = 0
    one_key = Filters(weighting="norm", summary="rollout").apply(pair(), "cross", norms).pattern
    assert not np.allclose(one_key, even)


def test_what_a_filter_needs_is_said_in_one_sentence():
    with pytest.raises(ValueError, match="value_norms measures them"):
        Filters(weighting="norm").apply(pair(), "encoder")
    with pytest.raises(ValueError, match="Rollout needs a trace"):
        Filters(summary="rollout").of(pair().encoder)


def test_it_says_what_was_done_and_the_python_that_does_it():
    filters = Filters(words=True, summary="max", threshold=0.05, top_k=2, heads=("0", "3"), hide_special=True)
    assert str(filters) == (
        "heads 0, 3, without special tokens, rows summing to less than 1, words, max over heads, "
        "weights from 0.05 on, the largest 2 of a row"
    )
    assert repr(filters) == (
        "Filters(heads=('0', '3'), hide_special=True, words=True, summary='max', threshold=0.05, top_k=2)"
    )
    assert eval(repr(filters)) == filters
