"""Interventions: one head changed, in a whole pass and step by step, and nothing left on the shared model."""

import copy

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from transformer.analysis.interventions import ReplaceRow, SetUniform, SwitchOff
from transformer.decoding.cache import KeyValueCache
from transformer.text.tokenizer import BOS, EOS

SENTENCE, TARGET = "The animal was tired.", "Das Tier war müde."


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_switching_a_head_off_equals_a_model_without_its_output_weights(checkpoint, kind):
    changed = checkpoint.trace(SENTENCE, TARGET, interventions=[SwitchOff(kind, layer=1, head=2)])
    amputated = copy.deepcopy(checkpoint)
    stack = amputated.model.encoder if kind == "encoder" else amputated.model.decoder
    attention = stack[1].cross if kind == "cross" else stack[1].attention
    with torch.no_grad():
        attention.output.weight[:, 2 * 5 : 3 * 5] = 0
    expected = amputated.trace(SENTENCE, TARGET)
    assert_allclose(changed.translation.token_log_probs, expected.translation.token_log_probs, atol=1e-5)
    plain = checkpoint.trace(SENTENCE, TARGET)
    assert not np.allclose(changed.translation.token_log_probs, plain.translation.token_log_probs, atol=1e-4)
    assert_array_equal(changed[kind].pattern[0], plain[kind].pattern[0])


def test_a_uniform_head_attends_evenly_to_all_it_may_see(checkpoint):
    trace = checkpoint.trace(SENTENCE, TARGET, interventions=[SetUniform("decoder", layer=0, head=1)])
    n = len(trace.target)
    assert_allclose(trace.decoder.pattern[0, 1], np.tri(n) / np.arange(1, n + 1)[:, None], atol=1e-6)


def test_a_replaced_row_is_the_only_row_replaced(checkpoint):
    plain = checkpoint.trace(SENTENCE, TARGET)
    weights = [0.0] * len(plain.source)
    weights[3] = 1.0
    changed = checkpoint.trace(SENTENCE, TARGET, interventions=[ReplaceRow("cross", 0, 3, query=2, weights=weights)])
    assert_array_equal(changed.cross.pattern[0, 3, 2], weights)
    others = np.arange(len(plain.target)) != 2
    assert_array_equal(changed.cross.pattern[0, 3, others], plain.cross.pattern[0, 3, others])


@pytest.mark.parametrize(
    "intervention",
    [
        SwitchOff("decoder", 1, 0),
        SetUniform("cross", 2, 3),
        ReplaceRow("cross", 0, 1, query=3, weights=[1.0, *[0.0] * 8]),
    ],
)
def test_step_by_step_decoding_is_changed_like_the_whole_pass(checkpoint, intervention):
    source = torch.tensor([[5, 6, 7, 8, 9, 10, 11, 12, EOS]])
    target = torch.tensor([[BOS, 20, 21, 22, 23, 24]])
    model = checkpoint.model
    cache = KeyValueCache(len(model.decoder))
    with torch.inference_mode():
        memory = model.encode(source, hooks=[intervention])
        whole = model.decode(target, memory, hooks=[intervention])
        steps = [
            model.decode(target[:, [t]], memory, cache=cache, hooks=[intervention]) for t in range(target.shape[1])
        ]
    assert_allclose(torch.cat(steps, 1).numpy(), whole.numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("intervention", "message"),
    [
        (SwitchOff("encoder", 2, 0), "no layer 2; encoder has layers 0 to 1"),
        (SwitchOff("cross", 3, 0), "no layer 3; cross has layers 0 to 2"),
        (SwitchOff("decoder", 0, 4), "no head 4; a layer has heads 0 to 3"),
        (SwitchOff("decoder", 0, -1), "no head -1"),
        (SwitchOff("middle", 0, 0), "'middle'; allowed is encoder"),
        (ReplaceRow("cross", 0, 0, query=0, weights=[1.0]), "1 weights for"),
    ],
)
def test_a_head_that_is_not_there_is_named(checkpoint, intervention, message):
    with pytest.raises(ValueError, match=message):
        checkpoint.trace(SENTENCE, TARGET, interventions=[intervention])


def test_nothing_stays_on_the_model(checkpoint):
    before = checkpoint.trace(SENTENCE, TARGET)
    checkpoint.trace(SENTENCE, interventions=[SwitchOff("encoder", 0, 0)])
    after = checkpoint.trace(SENTENCE, TARGET)
    assert_array_equal(before.encoder.pattern, after.encoder.pattern)
    assert before.translation == after.translation
