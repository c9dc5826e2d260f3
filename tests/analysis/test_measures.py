"""Measures, against small patterns worked out by hand, and laws that hold for every pattern."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from transformer.analysis.attention import Attention, Tokens
from transformer.analysis.measures import MEASURES, NEAR_UNIFORM

SHARES = (
    "relative entropy", "largest weight", "previous token", "same token", "next token", "first token",
    "end of sentence", "punctuation", "diagonal", "anti-diagonal",
)  # fmt: skip


def tokens(labels: str) -> Tokens:
    pieces = tuple(labels.split())
    return Tokens(pieces, pieces, tuple(range(len(pieces))), tuple(piece in ("<s>", "</s>") for piece in pieces))


def attention(kind, pattern, queries: str, keys: str, read: str | None = None) -> Attention:
    pattern = np.array(pattern, np.float32)
    n_query, n_key = pattern.shape[2:]
    mask = np.tri(n_query, dtype=bool) if kind == "decoder" else np.ones((n_query, n_key), bool)
    return Attention(kind, pattern, None, mask, tokens(queries), tokens(keys), tokens(read) if read else None)


def measured(name: str, attention: Attention) -> float:
    return float(MEASURES[name](attention)[0, 0])


@pytest.fixture
def encoder() -> Attention:
    """One head over `a . </s>`."""
    return attention("encoder", [[[[0.5, 0.5, 0], [0.25, 0.25, 0.5], [0, 0, 1]]]], "a . </s>", "a . </s>")


@pytest.fixture
def decoder() -> Attention:
    """One head that reads `<s> x y` and writes `x y </s>`."""
    return attention("decoder", [[[[1, 0, 0], [0.4, 0.6, 0], [0.1, 0.7, 0.2]]]], "x y </s>", "<s> x y", "<s> x y")


@pytest.fixture
def cross() -> Attention:
    """Two heads: the first attends along the diagonal, the second along the anti-diagonal; both a little to </s>."""
    line = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
    other = [[0.1, 0.8, 0.1], [0.8, 0.1, 0.1], [0.2, 0.2, 0.6]]
    return attention("cross", [[line, other]], "x y </s>", "a b </s>")


def test_entropy_by_hand(encoder):
    """Rows of ln 2, 1.5 ln 2 and 0, of at most ln 3."""
    assert measured("entropy", encoder) == pytest.approx(2.5 * log(2) / 3)
    assert measured("relative entropy", encoder) == pytest.approx(2.5 * log(2) / 3 / log(3))
    assert measured("largest weight", encoder) == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_relative_entropy_leaves_out_a_query_without_a_choice(decoder):
    second = -(0.4 * log(0.4) + 0.6 * log(0.6)) / log(2)
    third = -(0.1 * log(0.1) + 0.7 * log(0.7) + 0.2 * log(0.2)) / log(3)
    assert measured("relative entropy", decoder) == pytest.approx((second + third) / 2)


def test_distances_by_hand(encoder, decoder):
    assert measured("distance", encoder) == pytest.approx((0.5 + 0.25 + 0) / 3)
    assert measured("absolute distance", encoder) == pytest.approx((0.5 + 0.75 + 0) / 3)
    assert measured("distance", decoder) == pytest.approx((0 - 0.4 - 0.9) / 3)


def test_neighbours_by_hand(encoder, decoder):
    assert measured("previous token", encoder) == pytest.approx((0.25 + 0) / 2)
    assert measured("same token", encoder) == pytest.approx((0.5 + 0.25 + 1) / 3)
    assert measured("next token", encoder) == pytest.approx((0.5 + 0.5) / 2)
    assert measured("previous token", decoder) == pytest.approx((0.4 + 0.7) / 2)
    assert measured("same token", decoder) == pytest.approx((1 + 0.6 + 0.2) / 3)
    assert np.isnan(measured("next token", decoder))


def test_the_decoder_keeps_its_places_when_special_tokens_are_hidden(decoder):
    """Row `y` read `x`; row `x` read <s>, which is hidden, and attends to nothing."""
    hidden = decoder.without_special()
    assert measured("same token", hidden) == pytest.approx(0.6)
    assert measured("distance", hidden) == pytest.approx(0)


def test_shares_by_hand(encoder, decoder):
    assert measured("first token", encoder) == pytest.approx(0.75 / 3)
    assert measured("first token", decoder) == pytest.approx((0.4 + 0.1) / 2)
    assert measured("end of sentence", encoder) == pytest.approx((0 + 0.5 + 1) / 3)
    assert measured("punctuation", encoder) == pytest.approx((0.5 + 0.25 + 0) / 3)
    assert np.isnan(measured("end of sentence", decoder))
    assert np.isnan(measured("punctuation", decoder))


def test_a_share_of_all_that_a_query_may_see_says_nothing():
    """The first query sees two marks and nothing else."""
    dots = attention("cross", [[[[0.5, 0.5, 0], [0.2, 0.2, 0.6]]]], "q r", ". . a")
    masked = replace(dots, mask=np.array([[True, True, False], [True, True, True]]))
    assert measured("punctuation", masked) == pytest.approx(0.4)
    assert np.isnan(measured("punctuation", attention("cross", [[[[0.5, 0.5]]]], "q", ". !")))


def test_punctuation_is_a_word_of_its_own():
    """The hyphen of `x-y` and the later bytes of a character, which read ·, are none."""
    pieces, labels = ("▁x", "-", "y", ".", "<0xC3>", "<0xB6>"), ("x", "-", "y", ".", "ö", "·")
    keys = Tokens(pieces, labels, (0, 0, 0, 1, 2, 2), (False,) * 6)
    uneven = np.array([[[[0.1, 0.2, 0.1, 0.3, 0.1, 0.2]]]], np.float32)
    shown = Attention("cross", uneven, None, np.ones((1, 6), bool), tokens("q"), keys)
    assert measured("punctuation", shown) == pytest.approx(0.3)


def test_diagonals_by_hand(cross):
    assert_allclose(MEASURES["diagonal"](cross), [[0.8, 0.1]], atol=1e-6)
    assert_allclose(MEASURES["anti-diagonal"](cross), [[0.1, 0.8]], atol=1e-6)


def test_the_diagonal_of_an_oblong_pattern_runs_from_corner_to_corner():
    """Two queries on three keys: the ends; three on two: the middle one lies between both."""
    wide = attention("cross", [[[[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]]], "x y", "a b c")
    assert measured("diagonal", wide) == pytest.approx((0.5 + 0.7) / 2)
    tall = attention("cross", [[[[0.6, 0.4], [0.2, 0.8], [0.7, 0.3]]]], "x y z", "a b")
    assert measured("diagonal", tall) == pytest.approx((0.6 + 1 + 0.3) / 3)
    assert measured("anti-diagonal", tall) == pytest.approx((0.4 + 1 + 0.7) / 3)


def test_a_query_has_no_place_among_the_keys_of_another_sentence(cross):
    for name in ("distance", "absolute distance", "previous token", "same token", "next token"):
        assert np.isnan(MEASURES[name](cross)).all(), name


def test_near_uniform_needs_nearly_equal_weights():
    heads = [[[0.25, 0.25, 0.25, 0.25]], [[0.3, 0.3, 0.2, 0.2]], [[0.7, 0.1, 0.1, 0.1]]]
    found = MEASURES["relative entropy"](attention("cross", [heads], "q", "a b c d"))
    assert (found >= NEAR_UNIFORM).tolist() == [[True, True, False]]
    assert np.isnan(measured("relative entropy", attention("cross", [[[[1.0]]]], "q", "a"))), "one key is no choice"


def test_every_measure_says_what_it_means():
    for name, measure in MEASURES.items():
        assert len(measure.__doc__ or "") > 40, name


def test_nan_is_not_hidden():
    """A broken head is seen as broken, in its own place only."""
    broken = attention("encoder", [[[[np.nan, 1], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]]], "a b", "a b")
    for name in ("entropy", "largest weight", "distance", "same token", "first token"):
        assert np.isnan(MEASURES[name](broken)).tolist() == [[True, False]], name


def test_nothing_to_measure_is_nan():
    nothing = attention("encoder", np.zeros((2, 3, 0, 0)), "", "")
    for name, measure in MEASURES.items():
        assert measure(nothing).shape == (2, 3), name
        assert np.isnan(measure(nothing)).all(), name


@st.composite
def attentions(draw) -> Attention:
    kind = draw(st.sampled_from(("encoder", "decoder", "cross")))
    n_query = draw(st.integers(1, 5))
    n_key = draw(st.integers(1, 5)) if kind == "cross" else n_query
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 3)), n_query, n_key)
    weights = draw(arrays(np.float32, shape, elements=st.floats(0, 1, width=32)))
    names = st.lists(st.sampled_from(("a", "b", ".", "</s>")), min_size=n_key, max_size=n_key)
    keys = " ".join(draw(names))
    shown = attention(kind, weights, " ".join("q" * n_query), keys)
    weights = np.where(shown.mask, weights + 1e-3, 0)
    weights /= weights.sum(-1, keepdims=True)
    return attention(kind, weights, " ".join("q" * n_query), keys)


@given(attentions())
def test_bounds(attention):
    n_key = len(attention.keys)
    for name, measure in MEASURES.items():
        values = measure(attention)
        assert values.shape == attention.pattern.shape[:2], name
        values = values[~np.isnan(values)]
        low, high = (0, 1) if name in SHARES else (1 - n_key if name == "distance" else 0, n_key - 1)
        high = log(n_key) if name == "entropy" else high
        assert ((values >= low - 1e-6) & (values <= high + 1e-6)).all(), name


@given(attentions(), st.randoms())
def test_measures_follow_their_heads(attention, random):
    n_heads = attention.pattern.shape[1]
    order = random.sample(range(n_heads), n_heads)
    shuffled = Attention(
        attention.kind, attention.pattern[:, order], None, attention.mask, attention.queries, attention.keys
    )
    for name, measure in MEASURES.items():
        assert_allclose(measure(shuffled), measure(attention)[:, order], err_msg=name)


@given(attentions(), st.randoms())
def test_the_order_of_keys_is_nothing_to_entropy(shown, random):
    n_key = len(shown.keys)
    order = random.sample(range(n_key), n_key)
    shuffled = Attention(
        "cross", shown.pattern[..., order], None, shown.mask[:, order], shown.queries, shown.keys._take(order)
    )
    for name in ("entropy", "relative entropy", "largest weight", "end of sentence", "punctuation"):
        assert_allclose(MEASURES[name](shuffled), MEASURES[name](shown), atol=1e-9, err_msg=name)


@given(attentions())
def test_keys_turned_round_exchange_the_diagonals(shown):
    turned = Attention(
        shown.kind,
        shown.pattern[..., ::-1],
        None,
        shown.mask,
        shown.queries,
        shown.keys._take(range(len(shown.keys))[::-1]),
    )
    assert_allclose(MEASURES["diagonal"](turned), MEASURES["anti-diagonal"](shown), atol=1e-6)
