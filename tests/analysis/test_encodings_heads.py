"""The map that moves positions, the head built by hand, attention by distance, and visits to positions."""

import numpy as np
import pytest

from transformer.analysis.attention import Attention, Tokens
from transformer.analysis.distance import by_distance
from transformer.analysis.encodings import sinusoidal
from transformer.analysis.hand_built import even_pattern, hand_built_pattern, nearest_heads, weight_at
from transformer.analysis.shift_map import RIDGES, fit_shift, held_out_positions
from transformer.analysis.visits import corpus_visits, n_visited, position_visits
from transformer.text.corpora import Corpus
from transformer.text.tokenizer import Tokenizer


def attention(pattern: np.ndarray, kind: str = "encoder") -> Attention:
    """One layer and one head of it, over unnamed tokens."""
    n = pattern.shape[-1]
    tokens = Tokens(("a",) * n, ("a",) * n, tuple(range(n)), (False,) * n)
    mask = np.tri(n, dtype=bool) if kind == "decoder" else np.ones((n, n), bool)
    return Attention(kind, pattern[None, None].astype(np.float32), None, mask, tokens, tokens)


@pytest.mark.parametrize("k", [1, 5, -3])
def test_sinusoids_have_a_map_and_it_holds_on_positions_left_out(k: int):
    found = fit_shift(sinusoidal(200, 16), k)
    assert found.held_out < 1e-6
    assert found.fitted < 1e-6
    assert found.identity > 0.1
    assert found.n_fitted + found.n_held_out == 200 - abs(k)


def test_noise_fits_well_and_fails_on_positions_left_out():
    """What the page warns of: with more dimensions than rows any table can be mapped onto any other."""
    noise = np.random.default_rng(0).normal(size=(26, 128))
    found = fit_shift(noise, 1)
    assert found.held_out > 0.9
    assert found.identity > 1.5


def test_no_position_held_out_is_in_the_fit():
    """Rows held out may hold anything without changing the map."""
    table = sinusoidal(40, 8)
    changed = table.copy()
    changed[held_out_positions(40)] = 99
    assert np.array_equal(fit_shift(table, 3).matrix, fit_shift(changed, 3).matrix)


@pytest.mark.parametrize("d_model", [3, 20])
def test_the_ridge_is_the_one_that_predicts_pairs_left_out_best(d_model: int):
    """Pair by pair, each fitted anew without it; more dimensions than pairs, and fewer."""
    table = np.random.default_rng(0).normal(size=(20, d_model)).cumsum(0)
    kept = ~held_out_positions(20)
    x, y = table[:-1][kept[:-1] & kept[1:]], table[1:][kept[:-1] & kept[1:]]
    errors = {}
    for ridge in RIDGES * np.square(x).sum(1).mean():
        left_out = []
        for rest in ~np.eye(len(x), dtype=bool):
            weight = np.linalg.solve(x[rest].T @ x[rest] + ridge * np.eye(d_model), x[rest].T @ y[rest])
            left_out.append(y[~rest] - x[~rest] @ weight)
        errors[ridge] = np.square(left_out).sum()
    found = fit_shift(table, 1)
    assert found.ridge == pytest.approx(min(errors, key=errors.__getitem__))
    expected = np.linalg.solve(x.T @ x + found.ridge * np.eye(d_model), x.T @ y).T
    assert found.matrix == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 1), (20, 19), (20, 50), (0, 1)])
def test_too_few_rows_for_a_map_are_refused_in_a_sentence(n: int, k: int):
    with pytest.raises(ValueError, match=rf"^{n} positions leave .* at least 3 and 1 are needed\.$"):
        fit_shift(np.ones((n, 4)), k)


@pytest.mark.parametrize("k", [-4, -1, 0, 1, 7])
def test_the_hand_built_heads_band_stands_at_k(k: int):
    pattern = hand_built_pattern(30, 128, k, sharpness=4)
    rows = np.arange(max(0, -k), min(30, 30 - k))
    assert (pattern.argmax(-1)[rows] == rows + k).all()
    assert pattern.sum(-1) == pytest.approx(np.ones(30))
    assert weight_at(pattern, k) > 0.4
    assert weight_at(pattern, k) > weight_at(hand_built_pattern(30, 128, k), k)


def test_a_causal_hand_built_head_sees_nothing_after_itself():
    pattern = hand_built_pattern(6, 16, -1, sharpness=8, causal=True)
    assert np.array_equal(np.triu(pattern, 1), np.zeros((6, 6)))
    assert pattern[0, 0] == 1


