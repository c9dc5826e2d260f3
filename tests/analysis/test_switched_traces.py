"""Traces of models whose attention is not the paper's: what may be seen is what the mask says."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from transformer.analysis.score_parts import score_parts
from transformer.analysis.tracing import trace_encoder
from transformer.checkpoint import Checkpoint
from transformer.model import Transformer

SENTENCE, TARGET = "The animal was tired.", "Das Tier war müde."


def switched(checkpoint: Checkpoint, **changes: Any) -> Checkpoint:
    model = replace(checkpoint.config.model, **changes)
    torch.manual_seed(1)
    return replace(checkpoint, config=replace(checkpoint.config, model=model), model=Transformer(model).eval())


@pytest.mark.parametrize(
    "changes",
    [
        {"mixing": "uniform"},
        {"mixing": "window", "mixing_width": 3},
        {"mixing": "convolution", "mixing_width": 3},
        {"score": "additive"},
        {"causal": False},
        {"memory": "last"},
    ],
    ids=str,
)
def test_rows_sum_to_1_and_lie_inside_the_mask(checkpoint: Checkpoint, changes: dict[str, Any]):
    trace = switched(checkpoint, **changes).trace(SENTENCE, TARGET)
    for kind in ("encoder", "decoder", "cross"):
        attention = trace[kind]
        assert_allclose(attention.pattern.sum(-1), 1, atol=1e-5)
        assert not attention.pattern[..., ~attention.mask].any()
        assert (attention.pattern[..., attention.mask] > 0).all()
    assert "decoder.0.hook_z" in trace.cache


def test_masks_say_what_is_near_before_or_last(checkpoint: Checkpoint):
    n = len(checkpoint.trace(SENTENCE, TARGET).target)
    window = switched(checkpoint, mixing="window", mixing_width=3).trace(SENTENCE, TARGET)
    assert window.encoder.mask.sum(1).tolist() == [2, *[3] * (len(window.source) - 2), 2]
    assert window.decoder.mask.sum(1).tolist() == [1, 2, *[3] * (n - 2)]
    assert switched(checkpoint, causal=False).trace(SENTENCE, TARGET).decoder.mask.all()
    last = switched(checkpoint, memory="last").trace(SENTENCE, TARGET).cross
    assert last.mask.sum(1).tolist() == [1] * n
    assert last.mask[:, -1].all()


def test_a_uniform_pattern_is_one_over_what_is_seen(checkpoint: Checkpoint):
    trace = switched(checkpoint, mixing="uniform").trace(SENTENCE, TARGET)
    n = len(trace.source)
    assert_allclose(trace.encoder.pattern, 1 / n, atol=1e-6)
    assert_allclose(trace.decoder.pattern[0, 0, 2, :3], 1 / 3, atol=1e-6)
    assert trace.encoder.scores is not None
    assert not trace.encoder.scores.any()


def test_a_gru_is_said_to_have_no_heads(checkpoint: Checkpoint):
    recurrent = switched(checkpoint, encoder="gru")
    for look in (lambda: recurrent.trace(SENTENCE), lambda: trace_encoder(recurrent, SENTENCE)):
        with pytest.raises(ValueError, match=r"^test reads with gated recurrent units, which have no heads"):
            look()
    assert len(recurrent.translate([SENTENCE])) == 1


@pytest.mark.parametrize("changes", [{"mixing": "uniform"}, {"score": "cosine"}, {"encoder": "gru"}], ids=str)
def test_scores_that_are_no_products_have_no_parts(checkpoint: Checkpoint, changes: dict[str, Any]):
    with pytest.raises(ValueError, match=r"not products of queries and keys, and have no such parts\.$"):
        score_parts(switched(checkpoint, **changes).model, [5, 6, 3])


@pytest.mark.parametrize("changes", [{"score": "unscaled"}, {"normalization": "rms", "norm": "pre"}], ids=str)
def test_parts_of_products_add_up_to_the_scores(checkpoint: Checkpoint, changes: dict[str, Any]):
    other = switched(checkpoint, **changes)
    trace = other.trace(SENTENCE, TARGET)
    ids = [*other.tokenizer.encode(SENTENCE), 3]
    assert trace.encoder.scores is not None
    assert_allclose(score_parts(other.model, ids).total, trace.encoder.scores[0], atol=1e-4)
    assert np.isfinite(trace.encoder.scores).all()
