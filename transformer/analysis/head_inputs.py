"""What a head's queries, keys and values are made of: the rows that reach its layer, and its columns of each weight."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.analysis.attention import Kind
from transformer.model.attention import MultiHeadAttention
from transformer.model.layers import DecoderLayer, EncoderLayer, PostNorm
from transformer.model.transformer import Transformer


@dataclass(frozen=True)
class Projection:
    """rows · weight + bias, which is one head's queries, keys or values before any rotation."""

    rows: Float32[np.ndarray, "row d_model"]
    weight: Float32[np.ndarray, "d_model width"]
    bias: Float32[np.ndarray, " width"]


def projections(
    model: Transformer, kind: Kind, layer: int, head: int, source: Tensor, read: Tensor | None
) -> dict[str, Projection]:
    """Of "q", "k" and "v", for one source and what the decoder reads, each a batch of one; the encoder reads none."""
    attention, x, keys = _entering(model, kind, layer, source, read)
    found = {}
    for name, linear, rows in (("q", attention.query, x), ("k", attention.key, keys), ("v", attention.value, keys)):
        width = linear.out_features // attention.n_heads
        mine = slice(head * width, (head + 1) * width)
        found[name] = Projection(_array(rows[0]), _array(linear.weight[mine].T), _array(linear.bias[mine]))
    return found


def _entering(
    model: Transformer, kind: Kind, layer: int, source: Tensor, read: Tensor | None
) -> tuple[MultiHeadAttention, Tensor, Tensor]:
    """An attention layer with the rows that its queries are made from, and those of its keys and values."""
    if kind == "encoder":
        x = _embedded(model, source, model.source_embedding)
        for lower in model.encoder[:layer]:
            x = lower(x, None, model.positions)
        encoder_layer = model.encoder[layer]
        assert isinstance(encoder_layer, EncoderLayer)
        x = _handed(encoder_layer.attention_residual, x)
        return encoder_layer.attention, x, x
    if read is None:
        raise ValueError(f"There is no {kind} attention without a target; hand over what the decoder reads.")
    memory = model.encode(source)
    x = _embedded(model, read, model.target_embedding)
    for lower in model.decoder[:layer]:
        x = lower(x, memory, None, model.positions)
    decoder_layer = model.decoder[layer]
    assert isinstance(decoder_layer, DecoderLayer)
    own = decoder_layer.attention
    if kind == "decoder":
        x = _handed(decoder_layer.attention_residual, x)
        return own, x, x
    x = decoder_layer.attention_residual(x, lambda y: own(y, y, positions=model.positions, causal=True))
    return decoder_layer.cross, _handed(decoder_layer.cross_residual, x), memory


def _embedded(model: Transformer, ids: Tensor, embedding: nn.Embedding) -> Tensor:
    return model.positions.embed(F.embedding(ids, embedding.weight) * math.sqrt(model.config.d_model))


def _handed(residual: PostNorm, x: Tensor) -> Tensor:
    """What a residual connection hands to its sub-layer: x as it is with post-LN, normalized with pre-LN."""
    handed = []

    def sublayer(y: Tensor) -> Tensor:
        handed.append(y)
        return torch.zeros_like(y)

    residual(x, sublayer)
    return handed[0]


def _array(values: Tensor) -> np.ndarray:
    return values.detach().float().cpu().numpy().copy()
