"""Traces: what a pass leaves behind, its rollout, and its file."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from transformer.analysis.attention import Attention, Tokens
from transformer.analysis.trace import KINDS, Trace, Translation, load_trace
from transformer.analysis.tracing import trace_encoder
from transformer.model import Transformer
from transformer.text.tokenizer import BOS, EOS

SENTENCE, TARGET = "The animal was tired.", "Das Tier war müde."


@pytest.fixture(scope="module")
def trace(checkpoint) -> Trace:
    return checkpoint.trace(SENTENCE, TARGET)


def test_shapes_are_layer_head_query_key(trace, checkpoint):
    n_source = len(checkpoint.tokenizer.encode(SENTENCE)) + 1
    n_target = len(checkpoint.tokenizer.encode(TARGET)) + 1
    assert trace.encoder.pattern.shape == (2, 4, n_source, n_source)
    assert trace.decoder.pattern.shape == (3, 4, n_target, n_target)
    assert trace.cross.pattern.shape == (3, 4, n_target, n_source)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_sum_to_one_and_masked_cells_are_zero(trace, kind):
    attention = trace[kind]
    assert attention.pattern.dtype == np.float32
    assert_allclose(attention.pattern.sum(-1), 1, atol=1e-5)
    assert not attention.pattern[..., ~attention.mask].any()


def test_rows_are_labelled_by_the_token_written_and_decoder_keys_by_the_token_read(trace):
    assert trace.decoder.queries.labels[-1] == "</s>"
    assert trace.decoder.keys.labels[0] == "<s>"
    assert trace.decoder.read == trace.decoder.keys
    assert trace.cross.queries == trace.decoder.queries
    assert trace.decoder.keys.labels[1:] == trace.decoder.queries.labels[:-1]
    assert trace.source.labels[-1] == "</s>"


def test_pattern_is_the_softmax_of_the_masked_scores(trace):
    for kind in KINDS:
        scores = np.where(trace[kind].mask, trace[kind].scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        assert_allclose(trace[kind].pattern, weights / weights.sum(-1, keepdims=True), atol=1e-6)


def test_log_probabilities_are_those_of_an_unwatched_pass(trace, checkpoint):
    source = torch.tensor([[*checkpoint.tokenizer.encode(SENTENCE), EOS]])
    target = checkpoint.tokenizer.encode(TARGET)
    with torch.inference_mode():
        log_probs = checkpoint.model(source, torch.tensor([[BOS, *target]]))[0].log_softmax(-1)
    expected = [log_probs[row, piece].item() for row, piece in enumerate([*target, EOS])]
    assert_allclose(trace.translation.token_log_probs, expected, atol=1e-5)
    assert trace.translation.log_prob == pytest.approx(sum(expected), abs=1e-4)
    assert trace.translation.score == pytest.approx(sum(expected) / ((5 + len(expected)) / 6) ** 0.6, abs=1e-4)


def test_own_translation_is_what_translate_gives(checkpoint):
    trace = checkpoint.trace(SENTENCE)
    assert trace.translation.generated
    assert trace.target_text == checkpoint.translate([SENTENCE])[0]


def test_encoder_alone_is_the_encoder_of_the_whole_trace(trace, checkpoint):
    alone = trace_encoder(checkpoint, SENTENCE)
    assert_array_equal(alone.pattern, trace.encoder.pattern)
    assert alone.keys == trace.source


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_sentence_is_refused_in_one_sentence(checkpoint, text):
    with pytest.raises(ValueError, match="The sentence is empty; type at least one word"):
        checkpoint.trace(text)
    with pytest.raises(ValueError, match="The target is empty; type at least one word"):
        checkpoint.trace(SENTENCE, text)


@pytest.mark.parametrize(
    "text", ["🙂", "<script>alert(1)</script>", "שלום עולם", "the the the", "x" * 300, "</s>", "\x00"]
)
def test_unusual_sentences_give_whole_traces(checkpoint, text):
    trace = checkpoint.trace(text, "ja")
    assert trace.source_text == text
    assert all(label for label in trace.source.labels)
    assert_allclose(trace.encoder.pattern.sum(-1), 1, atol=1e-5)
    assert len(trace.encoder.words().keys) <= len(trace.source)


def test_cache_has_every_hook_point_of_every_layer(trace):
    assert_allclose(trace.cache["encoder.1.hook_pattern"], trace.encoder.pattern[1], atol=1e-6)
    assert trace.cache["decoder.2.hook_q"].shape == (4, len(trace.target), 3)
    assert trace.cache["cross.0.hook_v"].shape == (4, len(trace.source), 5)
    assert trace.cache["cross.0.hook_result"].shape == (4, len(trace.target), 16)
    assert len(trace.cache) == (2 + 3 + 3) * 9


def test_unknown_kind_is_named(trace):
    with pytest.raises(KeyError, match=r"self-attention.*encoder, decoder, cross"):
        trace["self-attention"]


def tokens(n: int) -> Tokens:
    labels = tuple(f"t{i}" for i in range(n))
    return Tokens(labels, labels, tuple(range(n)), (False,) * n)


def test_rollout_by_hand():
    """One layer each; the encoder sends everything to key 1, cross-attention everything to source 0."""
    to_first, to_second = (np.array([[[row, row]]], np.float32) for row in ([1, 0], [0, 1]))
    encoder = Attention("encoder", to_second, None, np.ones((2, 2), bool), tokens(2), tokens(2))
    decoder = Attention("decoder", to_first, None, np.tri(2, dtype=bool), tokens(2), tokens(2))
    cross = Attention("cross", to_first, None, np.ones((2, 2), bool), tokens(2), tokens(2))
    trace = Trace("m", 0, "s", Translation("t", False, (0.0, 0.0), 0.0), encoder, decoder, cross)
    rolled = trace.rollout()
    assert_allclose(rolled["encoder"].pattern[0, 0], [[0.5, 0.5], [0, 1]])
    assert_allclose(rolled["decoder"].pattern[0, 0], [[0.5, 0], [0.25, 0.25]])
    assert_allclose(rolled["cross"].pattern[0, 0], [[0.25, 0.25], [0.25, 0.25]])


def test_rollout_is_one_product_of_matrices(trace):
    """Two layers and three: target and source as one state, of which every layer takes half and leaves half."""
    n_target, n_source = len(trace.target), len(trace.source)
    target, source = np.eye(n_target), np.eye(n_source)
    reached = np.linalg.multi_dot([(source + mean) / 2 for mean in trace.encoder.pattern.mean(1)[::-1]])
    below = np.zeros((n_source, n_target))
    state = np.block([[target, below.T], [below, reached]])
    rolled = trace.rollout()
    assert_allclose(rolled["encoder"].pattern[-1, 0], reached, atol=1e-6)
    for layer, (self_mean, cross_mean) in enumerate(
        zip(trace.decoder.pattern.mean(1), trace.cross.pattern.mean(1), strict=True)
    ):
        state = np.block([[(target + self_mean) / 2, below.T], [below, source]]) @ state
        state = np.block([[target / 2, cross_mean / 2], [below, source]]) @ state
        assert_allclose(rolled["decoder"].pattern[layer, 0], state[:n_target, :n_target], atol=1e-6)
        assert_allclose(rolled["cross"].pattern[layer, 0], state[:n_target, n_target:], atol=1e-6)


def test_rollout_rows_are_distributions(trace):
    rolled = trace.rollout()
    assert_allclose(rolled["encoder"].pattern.sum(-1), 1, atol=1e-5)
    both = rolled["decoder"].pattern.sum(-1) + rolled["cross"].pattern.sum(-1)
    assert_allclose(both, 1, atol=1e-5)
    assert rolled["cross"].pattern.shape[:2] == (3, 1)


def test_frame_holds_every_cell_of_the_three_kinds(trace):
    frame = trace.to_frame()
    assert len(frame) == sum(trace[kind].pattern.size for kind in KINDS)
    assert set(frame["kind"]) == set(KINDS)


def test_saved_and_loaded_trace_is_the_same(checkpoint, tmp_path):
    trace = checkpoint.trace('Häuser "für" 😀 </script> שלום', "x\ty")
    trace.save(tmp_path / "trace.npz")
    loaded = load_trace(tmp_path / "trace.npz")
    for kind in KINDS:
        assert_array_equal(loaded[kind].pattern, trace[kind].pattern)
        assert_array_equal(loaded[kind].scores, trace[kind].scores)
        assert_array_equal(loaded[kind].mask, trace[kind].mask)
        assert (loaded[kind].queries, loaded[kind].keys) == (trace[kind].queries, trace[kind].keys)
        assert loaded[kind].read == trace[kind].read
    assert loaded.translation == trace.translation
    assert (loaded.model, loaded.step, loaded.source_text) == (trace.model, trace.step, trace.source_text)
    assert_array_equal(loaded.cache["cross.2.hook_pattern"], trace.cross.pattern[2])


def test_a_model_with_a_weight_that_is_no_number_cannot_write_but_reads(checkpoint):
    broken = replace(checkpoint, model=copy.deepcopy(checkpoint.model))
    with torch.no_grad():
        broken.model.encoder[1].attention.query.weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match=r"scores are not numbers \(NaN\)"):
        broken.trace("a b c")
    assert np.isnan(broken.trace("a b c", target="c b a").cross.pattern).any()


def test_names_of_layers_and_heads_are_saved(trace, tmp_path):
    """Of a summary, say; a file from before they were saved has the numbers."""
    mean = replace(trace, cross=trace.cross.mean())
    mean.save(tmp_path / "mean.npz")
    loaded = load_trace(tmp_path / "mean.npz")
    assert (loaded.cross.heads, loaded.cross.layers) == (("mean",), trace.cross.layers)
    assert loaded.encoder.heads == trace.encoder.heads


def test_a_pickled_copy_leaves_the_model_behind(trace):
    copied = pickle.loads(pickle.dumps(trace))
    assert_array_equal(copied.encoder.pattern, trace.encoder.pattern)
    assert "encoder.0.hook_q" not in copied.cache


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 broken"])
def test_a_file_that_is_no_trace_is_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.npz is not a trace saved by Roundtable"):
        load_trace(path)


def test_pickled_arrays_in_a_trace_file_are_never_loaded(tmp_path):
    path = tmp_path / "evil.npz"
    np.savez(path, about=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ValueError, match="is not a trace saved by Roundtable"):
        load_trace(path)


def test_the_untrained_twin_is_the_model_before_its_first_step(checkpoint):
    twin = checkpoint.untrained()
    assert twin.name == "test (untrained)"
    # The fixture's model was made with the seed of its configuration and never trained.
    for name, weight in checkpoint.model.state_dict().items():
        assert torch.equal(weight, twin.model.state_dict()[name]), name


def test_making_the_untrained_twin_leaves_the_random_state_alone(checkpoint):
    before = torch.get_rng_state()
    checkpoint.untrained()
    assert torch.equal(before, torch.get_rng_state())


def test_a_trace_is_not_changed_by_its_views(trace):
    before = trace.encoder.pattern.copy()
    trace.encoder.words(), trace.encoder.mean(), trace.rollout(), replace(trace.encoder, scores=None)
    assert_array_equal(trace.encoder.pattern, before)


def test_a_target_cut_off_at_the_last_learned_position_can_be_traced(checkpoint):
    config = replace(checkpoint.config.model, positions="learned", max_length=12)
    torch.manual_seed(0)
    model = Transformer(config).eval()
    with torch.no_grad():
        model.projection.weight[EOS] = -10 * model.projection.weight.abs().max()
    endless = replace(checkpoint, model=model, config=replace(checkpoint.config, model=config))
    trace = endless.trace("A")
    assert len(trace.target) <= 12
    assert trace.target.labels[-1] == "</s>"
