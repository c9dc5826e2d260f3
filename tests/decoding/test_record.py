"""A record against the search that it is of: the same numbers, step by step, and the same search."""

import math

import pytest
import torch

from tests.decoding.test_search import (
    GREEDY_IS_WRONG,
    LATE_IS_BETTER,
    MIXED,
    A,
    B,
    ByHand,
    log_probs,
    random_model,
)
from transformer.decoding.cache import KeyValueCache
from transformer.decoding.record import record_search
from transformer.decoding.search import beam_search
from transformer.text.tokenizer import BOS, EOS


def test_both_hypotheses_of_a_small_search_by_hand():
    """Greedy takes A (0.6), which ends with 0.35; the beam of 2 keeps B (0.4), which ends with 0.9."""
    record = record_search(ByHand(GREEDY_IS_WRONG), [4], beam=2, alpha=0.0)
    first, second = record.steps[0].beams
    assert (first.tokens, second.tokens) == ((A,), (B,))
    assert (first.log_prob, second.log_prob) == pytest.approx((math.log(0.6), math.log(0.4)), abs=1e-5)
    assert (first.parent, second.parent) == (0, 0)
    ended = record.steps[1].beams[0]
    assert (ended.tokens, ended.parent, ended.ended) == ((B, EOS), 1, True)
    assert ended.log_prob == pytest.approx(math.log(0.4 * 0.9), abs=1e-5)
    assert record.found[0].tokens == (B, EOS)
    assert record.path(record.found[0]) == (1, 0)


def test_choices_are_the_likeliest_pieces_of_each_open_hypothesis():
    record = record_search(ByHand(GREEDY_IS_WRONG), [4], beam=2, alpha=0.0, n_choices=2)
    (only,) = record.steps[0].choices
    assert [choice.piece for choice in only] == [A, B]
    assert only[0].log_prob == pytest.approx(math.log(0.6), abs=1e-5)
    of_a, of_b = record.steps[1].choices
    assert of_b[0].piece == EOS
    assert math.exp(of_b[0].log_prob) == pytest.approx(0.9, abs=1e-4)
    assert len(of_a) == 2


def test_a_hypothesis_that_ended_has_no_choices_and_no_children():
    """Step 1 ends the empty target; in the second of two places seven A go on alone."""
    record = record_search(ByHand(LATE_IS_BETTER), [4], beam=3, alpha=1.0)
    ended = [beam.ended for beam in record.steps[0].beams]
    place = ended.index(True)
    assert record.steps[1].choices[place] == ()
    assert all(beam.parent != place for beam in record.steps[1].beams)
    assert record.steps[0].n_open == len(ended) - 1
    assert [found.tokens for found in record.found] == [(A,) * 7 + (EOS,), (EOS,), (B, EOS)]


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("source", MIXED[1:4], ids=str)
@pytest.mark.parametrize("prefix", [(), (17, 23)])
def test_what_is_found_is_what_the_search_finds_and_every_number_is_its_own(beam, source, prefix):
    model = random_model()
    record = record_search(model, source, beam=beam, alpha=0.6, prefix=prefix)
    assert list(record.found) == beam_search(model, [source], beam=beam, alpha=0.6, n_best=beam, prefix=prefix)[0]
    ended = {each.tokens: each for step in record.steps for each in step.beams if each.ended}
    for hypothesis in record.found:
        if hypothesis.tokens[-1] == EOS:
            assert ended[hypothesis.tokens].token_log_probs == hypothesis.token_log_probs
            assert ended[hypothesis.tokens].log_prob == hypothesis.log_prob
        assert hypothesis.score == pytest.approx(hypothesis.log_prob / record.penalty(hypothesis))
        path = record.path(hypothesis)
        assert len(path) == len(hypothesis.tokens) - len(prefix)
        for step, place in zip(record.steps, path, strict=False):
            assert hypothesis.token_log_probs[: step.position + 1] == step.beams[place].token_log_probs


@pytest.mark.parametrize("prefix", [(), (17,)])
def test_every_beam_goes_on_from_its_parent_and_sums_are_those_of_a_teacher_forced_pass(prefix):
    model, source = random_model(), MIXED[3]
    record = record_search(model, source, beam=4, prefix=prefix)
    before = None
    for step in record.steps:
        sums = [beam.log_prob for beam in step.beams]
        assert sums == sorted(sums, reverse=True)
        for beam in step.beams:
            assert beam.tokens[: len(prefix)] == prefix
            assert len(beam.tokens) == step.position + 1
            assert beam.tokens[:-1] == (prefix if before is None else before[beam.parent].tokens)
            assert beam.token_log_probs == pytest.approx(log_probs(model, source, beam.tokens), abs=1e-4)
        before = step.beams


def test_rows_are_those_that_the_decoder_is_run_for(monkeypatch):
    model, rows = random_model(), []
    decode = model.decode

    def counted(read, *rest, **options):
        rows.append(len(read))
        return decode(read, *rest, **options)

    monkeypatch.setattr(model, "decode", counted)
    record = record_search(model, MIXED[3], beam=4)
    assert [step.n_rows for step in record.steps] == rows
    assert rows[0] == 1
    assert all(len(before.beams) == after.n_rows for before, after in zip(record.steps, record.steps[1:], strict=False))


def test_choices_hold_what_a_beam_of_one_writes():
    record = record_search(random_model(), MIXED[0], beam=1)
    for step in record.steps:
        assert step.choices[0][0].piece == step.beams[0].tokens[-1]
        assert step.choices[0][0].log_prob == step.beams[0].token_log_probs[-1]
    assert record.n_positions == len(record.found[0].tokens)


def test_a_search_that_nobody_observes_is_the_same():
    model, seen = random_model(), []
    watched = beam_search(model, MIXED, n_best=4, observer=lambda *step: seen.append(step))
    assert watched == beam_search(model, MIXED, n_best=4)
    assert seen


def test_a_vocabulary_smaller_than_the_beam_leaves_places_empty():
    record = record_search(random_model(vocab_size=6), [4], beam=5, max_extra=1)
    assert [len(step.beams) for step in record.steps][:1] == [3], "EOS, 4 and 5 are all that can be written"
    assert all(choice.piece >= EOS for step in record.steps for each in step.choices for choice in each)


def test_options_out_of_range_are_named():
    with pytest.raises(ValueError, match="beam is 0"):
        record_search(random_model(), [5], beam=0)
    with pytest.raises(ValueError, match="The prefix holds the id 3"):
        record_search(random_model(), [5], prefix=[EOS])


def test_the_cache_holds_one_position_more_at_each_step():
    """What the page draws of the cache, against a cache: the first pass reads <s> and the prefix, each later one 1."""
    model, prefix = random_model(), [17, 23]
    cache = KeyValueCache(len(model.decoder))
    with torch.inference_mode():
        memory = model.encode(torch.tensor([[*MIXED[0], EOS]]))
        model.decode(torch.tensor([[BOS, *prefix]]), memory, cache=cache)
        assert cache.length == len(prefix) + 1
        model.decode(torch.tensor([[5]]), memory, cache=cache)
    assert cache.decoder[1].keys.shape == (1, 2, len(prefix) + 2, 8)
    assert cache.cross[0].values.shape == (1, 2, len(MIXED[0]) + 1, 8)
