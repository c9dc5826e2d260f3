"""The peers' models, as their own documentation would have them, at a given shape.

All have tied embeddings, sinusoidal positions, post-norm, ReLU, and dropout where the paper has it and nowhere else:
on each sub-layer's output and on embedding + position (§5.4). None drops attention weights, which would cost them the
CPU's fast attention kernel. Each takes a batch and gives logits (batch, query, vocab).
"""

import math

from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import ModelConfig
from transformer.model import Transformer
from transformer.model.positions import sinusoids
from transformer.text.batches import Batch
from transformer.text.tokenizer import BOS, EOS, PAD


class TorchTransformer(nn.Module):
    """torch.nn.Transformer with what it leaves out: embeddings, positions, projection."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.register_buffer("positions", sinusoids(config.max_length, config.d_model).float())
        self.scale = math.sqrt(config.d_model)
        self.dropout = nn.Dropout(config.p_drop)
        self.transformer = nn.Transformer(
            config.d_model, config.n_heads, config.n_encoder_layers, config.n_decoder_layers, config.d_ff,
            dropout=config.p_drop, batch_first=True,
        )  # fmt: skip
        for module in self.transformer.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0  # between the two linear layers

    def forward(self, batch: Batch) -> Tensor:
        padding = batch.source == PAD
        causal = nn.Transformer.generate_square_subsequent_mask(batch.target_in.shape[1])
        hidden = self.transformer(
            self._embed(batch.source), self._embed(batch.target_in),
            src_key_padding_mask=padding, memory_key_padding_mask=padding, tgt_mask=causal, tgt_is_causal=True,
        )  # fmt: skip
        return F.linear(hidden, self.embedding.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.embedding(ids) * self.scale + self.positions[: ids.shape[1]])


def marian_model(config: ModelConfig) -> nn.Module:
    """Hugging Face's MarianMT with random weights; its attention is SDPA."""
    from transformers import MarianConfig, MarianMTModel

    return MarianMTModel(
        MarianConfig(
            vocab_size=config.vocab_size, d_model=config.d_model, scale_embedding=True, activation_function="relu",
            encoder_layers=config.n_encoder_layers, decoder_layers=config.n_decoder_layers,
            encoder_attention_heads=config.n_heads, decoder_attention_heads=config.n_heads,
            encoder_ffn_dim=config.d_ff, decoder_ffn_dim=config.d_ff, max_position_embeddings=config.max_length,
            dropout=config.p_drop, attention_dropout=0.0, activation_dropout=0.0,
            pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS, decoder_start_token_id=BOS, forced_eos_token_id=None,
            attn_implementation="sdpa",
        )
    )  # fmt: skip


def marian_with_weights_of(ours: Transformer) -> nn.Module:
    """A MarianMT that computes what our model does: post-norm, ReLU, sinusoids, tied embeddings."""
    theirs = marian_model(ours.config).eval()
    renamed = {"attention": "self_attn", "cross": "encoder_attn", "feed_forward": ""}
    projections = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
    state = {"model.shared.weight": ours.source_embedding.weight}
    for name, weight in ours.named_parameters():
        stack, *path = name.split(".")
        if stack not in ("encoder", "decoder"):
            continue
        layer, part, *inner = path
        if part.endswith("_residual"):
            norm = renamed[part.removesuffix("_residual")] or "final"
            inner = [f"{norm}_layer_norm", inner[-1]]
        elif part == "feed_forward":
            inner = [{"inner": "fc1", "outer": "fc2"}[inner[0]], inner[-1]]
        else:
            inner = [renamed[part], projections[inner[0]], inner[-1]]
        state[".".join(("model", stack, "layers", layer, *inner))] = weight
    table = sinusoids(ours.config.max_length, ours.config.d_model).float()
    for stack in ("encoder", "decoder"):
        state[f"model.{stack}.embed_positions.weight"] = table
    known = theirs.state_dict()
    tied = {name for name in known if name.endswith("embed_tokens.weight") or name == "lm_head.weight"}
    theirs.load_state_dict(state, strict=False)
    left = known.keys() - state.keys() - tied
    assert left <= {"final_logits_bias"} and state.keys() <= known.keys(), (left, state.keys() - known.keys())
    return theirs


class Marian(nn.Module):
    """marian_model on a batch."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.marian = marian_model(config)

    def forward(self, batch: Batch) -> Tensor:
        mask = (batch.source != PAD).long()
        return self.marian(
            input_ids=batch.source, attention_mask=mask, decoder_input_ids=batch.target_in, use_cache=False
        ).logits


class XTransformers(nn.Module):
    """x-transformers' encoder and decoder; its attention layers have no biases and its positions one learned scale."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        from x_transformers import Decoder, Encoder, TransformerWrapper

        layer = {
            "dim": config.d_model, "heads": config.n_heads, "attn_dim_head": config.d_k, "attn_flash": True,
            "attn_sublayer_dropout": config.p_drop, "ff_sublayer_dropout": config.p_drop,
            "ff_mult": config.d_ff / config.d_model, "ff_custom_activation": nn.ReLU(), "pre_norm": False,
        }  # fmt: skip
        wrapper = {
            "num_tokens": config.vocab_size, "max_seq_len": config.max_length, "emb_dropout": config.p_drop,
            "scaled_sinu_pos_emb": True,
        }  # fmt: skip
        encoder = Encoder(depth=config.n_encoder_layers, **layer)
        decoder = Decoder(depth=config.n_decoder_layers, cross_attend=True, **layer)
        self.encoder = TransformerWrapper(**wrapper, attn_layers=encoder, return_only_embed=True)
        self.decoder = TransformerWrapper(**wrapper, attn_layers=decoder, tie_embedding=True)
        self.decoder.token_emb = self.encoder.token_emb
        self.decoder.to_logits = lambda x: x @ self.encoder.token_emb.emb.weight.T

    def forward(self, batch: Batch) -> Tensor:
        mask = batch.source != PAD
        memory = self.encoder(batch.source, mask=mask, return_embeddings=True)
        return self.decoder(batch.target_in, context=memory, context_mask=mask)
