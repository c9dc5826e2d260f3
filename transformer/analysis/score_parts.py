"""What the scores of layer 0 are made of: content, position, and what rotation or bias adds. Exact, term by term.

Layer 0 is given content + position, so its scores fall into (content + position) · (content + position): four terms.
RoPE and ALiBi add nothing to the content; what they change in the scores is a term of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float64
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.model.attention import MultiHeadAttention
from transformer.model.layers import DecoderLayer, EncoderLayer, RMSNorm
from transformer.model.scores import ScaledDotProduct
from transformer.model.transformer import Transformer

CONTENT, POSITION = "content · content", "position · position"
CONTENT_POSITION, POSITION_CONTENT = "content · position", "position · content"
ROTATION, BIAS = "rotation", "bias"


@dataclass(frozen=True)
class ScoreParts:
    """The terms of every head's scores in layer 0, query · key; their sum is the score, before mask and softmax."""

    kind: Literal["encoder", "decoder"]
    parts: dict[str, Float64[np.ndarray, "head query key"]]
    """Terms that a model's positions leave at 0 everywhere are not there. The projections' biases count as content."""
    mask: Bool[np.ndarray, "query key"]

    @property
    def total(self) -> Float64[np.ndarray, "head query key"]:
        return sum(self.parts.values(), start=np.zeros_like(self.parts[CONTENT]))

    def shares(self) -> dict[str, Float64[np.ndarray, " head"]]:
        """How much of the score's variation over keys each term accounts for, cov(term, score) / var(score).

        Only differences between the keys of a query reach the softmax, so each row's mean over the keys that it may see
        is taken off first. The shares of a head add up to 1; one is negative where its term works against the sum. A
        head whose scores do not vary has only zeros.
        """
        total = self._centred(self.total)
        power = np.square(total).sum((1, 2))
        safe = np.where(power > 1e-12, power, np.inf)
        return {name: (self._centred(part) * total).sum((1, 2)) / safe for name, part in self.parts.items()}

    def _centred(self, scores: Float64[np.ndarray, "head query key"]) -> Float64[np.ndarray, "head query key"]:
        allowed = self.mask.sum(-1, keepdims=True)
        mean = (scores * self.mask).sum(-1, keepdims=True) / np.maximum(allowed, 1)
        return (scores - mean) * self.mask


@torch.no_grad()
def score_parts(model: Transformer, ids: Sequence[int], kind: Literal["encoder", "decoder"] = "encoder") -> ScoreParts:
    """The terms for one text: a source with </s>, or for the decoder <s> and the target that it reads.

    With pre-LN the layer's own normalization is part of it: its scale is that of the whole sum, which keeps the split
    exact. Raises ValueError for a model whose scores are no products of queries and keys.
    """
    layer = (model.encoder if kind == "encoder" else model.decoder)[0]
    attention = getattr(layer, "attention", None)
    if not isinstance(attention, MultiHeadAttention) or not isinstance(attention.score, ScaledDotProduct):
        raise ValueError("The scores of this model are not products of queries and keys, and have no such parts.")
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    embedding = model.source_embedding if kind == "encoder" else model.target_embedding
    content = F.embedding(torch.tensor([list(ids)], device=model.device), embedding.weight)
    content = (content * math.sqrt(model.config.d_model)).double()
    position = model.positions.embed(content) - content
    if model.config.norm == "pre":
        content, position = _normalized(layer.attention_residual.norm, content, position)
    n = len(ids)
    q_content, k_content = (_heads(attention, linear, content) for linear in (attention.query, attention.key))
    q_position, k_position = (_heads(attention, linear, position, False) for linear in (attention.query, attention.key))
    parts = {
        CONTENT: attention.score(q_content, k_content),
        CONTENT_POSITION: attention.score(q_content, k_position),
        POSITION_CONTENT: attention.score(q_position, k_content),
        POSITION: attention.score(q_position, k_position),
    }
    q, k = q_content + q_position, k_content + k_position
    turned_q, turned_k = model.positions.rotate(q, k)
    if turned_q is not q:
        parts[ROTATION] = attention.score(turned_q, turned_k) - attention.score(q, k)
    bias = model.positions.bias(n, n)
    if bias is not None:
        parts[BIAS] = bias.double()[None]
    arrays = {name: part[0].cpu().numpy() for name, part in parts.items()}
    mask = attention.visible(n, n, causal=kind == "decoder" and model.config.causal).cpu().numpy()
    return ScoreParts(kind, {name: part for name, part in arrays.items() if name == CONTENT or part.any()}, mask)


def _heads(attention: MultiHeadAttention, linear: nn.Linear, rows: Tensor, with_bias: bool = True) -> Tensor:
    bias = linear.bias.double() if with_bias else None
    projected = F.linear(rows.double(), linear.weight.double(), bias)
    return projected.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)


def _normalized(norm: nn.LayerNorm | RMSNorm, content: Tensor, position: Tensor) -> tuple[Tensor, Tensor]:
    """The normalized content + position as the sum of two parts, a LayerNorm's bias in the first."""
    both = content + position
    if isinstance(norm, RMSNorm):
        scale = norm.weight / (both.square().mean(-1, keepdim=True) + (norm.eps or 0)).sqrt()
        return content * scale, position * scale
    scale = norm.weight / (both.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    content, position = ((part - part.mean(-1, keepdim=True)) * scale for part in (content, position))
    return content + norm.bias, position
