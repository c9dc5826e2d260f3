"""Lengths of f(x) against what the model itself mixes: Σⱼ weight·f(xⱼ) has to be the head's hook_result."""

import numpy as np
import pytest

from transformer.analysis.filters import Filters
from transformer.analysis.retrace import piece_ids, retrace
from transformer.analysis.value_norms import value_norms


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_they_are_the_lengths_of_the_vectors_that_a_head_mixes(checkpoint, kind):
    trace = checkpoint.trace("The animal was tired.", "Das Tier")
    norms = value_norms(checkpoint, trace.source, trace.decoder.keys)[kind]
    assert norms.shape == (*trace[kind].pattern.shape[:2], len(trace[kind].keys))
    name = {"cross": "cross"}.get(kind, "attention")
    stack = checkpoint.model.encoder if kind == "encoder" else checkpoint.model.decoder
    for layer in range(norms.shape[0]):
        weight = getattr(stack[layer], name).output.weight.detach().numpy()  # (d_model, head · d_v)
        values, result = trace.cache[f"{kind}.{layer}.hook_v"], trace.cache[f"{kind}.{layer}.hook_result"]
        for head in range(norms.shape[1]):
            d_v = values.shape[-1]
            vectors = values[head] @ weight[:, head * d_v : (head + 1) * d_v].T
            assert np.allclose(np.linalg.norm(vectors, axis=-1), norms[layer, head], atol=1e-5)
            assert np.allclose(trace[kind].pattern[layer, head] @ vectors, result[head], atol=1e-5)


def test_the_encoder_alone_needs_no_target(checkpoint):
    trace = checkpoint.trace("A street is wide.", "x")
    alone = value_norms(checkpoint, trace.source)
    assert list(alone) == ["encoder"]
    assert np.allclose(alone["encoder"], value_norms(checkpoint, trace.source, trace.decoder.keys)["encoder"])


def test_a_value_of_length_0_takes_its_key_out(checkpoint):
    trace = checkpoint.trace("The animal", "Das")
    norms = value_norms(checkpoint, trace.source, trace.decoder.keys)
    norms["cross"][..., 0] = 0
    shares = Filters(weighting="norm").apply(trace, "cross", norms).pattern
    assert not shares[..., 0].any()
    assert np.allclose(shares.sum(-1), 1, atol=1e-5)


def test_the_twin_reads_the_same_pieces(checkpoint):
    trace, twin = checkpoint.trace("The animal was tired."), checkpoint.untrained()
    again = retrace(twin, trace)
    assert (again.source, again.target, again.decoder.keys) == (trace.source, trace.target, trace.decoder.keys)
    assert again.target_text == trace.target_text
    assert not again.translation.generated
    assert again.model == "test (untrained)"
    assert np.allclose(retrace(checkpoint, trace).cross.pattern, trace.cross.pattern, atol=1e-6)


def test_a_piece_of_another_tokenizer_is_refused(checkpoint):
    with pytest.raises(ValueError, match="The piece '▁Zebra' is not in the vocabulary"):
        piece_ids(checkpoint.tokenizer, ["▁Zebra"])
