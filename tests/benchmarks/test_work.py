"""The benchmarks are fair: one shape, one amount of work, one arithmetic for all contestants."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

pytest.importorskip("x_transformers", reason="the peers are not installed; pip install '.[bench]' brings them")

from benchmarks import joeynmt
from benchmarks.ctranslate import ctranslate2_decode
from benchmarks.decoding import DECODERS, endless_model
from benchmarks.matmul import training_flops
from benchmarks.peers import Marian, TorchTransformer, XTransformers, marian_with_weights_of
from benchmarks.table import OURS, Row, layout
from benchmarks.timing import interleaved
from benchmarks.training import TRAINERS
from benchmarks.work import SHAPE, equal_batch, equal_pairs, mixed_batches, n_tokens
from transformer.model import Transformer
from transformer.text.batches import Batch, make_batch
from transformer.text.tokenizer import EOS, PAD

PEERS = [TorchTransformer, Marian, XTransformers]


def trained_numbers(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


@pytest.mark.parametrize("peer", PEERS)
def test_peers_have_our_size_and_shapes(peer):
    """nn.Transformer ends its stacks with a norm of their own, and x-transformers' attention has no biases."""
    batch = equal_batch(2, 5, SHAPE.vocab_size)
    model = peer(SHAPE)
    assert trained_numbers(model) == pytest.approx(Transformer(SHAPE).n_parameters, rel=0.005)
    assert model(batch).shape == (2, 5, SHAPE.vocab_size)


@pytest.mark.parametrize("peer", PEERS)
def test_peers_drop_what_we_drop_and_no_more(peer):
    """One dropout on each embedding and each sub-layer's output: 17 in 3 + 3 layers; none inside attention."""
    model = peer(SHAPE).train()
    batch = equal_batch(2, 5, SHAPE.vocab_size)
    with torch.profiler.profile() as profile:
        model(batch)
    calls = [event for event in profile.events() if event.name in ("aten::native_dropout", "aten::bernoulli_")]
    assert len(calls) == 17
    assert not [event for event in profile.events() if "attention_math" in event.name], "not the fast kernel"


@pytest.mark.parametrize("name", TRAINERS)
def test_every_contestant_counts_real_tokens_only(name: str, tmp_path: Path):
    """A batch with more padding has the same mean loss before the first step."""
    batch = make_batch([([5, 6, 7], [8]), ([9], [10, 11, 12, 13, 14])])
    wider = Batch(*(F.pad(ids, (0, 3), value=PAD) for ids in (batch.source, batch.target_in, batch.target_out)))
    losses = []
    for number, same in enumerate((batch, wider)):
        torch.manual_seed(1)
        (tmp_path / str(number)).mkdir()
        losses.append(TRAINERS[name](replace(SHAPE, p_drop=0.0), tmp_path / str(number))(same))
    assert losses[0] == pytest.approx(losses[1], abs=1e-4)
    assert 7 < losses[0] < 15, (
        "nats a token, ln V = 8.3 and more before anything is learned; a sum would be 8 times that"
    )


def test_batches_hold_what_they_claim():
    batch = equal_batch(96, 20, SHAPE.vocab_size)
    assert batch.source.shape == batch.target_in.shape == batch.target_out.shape == (96, 20)
    assert n_tokens(batch) == 96 * 20 * 2
    for mixed in mixed_batches(2, 1024, SHAPE.vocab_size):
        assert max(mixed.source.numel(), mixed.target_out.numel()) <= 1024
        assert n_tokens(mixed) == int((mixed.source != 0).sum() + (mixed.target_out != 0).sum())


@pytest.mark.parametrize("beam", [1, 4])
def test_decoders_write_the_same_tokens(beam: int, tmp_path: Path):
    model = endless_model()
    sources = [source for source, _ in equal_pairs(4, 7, SHAPE.vocab_size)]
    targets = {name: make(model)(sources, beam) for name, make in DECODERS.items()}
    targets["CTranslate2"] = ctranslate2_decode(model, tmp_path / "ctranslate2")(sources, beam)
    assert all(written == targets[OURS] for written in targets.values())
    assert all(len(row) == 7 and EOS not in row for row in targets[OURS])


@pytest.mark.skipif(not joeynmt.is_there(), reason="JoeyNMT has an environment of its own, which make bench makes")
def test_joeynmt_writes_the_same_tokens_and_learns_from_the_same_batches(tmp_path: Path):
    model, batch = endless_model(), equal_batch(4, 7, SHAPE.vocab_size)
    sources = [source for source, _ in equal_pairs(4, 7, SHAPE.vocab_size)]
    with joeynmt.started(model, tmp_path, {"one": [batch]}) as joey:
        assert joey is not None
        for beam in (1, 4):
            assert joey.decode(sources, beam) == DECODERS[OURS](model)(sources, beam)
        first, second = joey.train("one")[0], joey.train("one")[0]
    assert 7 < first < 15, "nats a token; ln V is 8.3"
    assert second < first


def test_marian_with_our_weights_computes_our_logits():
    ours = Transformer(SHAPE).eval()
    batch = equal_batch(2, 5, SHAPE.vocab_size)
    with torch.no_grad():
        theirs = marian_with_weights_of(ours)(input_ids=batch.source, decoder_input_ids=batch.target_in).logits
        torch.testing.assert_close(theirs, ours(batch.source, batch.target_in), rtol=0, atol=1e-4)


def test_operations_are_those_that_torch_counts():
    model, batch = Transformer(SHAPE), equal_batch(3, 7, SHAPE.vocab_size)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        model(batch.source, batch.target_in).sum().backward()
    assert counter.get_total_flops() == training_flops(SHAPE, batch)


def test_contestants_take_turns():
    turns: list[str] = []
    seconds = interleaved({name: lambda name=name: turns.append(name) for name in "abc"}, repetitions=2)
    assert turns == list("abc" * 3)
    assert seconds.keys() == set("abc")


def test_a_missed_budget_says_by_how_much_and_why():
    rates = {OURS: 120.0, "slow": 50.0, "fast": 100.0}
    row = Row.race("work, things/s", rates, 1.5, "because")
    assert math.isclose(row.ratio, 1.2)
    assert not row.met
    text = layout([row, Row("wait, ms", "90", "", 90, "ms", 100, larger_is_better=False)])
    assert "missed by 20%" in text
    assert "work, things/s:\n  because" in text
    assert text.splitlines()[3].endswith("met")
