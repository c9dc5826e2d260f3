"""Batches: padding to the right only, every pair once an epoch, no more tokens than allowed."""

import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer.text.batches import Batches, make_batch, pad
from transformer.text.tokenizer import BOS, EOS, PAD

SENTENCE = st.lists(st.integers(4, 99), max_size=20)
PAIRS = st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=60)


def pairs_of(lengths: list[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    return [([5] * source, [6] * target) for source, target in lengths]


def test_sequences_are_padded_on_the_right():
    padded = pad([[7, 8, 9], [], [5]])
    assert padded.dtype == torch.int64
    assert padded.tolist() == [[7, 8, 9], [PAD, PAD, PAD], [5, PAD, PAD]]


@pytest.mark.parametrize(("sequences", "shape"), [([], (0, 0)), ([[]], (1, 0)), ([[], []], (2, 0)), ([[4]], (1, 1))])
def test_padding_of_little_or_nothing(sequences, shape):
    assert pad(sequences).shape == shape


def test_a_batch_by_hand():
    batch = make_batch([([10, 11], [20]), ([], [21, 22, 23])])
    assert batch.source.tolist() == [[10, 11, EOS], [EOS, PAD, PAD]]
    assert batch.target_in.tolist() == [[BOS, 20, PAD, PAD], [BOS, 21, 22, 23]]
    assert batch.target_out.tolist() == [[20, EOS, PAD, PAD], [21, 22, 23, EOS]]
    assert batch.n_source_tokens == 4
    assert batch.n_target_tokens == 6
    assert batch.to(torch.device("cpu")).source.equal(batch.source)


def test_a_batch_without_pairs_is_refused():
    with pytest.raises(ValueError, match=r"^A batch has no pairs; allowed is at least one\.$"):
        make_batch([])


def test_batches_of_nothing_are_refused():
    with pytest.raises(ValueError, match=r"^There are no pairs to make batches of; allowed is at least one\.$"):
        Batches([], 100, seed=0)


@pytest.mark.parametrize("tokens", [0, -3])
def test_batches_of_no_tokens_are_refused(tokens):
    with pytest.raises(ValueError, match=f"^batch_tokens is {tokens}; allowed is a whole number of at least 1"):
        Batches(pairs_of([(1, 1)]), tokens, seed=0)


def test_pairs_of_one_length_fill_batches_to_the_token():
    # A pair of 4 pieces is 5 tokens with EOS: 3 of them fit into 15 tokens, and 7 pairs make batches of 3, 3 and 1.
    batches = Batches(pairs_of([(4, 4)] * 7), 15, seed=0).epoch(0)
    assert sorted(map(len, batches)) == [1, 3, 3]
    assert sorted(map(len, Batches(pairs_of([(4, 4)] * 7), 14, seed=0).epoch(0))) == [1, 2, 2, 2]


def test_the_longer_side_counts():
    assert sorted(map(len, Batches(pairs_of([(9, 1)] * 4), 20, seed=0).epoch(0))) == [2, 2]
    assert sorted(map(len, Batches(pairs_of([(1, 9)] * 4), 20, seed=0).epoch(0))) == [2, 2]


def test_a_pair_longer_than_a_batch_is_alone():
    batches = Batches(pairs_of([(1, 1), (50, 2), (1, 1), (2, 50)]), 10, seed=0).epoch(0)
    assert sorted(map(sorted, batches)) == [[0, 2], [1], [3]]


def test_pairs_of_like_length_meet():
    batches = Batches(pairs_of([(30, 30), (2, 2)] * 8), 124, seed=3).epoch(1)
    for batch in batches:
        assert len({index % 2 for index in batch}) == 1


@given(PAIRS, st.integers(1, 200), st.integers(0, 2**32), st.integers(0, 50))
def test_laws_of_an_epoch(pairs, batch_tokens, seed, epoch):
    batches = Batches(pairs, batch_tokens, seed)
    plan = batches.epoch(epoch)
    assert sorted(index for batch in plan for index in batch) == list(range(len(pairs)))
    for indices in plan:
        batch = batches.batch(indices)
        assert len(indices) == 1 or max(batch.source.numel(), batch.target_out.numel()) <= batch_tokens
    assert plan == Batches(pairs, batch_tokens, seed).epoch(epoch)


@given(PAIRS)
def test_laws_of_a_batch(pairs):
    batch = make_batch(pairs)
    assert batch.target_in.shape == batch.target_out.shape
    for row, (source, target) in enumerate(pairs):
        for tensor, tokens in (
            (batch.source, [*source, EOS]),
            (batch.target_in, [BOS, *target]),
            (batch.target_out, [*target, EOS]),
        ):
            assert tensor[row, : len(tokens)].tolist() == tokens
            assert (tensor[row, len(tokens) :] == PAD).all()
    assert batch.n_source_tokens == sum(len(source) + 1 for source, _ in pairs)
    assert batch.n_target_tokens == sum(len(target) + 1 for _, target in pairs)
    assert batch.source.shape[1] == max(len(source) for source, _ in pairs) + 1


@pytest.fixture(scope="module")
def many_pairs() -> list[tuple[list[int], list[int]]]:
    lengths = np.random.default_rng(0).integers(1, 40, size=(500, 2)).tolist()
    return pairs_of([(source, target) for source, target in lengths])


def test_seed_and_epoch_make_the_plan(many_pairs):
    plan = Batches(many_pairs, 400, seed=1).epoch(0)
    assert Batches(many_pairs, 400, seed=1).epoch(1) != plan
    assert Batches(many_pairs, 400, seed=2).epoch(0) != plan
    assert Batches(many_pairs, 400, seed=1).epoch(0) == plan


def test_an_epoch_does_not_depend_on_those_before_it(many_pairs):
    batches = Batches(many_pairs, 400, seed=1)
    first, second = batches.epoch(0), batches.epoch(1)
    assert (batches.epoch(1), batches.epoch(0)) == (second, first)


def test_other_pairs_meet_in_the_next_epoch(many_pairs):
    batches = Batches(many_pairs * 20, 400, seed=1)
    first, second = ({frozenset(batch) for batch in batches.epoch(epoch)} for epoch in (0, 1))
    assert len(first & second) < len(first) / 20


def test_batches_do_not_come_by_length(many_pairs):
    batches = Batches(many_pairs, 400, seed=1)
    lengths = [batches.batch(indices).source.shape[1] for indices in batches.epoch(0)]
    assert lengths != sorted(lengths)
    assert lengths != sorted(lengths, reverse=True)


def test_little_is_padding(many_pairs):
    batches = Batches(many_pairs * 20, 1_000, seed=1)
    plan = [batches.batch(indices) for indices in batches.epoch(0)]
    tokens = sum(batch.n_source_tokens + batch.n_target_tokens for batch in plan)
    assert tokens / sum(batch.source.numel() + batch.target_out.numel() for batch in plan) > 0.9


def test_the_plan_of_many_pairs_takes_a_moment():
    """A quadratic plan of as many pairs as Tatoeba has would take minutes; seconds leave room for a busy machine."""
    lengths = np.random.default_rng(0).integers(1, 40, size=(166_064, 2)).tolist()
    batches = Batches(pairs_of([(source, target) for source, target in lengths]), 4_096, seed=0)
    start = time.process_time()
    plan = batches.epoch(0)
    assert time.process_time() - start < 5
    assert sum(map(len, plan)) == 166_064
