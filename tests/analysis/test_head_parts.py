"""One head, step by step, against the trace of the same pass and against Equation 1 worked out again."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from tests import hostile
from tests.model.small import stirred
from transformer.analysis.head_parts import HeadParts, head_parts
from transformer.analysis.trace import KINDS
from transformer.analysis.tracing import trace_encoder
from transformer.checkpoint import Checkpoint, CheckpointConfig
from transformer.config import ModelConfig, TrainConfig
from transformer.model import Transformer
from transformer.model.positions import alibi_slopes

SENTENCE, TARGET = "The animal was tired.", "Das Tier war müde."
KINDS_OF_MODEL = [("sinusoidal", "post"), ("learned", "post"), ("rope", "post"), ("alibi", "post"), ("none", "post")]
KINDS_OF_MODEL += [("sinusoidal", "pre"), ("rope", "pre")]


@pytest.fixture(params=KINDS_OF_MODEL, ids="-".join)
def built(request, checkpoint) -> Checkpoint:
    """Biases and norms stirred, so that each shows; d_k ≠ d_v."""
    positions, norm = request.param
    model = ModelConfig(
        vocab_size=len(checkpoint.tokenizer), d_model=16, d_ff=24, n_heads=4, d_k=6, d_v=5, n_encoder_layers=2,
        n_decoder_layers=3, positions=positions, norm=norm, max_length=40,
    )  # fmt: skip
    torch.manual_seed(5)
    config = CheckpointConfig(model.resolved(), TrainConfig(steps=1), {"name": "test"})
    return Checkpoint("built", config, checkpoint.tokenizer, stirred(Transformer(model)).eval(), Path())


def softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    weights = np.where(mask, np.exp(scores.astype(np.float64)), 0)
    return weights / weights.sum(-1, keepdims=True)


def parts(built: Checkpoint, kind: str, layer: int = 1, head: int = 2) -> HeadParts:
    trace = built.trace(SENTENCE, TARGET)
    return head_parts(built, trace[kind], trace.source, layer, head)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_head_that_was_traced(built, kind):
    trace = built.trace(SENTENCE, TARGET)
    found = head_parts(built, trace[kind], trace.source, 1, 2)
    assert_allclose(found.pattern, trace[kind].pattern[1, 2], atol=1e-6)
    assert_allclose(found.scores, trace[kind].scores[1, 2], atol=1e-5)
    assert_allclose(found.z, trace.cache[f"{kind}.1.hook_z"][2], atol=1e-5)
    assert (found.queries, found.keys, found.read) == (trace[kind].queries, trace[kind].keys, trace[kind].read)
    assert_array_equal(found.mask, trace[kind].mask)


@pytest.mark.parametrize("kind", KINDS)
def test_equation_1_worked_out_again_gives_the_same(built, kind):
    found = parts(built, kind)
    bias = 0 if found.bias is None else found.bias
    scores = found.q.astype(np.float64) @ found.k.T / np.sqrt(6) + bias
    assert_allclose(found.scores, scores, atol=1e-5)
    pattern = softmax(scores, found.mask)
    assert_allclose(found.pattern, pattern, atol=1e-5)
    assert_allclose(found.z, pattern @ found.v, atol=1e-5)
    assert (found.d_k, found.v.shape[1], found.z.shape[1]) == (6, 5, 5)
    assert found.scale == pytest.approx(6**-0.5)


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_queries_keys_and_values_are_rows_times_weights(built, kind, layer):
    found = parts(built, kind, layer, 3)
    before = {"q": found.q, "k": found.k, "v": found.v} | found.unturned
    for name, values in before.items():
        made_of = found.projections[name]
        assert_allclose(made_of.rows @ made_of.weight + made_of.bias, values, atol=1e-4)
    assert made_of.rows.shape == (len(found.keys), 16)


def test_only_rotary_positions_turn_and_only_linear_biases_add(built):
    positions = built.model.config.positions
    for kind in KINDS:
        found = parts(built, kind)
        assert bool(found.unturned) == (positions == "rope" and kind != "cross")
        assert (found.bias is not None) == (positions == "alibi" and kind != "cross")
        if found.bias is not None:
            assert found.bias[3, 1] == pytest.approx(-alibi_slopes(4)[2] * 2)
        if found.unturned:
            assert_array_equal(found.unturned["q"][0], found.q[0], "position 0 is turned by no angle")
            assert np.abs(found.unturned["q"][1] - found.q[1]).max() > 0.1
            assert_allclose(np.square(found.unturned["k"]).sum(1), np.square(found.k).sum(1), rtol=1e-4)


def test_the_encoder_alone_needs_no_target(checkpoint):
    attention = trace_encoder(checkpoint, SENTENCE)
    found = head_parts(checkpoint, attention, attention.keys, 0, 1)
    assert_allclose(found.pattern, attention.pattern[0, 1], atol=1e-6)
    assert found.name == "L0·H1"


def test_the_models_own_translation_may_be_pieces_that_no_text_encodes_to(checkpoint):
    trace = checkpoint.trace(SENTENCE)
    found = head_parts(checkpoint, trace.cross, trace.source, 2, 0)
    assert_allclose(found.pattern, trace.cross.pattern[2, 0], atol=1e-6)


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_gives_its_own_pieces_back(checkpoint, text):
    trace = checkpoint.trace(text, text)
    found = head_parts(checkpoint, trace.decoder, trace.source, 0, 0)
    assert_allclose(found.pattern, trace.decoder.pattern[0, 0], atol=1e-6)
    assert found.queries.labels == trace.decoder.queries.labels


def test_one_token_attends_to_itself_alone(checkpoint):
    trace = checkpoint.trace("x", "y")
    found = head_parts(checkpoint, trace.decoder, trace.source, 0, 0)
    assert found.pattern[0].tolist() == [1] + [0] * (len(found.keys) - 1)
    assert_allclose(found.z[0], found.v[0], atol=1e-6)


def test_nothing_is_left_on_the_model(checkpoint):
    before = set(vars(checkpoint.model))
    trace = checkpoint.trace(SENTENCE, TARGET)
    head_parts(checkpoint, trace.cross, trace.source, 0, 0)
    assert set(vars(checkpoint.model)) == before
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in checkpoint.model.modules())


@pytest.mark.parametrize(
    ("layer", "head", "message"),
    [
        (2, 0, "There is no layer 2; encoder has layers 0 to 1."),
        (0, 4, "There is no head 4; encoder has heads 0 to 3."),
        (-1, 0, "There is no layer -1; encoder has layers 0 to 1."),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(checkpoint, layer, head, message):
    attention = trace_encoder(checkpoint, SENTENCE)
    with pytest.raises(ValueError, match=message):
        head_parts(checkpoint, attention, attention.keys, layer, head)


def test_an_attention_that_was_merged_or_cut_is_refused(checkpoint):
    trace = checkpoint.trace(SENTENCE, TARGET)
    with pytest.raises(ValueError, match="was changed"):
        head_parts(checkpoint, trace.encoder.without_special(), trace.source, 0, 0)
    with pytest.raises(ValueError, match="is not in the vocabulary"):
        head_parts(checkpoint, trace.encoder, trace.encoder.words().keys, 0, 0)


def test_the_decoder_is_not_looked_at_without_a_target(checkpoint):
    attention = replace(checkpoint.trace(SENTENCE, TARGET).decoder, read=None)
    with pytest.raises(ValueError, match="hand over what the decoder reads"):
        head_parts(checkpoint, attention, attention.keys, 0, 0)


def other(checkpoint: Checkpoint, **changes) -> Checkpoint:
    """A model that is not the paper's, of one layer."""
    model = ModelConfig(
        vocab_size=len(checkpoint.tokenizer), d_model=16, d_ff=24, n_heads=4, n_encoder_layers=1, n_decoder_layers=1,
        **changes,
    )  # fmt: skip
    torch.manual_seed(5)
    config = CheckpointConfig(model.resolved(), TrainConfig(steps=1), {"name": "test"})
    return Checkpoint("other", config, checkpoint.tokenizer, stirred(Transformer(model)).eval(), Path())


