"""The whole model against Hugging Face's MarianMT, an independent implementation, with our weights copied into it."""

import pytest
import torch
from transformers import MarianConfig, MarianMTModel

from tests.model.small import SOURCE, TARGET_IN, copy, largest_difference, small_model
from transformer.model import Transformer
from transformer.model.hooks import Capture
from transformer.model.positions import sinusoids


def marian(ours: Transformer, attention: str) -> MarianMTModel:
    """MarianMT with our weights; its sinusoids stand in two halves where ours alternate, so our table replaces them."""
    config = ours.config
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=config.vocab_size, d_model=config.d_model, scale_embedding=True, activation_function="relu",
            encoder_layers=2, encoder_ffn_dim=config.d_ff, encoder_attention_heads=config.n_heads,
            decoder_layers=2, decoder_ffn_dim=config.d_ff, decoder_attention_heads=config.n_heads,
            max_position_embeddings=config.max_length, dropout=0.0, pad_token_id=0, eos_token_id=3,
            decoder_start_token_id=2, forced_eos_token_id=None, attn_implementation=attention,
        )
    ).eval()  # fmt: skip
    with torch.no_grad():
        theirs.model.shared.weight.copy_(ours.source_embedding.weight)
        for stack in (theirs.model.encoder, theirs.model.decoder):
            stack.embed_positions.weight.copy_(sinusoids(config.max_length, config.d_model))
    layers = [
        *zip(ours.encoder, theirs.model.encoder.layers, strict=True),
        *zip(ours.decoder, theirs.model.decoder.layers, strict=True),
    ]
    for layer, other in layers:
        attentions = [(layer.attention, other.self_attn)]
        copy(layer.attention_residual.norm, other.self_attn_layer_norm)
        if hasattr(layer, "cross"):
            attentions.append((layer.cross, other.encoder_attn))
            copy(layer.cross_residual.norm, other.encoder_attn_layer_norm)
        for mine, their in attentions:
            for name, projection in (("query", "q"), ("key", "k"), ("value", "v"), ("output", "out")):
                copy(getattr(mine, name), getattr(their, f"{projection}_proj"))
        copy(layer.feed_forward.inner, other.fc1)
        copy(layer.feed_forward.outer, other.fc2)
        copy(layer.feed_forward_residual.norm, other.final_layer_norm)
    return theirs


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_logits_equal_marians(attention: str):
    ours = small_model()
    theirs = marian(ours, attention)
    assert theirs.lm_head.weight.data_ptr() == theirs.model.shared.weight.data_ptr()
    with torch.no_grad():
        expected = theirs(
            input_ids=SOURCE, attention_mask=(SOURCE != 0).long(), decoder_input_ids=TARGET_IN, use_cache=False
        ).logits
        found = ours(SOURCE, TARGET_IN)
    real = TARGET_IN != 0
    assert largest_difference(found[real], expected[real]) < 1e-5


def test_patterns_of_all_three_kinds_equal_marians():
    ours, capture = small_model(), Capture(("hook_pattern",))
    with torch.no_grad():
        theirs = marian(ours, "eager")(
            input_ids=SOURCE, attention_mask=(SOURCE != 0).long(), decoder_input_ids=TARGET_IN,
            use_cache=False, output_attentions=True,
        )  # fmt: skip
        ours(SOURCE, TARGET_IN, (capture,))
    patterns = {
        "encoder": theirs.encoder_attentions, "decoder": theirs.decoder_attentions, "cross": theirs.cross_attentions,
    }  # fmt: skip
    real = {"encoder": SOURCE != 0, "decoder": TARGET_IN != 0, "cross": TARGET_IN != 0}
    for kind, layers in patterns.items():
        for layer, expected in enumerate(layers):
            found = capture[f"{kind}.{layer}.hook_pattern"]
            rows = real[kind]
            assert largest_difference(found.transpose(1, 2)[rows], expected.transpose(1, 2)[rows]) < 1e-5
