"""Everything in one head, in the order of Equation 1: q, k, v, scores, mask, pattern, z. Plain arrays of one pass."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from transformer.analysis.attention import Attention, Kind, Tokens
from transformer.analysis.head_inputs import Entering, Projection
from transformer.analysis.retrace import piece_ids
from transformer.model.attention import MultiHeadAttention
from transformer.model.hooks import HookPoint
from transformer.model.transformer import Transformer

if TYPE_CHECKING:
    from transformer.checkpoint import Checkpoint

_NAMES = ("hook_q", "hook_k", "hook_v", "hook_rot_q", "hook_rot_k", "hook_attn_scores", "hook_pattern", "hook_z")


@dataclass(frozen=True)
class HeadParts:
    """One head of one kind of attention on one sentence pair: softmax(q kᵀ / √d_k + bias) v, step by step."""

    kind: Kind
    layer: int
    head: int
    q: Float32[np.ndarray, "query d_k"]
    """As they are compared: after the rotation, where positions rotate (RoPE)."""
    k: Float32[np.ndarray, "key d_k"]
    v: Float32[np.ndarray, "key d_v"]
    score: str
    """How a query is compared with a key, by its name in ModelConfig."""
    scale: float
    """What a product of query and key is multiplied by: 1 / √d_k in the paper."""
    bias: Float32[np.ndarray, "query key"] | None
    """What positions add to the scores (ALiBi); None where they add nothing."""
    scores: Float32[np.ndarray, "query key"]
    """q·k · scale + bias, before mask and softmax."""
    mask: Bool[np.ndarray, "query key"]
    """True where the query may attend to the key."""
    pattern: Float32[np.ndarray, "query key"]
    z: Float32[np.ndarray, "query d_v"]
    """pattern · v, the head's output before it is projected back to d_model."""
    unturned: dict[str, Float32[np.ndarray, "row d_k"]]
    """"q" and "k" before the rotation; empty where positions do not rotate."""
    projections: dict[str, Projection]
    """What "q", "k" and "v" are made of."""
    queries: Tokens
    keys: Tokens
    read: Tokens | None = None
    """Decoder and cross: the token that the decoder reads at each row."""

    @property
    def d_k(self) -> int:
        return self.q.shape[1]

    @property
    def name(self) -> str:
        return f"L{self.layer}·H{self.head}"


class _OneHead:
    """A hook that keeps what one head of one layer does."""

    def __init__(self, kind: Kind, layer: int, head: int) -> None:
        self.names: Collection[str] = _NAMES
        self.place, self.head = (kind, layer), head
        self.values: dict[str, np.ndarray] = {}

    def __call__(self, value: Tensor, point: HookPoint) -> None:
        if (point.kind, point.layer) == self.place:
            self.values[point.name] = value[0, self.head].detach().float().cpu().numpy().copy()


def head_parts(checkpoint: "Checkpoint", attention: Attention, source: Tokens, layer: int, head: int) -> HeadParts:
    """What one head does in the pass that left `attention`, which is the kind looked at; `source` is the trace's.

        trace = checkpoint.trace("The animal was tired.")
        head_parts(checkpoint, trace.cross, trace.source, layer=1, head=2)

    Raises ValueError, in one sentence, for a layer or head that is not there, for an attention that is no longer as it
    was traced, and for a head that does not compare by products of queries and keys.
    """
    model, kind = checkpoint.model, attention.kind
    module = _module(model, kind, layer)
    if not 0 <= head < module.n_heads:
        raise ValueError(f"There is no head {head}; {kind} has heads 0 to {module.n_heads - 1}.")
    if attention.read is None and kind != "encoder":
        raise ValueError(f"There is no {kind} attention without a target; hand over what the decoder reads.")
    ids = _ids(checkpoint, source)
    hook, entering = _OneHead(kind, layer, head), Entering(module)
    bias = None
    with torch.inference_mode(), entering:
        if attention.read is None:
            model.encode(ids, hooks=[hook])
        else:
            model(ids, _ids(checkpoint, attention.read), hooks=[hook])
        if kind != "cross":
            every = model.positions.bias(len(attention.queries), len(attention.keys))
            bias = None if every is None else every[head].float().cpu().numpy()
    seen = hook.values
    if seen["hook_pattern"].shape != attention.mask.shape:
        raise ValueError(f"This {kind} attention was changed; allowed is one as it was traced, in pieces.")
    turned = kind != "cross" and model.config.positions == "rope"
    return HeadParts(
        kind=kind,
        layer=layer,
        head=head,
        q=seen["hook_rot_q"],
        k=seen["hook_rot_k"],
        v=seen["hook_v"],
        score=model.config.score,
        scale=float(torch.as_tensor(module.score.scale)),
        bias=bias,
        scores=seen["hook_attn_scores"],
        mask=attention.mask,
        pattern=seen["hook_pattern"],
        z=seen["hook_z"],
        unturned={"q": seen["hook_q"], "k": seen["hook_k"]} if turned else {},
        projections=entering.projections(head),
        queries=attention.queries,
        keys=attention.keys,
        read=attention.read,
    )


def _module(model: Transformer, kind: Kind, layer: int) -> MultiHeadAttention:
    """The layer's attention, where it is one that multiplies queries and keys."""
    layers = model.encoder if kind == "encoder" else model.decoder
    if not 0 <= layer < len(layers):
        raise ValueError(f"There is no layer {layer}; {kind} has layers 0 to {len(layers) - 1}.")
    module = getattr(layers[layer], "cross" if kind == "cross" else "attention")
    if not isinstance(module, MultiHeadAttention):
        raise ValueError(f"The {kind} heads of this model compare nothing: they have no queries and keys to show.")
    if not module.score.fused:
        raise ValueError(
            f"The scores of this model are {model.config.score!r}, and this view takes products of queries and keys."
        )
    return module


def _ids(checkpoint: "Checkpoint", tokens: Tokens) -> Tensor:
    return torch.tensor([piece_ids(checkpoint.tokenizer, tokens.pieces)], device=checkpoint.model.device)