@pytest.mark.parametrize(("score", "scale"), [("unscaled", 1.0), ("scaled-twice", 0.25)])
def test_products_with_another_scale_say_which(checkpoint, score, scale):
    model = other(checkpoint, score=score)
    trace = model.trace(SENTENCE, TARGET)
    found = head_parts(model, trace.cross, trace.source, 0, 1)
    assert found.scale == scale
    assert_allclose(found.scores, found.q @ found.k.T * scale, atol=1e-5)


def test_a_window_is_in_the_mask(checkpoint):
    model = other(checkpoint, mixing="window", mixing_width=3)
    trace = model.trace(SENTENCE, TARGET)
    found = head_parts(model, trace.encoder, trace.source, 0, 1)
    assert found.mask.sum(1).tolist() == [2] + [3] * (len(found.keys) - 2) + [2]
    assert_allclose(found.pattern, softmax(found.scores, found.mask), atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mixing": "uniform"}, "The encoder heads of this model compare nothing"),
        ({"mixing": "convolution"}, "The encoder heads of this model compare nothing"),
        ({"score": "additive"}, "The scores of this model are 'additive'"),
        ({"score": "qk-norm"}, "The scores of this model are 'qk-norm'"),
    ],
)
def test_heads_that_multiply_no_queries_and_keys_are_refused(checkpoint, changes, message):
    model = other(checkpoint, **changes)
    trace = model.trace(SENTENCE, TARGET)
    with pytest.raises(ValueError, match=message):
        head_parts(model, trace.encoder, trace.source, 0, 1)
    if "mixing" in changes:
        head_parts(model, trace.cross, trace.source, 0, 1)