def test_weight_at_by_hand():
    pattern = np.array([[0.1, 0.9, 0], [0.2, 0.2, 0.6], [1, 0, 0]])
    assert weight_at(pattern, 1) == pytest.approx(0.75)
    assert weight_at(pattern, -2) == 1
    assert np.isnan(weight_at(pattern, 3))
    assert weight_at(np.stack([pattern, pattern]), 0).tolist() == pytest.approx([0.1, 0.1])
    assert np.isnan(weight_at(pattern, 1, np.tri(3, dtype=bool)))


def test_nearest_heads_by_hand():
    """Of three heads the second looks one on, the first two on; only queries that have a next key count."""
    ahead = np.eye(4, k=1)
    heads = np.stack([np.eye(4, k=2), ahead, np.full((4, 4), 0.25)])[None]
    heads[..., 3, :] = 0.25
    found = nearest_heads(heads, ahead, 1)
    assert [(match.layer, match.head) for match in found] == [(0, 1), (0, 2), (0, 0)]
    assert [match.overlap for match in found] == [1, 0.25, 0]
    assert [match.on_band for match in found] == [1, 0.25, 0]
    assert nearest_heads(heads, ahead, 4) == []


def test_attention_by_distance_by_hand():
    first = np.array([[0.5, 0.5], [0.0, 1.0]])
    second = np.array([[0.2, 0.3, 0.5], [0.1, 0.6, 0.3], [0.7, 0.1, 0.2]])
    found = by_distance([attention(first), attention(second)], furthest=3)
    assert found.distances.tolist() == [-3, -2, -1, 0, 1, 2, 3]
    assert found.cells.tolist() == [0, 1, 3, 5, 3, 1, 0]
    expected = [np.nan, 0.7, (0 + 0.1 + 0.1) / 3, (0.5 + 1 + 0.2 + 0.6 + 0.2) / 5, (0.5 + 0.3 + 0.3) / 3, 0.5, np.nan]
    assert found.weight[0, 0].tolist() == pytest.approx(expected, nan_ok=True, abs=1e-6)
    assert found.even[3] == pytest.approx((0.5 + 0.5 + 1) / 5)
    assert found.n_sentences == 2


def test_attention_by_distance_in_a_decoder_counts_only_what_may_be_seen():
    found = by_distance([attention(np.array([[1.0, 0], [0.5, 0.5]]), "decoder")], furthest=1)
    assert found.cells.tolist() == [1, 2, 0]
    assert found.weight[0, 0].tolist() == pytest.approx([0.5, 0.75, np.nan], nan_ok=True)
    assert found.even.tolist() == pytest.approx([0.5, 0.75, np.nan], nan_ok=True)


def test_attention_by_distance_refuses_cross_attention_and_nothing():
    with pytest.raises(ValueError, match="joins two sentences"):
        by_distance([attention(np.eye(2), "cross")])
    with pytest.raises(ValueError, match="at least one sentence"):
        by_distance([])


def test_an_even_pattern_leaves_wholly_masked_rows_at_zero():
    assert even_pattern(np.array([[True, True], [False, False]])).tolist() == [[0.5, 0.5], [0, 0]]


def test_position_visits_by_hand():
    """Of lengths 1, 3, 3 and 9, all four reach position 0 and three reach positions 1 and 2."""
    assert position_visits([1, 3, 3, 9], 5).tolist() == [4, 3, 3, 1, 1]
    assert position_visits([], 2).tolist() == [0, 0]


def test_corpus_visits_leave_out_pairs_that_training_leaves_out():
    words = ["red", "green", "blue", "big", "small", "a b c d e f g h i j k l m n o p q r s t u v w x y z"]
    tokenizer = Tokenizer.train(words * 3, 300)
    splits = {"train": [("a", "a"), ("a" * 50, "a")], "validation": [], "test": []}
    corpus = Corpus("own", "", "", 0, ("a", "b"), splits)
    length = len(tokenizer.encode("a")) + 1
    assert corpus_visits(corpus, tokenizer, 20).tolist() == [2] * length + [0] * (20 - length)


def test_rows_hardly_ever_visited_are_left_out():
    assert n_visited(np.array([1000, 900, 11, 9, 0])) == 3
    assert n_visited(np.array([5, 1, 0])) == 2
    assert n_visited(np.array([], np.int64)) == 0
