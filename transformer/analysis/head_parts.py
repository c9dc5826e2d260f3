"""Everything in one head, in the order of Equation 1: q, k, v, scores, mask, pattern, z. Plain arrays of one pass."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from transformer.analysis.attention import Attention, Kind, Tokens
from transformer.analysis.head_inputs import Projection, projections
from transformer.model.hooks import HookPoint

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
    bias: Float32[np.ndarray, "query key"] | None
    """What positions add to the scores (ALiBi); None where they add nothing."""
    scores: Float32[np.ndarray, "query key"]
    """q·k / √d_k and the bias, before mask and softmax."""
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

    Raises ValueError, in one sentence, for a layer or head that is not there and for an attention that is no longer as
    it was traced.
    """
    model, config = checkpoint.model, checkpoint.model.config
    n_layers = config.n_encoder_layers if attention.kind == "encoder" else config.n_decoder_layers
    for name, number, count in (("layer", layer, n_layers), ("head", head, config.n_heads)):
        if not 0 <= number < count:
            raise ValueError(f"There is no {name} {number}; {attention.kind} has {name}s 0 to {count - 1}.")
    ids = _ids(checkpoint, source, model.device)
    read = None if attention.read is None else _ids(checkpoint, attention.read, model.device)
    hook = _OneHead(attention.kind, layer, head)
    bias = None
    with torch.inference_mode():
        if read is None:
            model.encode(ids, hooks=[hook])
        else:
            model(ids, read, hooks=[hook])
        made_of = projections(model, attention.kind, layer, head, ids, read)
        if attention.kind != "cross":
            every = model.positions.bias(len(attention.queries), len(attention.keys))
            bias = None if every is None else every[head].float().cpu().numpy()
    seen = hook.values
    if seen["hook_pattern"].shape != attention.mask.shape:
        raise ValueError(f"This {attention.kind} attention was changed; allowed is one as it was traced, in pieces.")
    turned = attention.kind != "cross" and config.positions == "rope"
    return HeadParts(
        kind=attention.kind,
        layer=layer,
        head=head,
        q=seen["hook_rot_q"],
        k=seen["hook_rot_k"],
        v=seen["hook_v"],
        bias=bias,
        scores=seen["hook_attn_scores"],
        mask=attention.mask,
        pattern=seen["hook_pattern"],
        z=seen["hook_z"],
        unturned={"q": seen["hook_q"], "k": seen["hook_k"]} if turned else {},
        projections=made_of,
        queries=attention.queries,
        keys=attention.keys,
        read=attention.read,
    )


def _ids(checkpoint: "Checkpoint", tokens: Tokens, device: torch.device) -> Tensor:
    """The row of ids that the pieces stand for. Text would not do: a model may write pieces that no text encodes to."""
    tokenizer = checkpoint.tokenizer
    numbers: Sequence[int] = range(len(tokenizer))
    known = dict(zip(tokenizer.pieces(numbers), numbers, strict=True))
    try:
        return torch.tensor([[known[piece] for piece in tokens.pieces]], device=device)
    except KeyError as error:
        raise ValueError(
            f"{error} is no piece of {checkpoint.name}; allowed are tokens as they were traced."
        ) from error
