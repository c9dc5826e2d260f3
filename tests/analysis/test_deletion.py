"""Deleting source words: against one plain pass for each shorter source, and comparisons worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from transformer.analysis import deletion
from transformer.analysis.attention import Tokens
from transformer.analysis.deletion import Deletion, delete_words
from transformer.analysis.tracing import trace_ids
from transformer.text.tokenizer import EOS

SOURCE, TARGET = "The animal was tired.", "Das Tier war müde."


def tokens(labels: str) -> Tokens:
    pieces = tuple(labels.split())
    return Tokens(pieces, pieces, tuple(range(len(pieces))), (False,) * len(pieces))


@pytest.fixture(scope="module")
def trace(checkpoint):
    return checkpoint.trace(SOURCE, TARGET)


@pytest.fixture
def by_hand() -> Deletion:
    """One layer of two heads over three words; the third token's largest drop is hardly larger than the next."""
    drop = [[2.0, 0.5, 0.0], [0.0, -1.0, 3.0], [0.30, 0.25, 0.0]]
    one = [[0.6, 0.3, 0.1], [0.5, 0.3, 0.1], [0.1, 0.5, 0.2]]
    other = [[0.2, 0.3, 0.1], [0.1, 0.2, 0.45], [0.6, 0.1, 0.2]]
    attention = np.array([[one, other]], np.float32)
    return Deletion(tokens("a b c"), tokens("x y z"), np.array(drop, np.float32), attention)


def test_each_drop_is_that_of_a_plain_pass_over_the_shorter_source(checkpoint, trace):
    found = delete_words(checkpoint, trace)
    assert [label.removeprefix("␣") for label in found.words.labels] == ["The", "animal", "was", "tired", "."]
    written = [*checkpoint.tokenizer.encode(TARGET), EOS]
    pieces = checkpoint.tokenizer.encode(SOURCE)
    full = np.array(trace.translation.token_log_probs)
    for word in range(len(found.words)):
        left = [piece for piece, at in zip(pieces, trace.source.words, strict=False) if at != word]
        assert len(left) < len(pieces)
        shorter = trace_ids(checkpoint, ("", ""), [*left, EOS], written, generated=False)
        expected = full - np.array(shorter.translation.token_log_probs)
        assert_allclose(found.drop[:, word], expected, atol=1e-5)
    assert abs(found.drop).max() > 1e-3


def test_attention_is_summed_over_pieces_and_leaves_the_end_out(checkpoint, trace):
    found = delete_words(checkpoint, trace)
    last = trace.cross.pattern[..., -1]
    assert found.attention.shape == (3, 4, len(trace.target), 5)
    assert_allclose(found.attention.sum(-1) + last, 1, atol=1e-5)
    first = [at for at, word in enumerate(trace.source.words) if word == 0]
    assert_allclose(found.attention[..., 0], trace.cross.pattern[..., first].sum(-1), atol=1e-6)


def test_what_the_model_wrote_itself_is_scored_as_it_was_written(checkpoint):
    trace = checkpoint.trace(SOURCE)
    assert delete_words(checkpoint, trace).drop.shape == (len(trace.target), 5)


def test_small_batches_give_the_same(checkpoint, trace, monkeypatch):
    whole = delete_words(checkpoint, trace)
    monkeypatch.setattr(deletion, "_BATCH_LOGITS", 1)
    assert_allclose(delete_words(checkpoint, trace).drop, whole.drop, atol=1e-5)


def test_the_only_word_can_be_deleted_too(checkpoint):
    found = delete_words(checkpoint, checkpoint.trace("street", "Straße"))
    assert found.drop.shape[1] == 1
    comparison = found.compare()
    assert np.isnan(comparison.rank_correlation).all()
    assert not comparison.disagrees.any()


def test_the_trace_of_another_model_is_refused(checkpoint, trace):
    pieces = ("▁unheard-of", *trace.source.pieces[1:])
    keys = replace(trace.source, pieces=pieces)
    other = replace(trace, encoder=replace(trace.encoder, keys=keys))
    with pytest.raises(ValueError, match=r"^The piece '▁unheard-of' is not in the vocabulary"):
        delete_words(checkpoint, other)


def test_where_attention_and_deletion_disagree(by_hand):
    """Head 0: `y` looks at `a` and needs `c`, `z` looks at `b` but needs `a` by 0.05 nats only."""
    found = by_hand.compare(layer=0, head=0)
    assert_array_equal(found.attended, [0, 0, 1])
    assert_array_equal(found.needed, [0, 2, 0])
    assert_array_equal(found.disagrees, [False, True, False])
    assert_allclose(found.rank_correlation, [1, -0.5, -0.5], atol=1e-12)


def test_another_head_and_the_mean(by_hand):
    assert_array_equal(by_hand.compare(layer=0, head=1).attended, [1, 2, 0])
    assert_array_equal(by_hand.compare(layer=0, head=1).disagrees, [True, False, False])
    mean = by_hand.compare()
    assert_array_equal(mean.attended, by_hand.compare(layer=0).attended)
    assert_array_equal(mean.attended, [0, 0, 0])


def test_equal_values_share_their_rank():
    assert_array_equal(deletion._ranks(np.array([3, 1, 3, 2])), [2.5, 0, 2.5, 1])
    equal = Deletion(tokens("a b c"), tokens("x"), np.zeros((1, 3), np.float32), np.full((1, 1, 1, 3), 0.3, np.float32))
    assert np.isnan(equal.compare().rank_correlation[0])


def test_what_cannot_be_compared_is_refused(by_hand):
    with pytest.raises(ValueError, match="Head 1 was asked for without its layer"):
        by_hand.compare(head=1)
    nothing = Deletion(tokens(""), tokens("x"), np.zeros((1, 0), np.float32), np.zeros((1, 1, 1, 0), np.float32))
    with pytest.raises(ValueError, match="no words to delete"):
        nothing.compare()
