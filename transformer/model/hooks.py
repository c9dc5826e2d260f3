"""Hooks: arguments of a forward pass that see, and may replace, what happens inside every attention layer.

Shapes at the hook points, in the order in which a forward pass reaches them:

    hook_q, hook_rot_q        (batch, head, query, d_k)      before and after the positions rotate it
    hook_k, hook_rot_k        (batch, head, key, d_k)
    hook_v                    (batch, head, key, d_v)
    hook_attn_scores          (batch, head, query, key)      with the positions' bias, before the mask
    hook_pattern              (batch, head, query, key)      after softmax, before dropout; rows sum to 1
    hook_z                    (batch, head, query, d_v)      pattern · values
    hook_result               (batch, head, query, d_model)  each head's share of the output, without its bias

While decoding with a key–value cache a pass holds only new queries: `HookPoint.offset` is the position of the first.
Keys and values then are the new ones (hook_k, hook_v) or all so far (hook_rot_k, hook_attn_scores, hook_pattern).

Mixing that compares nothing has no queries and keys: there self-attention begins with hook_v, and its scores are 0
(uniform) or the kernel's numbers (convolution). A GRU as encoder has no hook points.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from torch import Tensor

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")
HOOK_NAMES = (
    "hook_q",
    "hook_k",
    "hook_v",
    "hook_rot_q",
    "hook_rot_k",
    "hook_attn_scores",
    "hook_pattern",
    "hook_z",
    "hook_result",
)


@dataclass(frozen=True)
class HookPoint:
    """Where in the model a value stands; its string is the TransformerLens-style name, `encoder.0.hook_pattern`."""

    kind: Kind
    layer: int
    name: str
    offset: int = 0
    """Absolute position of the value's first query."""

    def __str__(self) -> str:
        return f"{self.kind}.{self.layer}.{self.name}"


class Hook(Protocol):
    """Sees the values at the hook points it names, and replaces a value by returning another of the same shape."""

    names: Collection[str]

    def __call__(self, value: Tensor, point: HookPoint) -> Tensor | None: ...


@dataclass(frozen=True)
class Watch:
    """The hooks of one forward pass, at one attention layer."""

    hooks: Sequence[Hook]
    kind: Kind
    layer: int
    offset: int = 0

    def wants(self, name: str) -> bool:
        return any(name in hook.names for hook in self.hooks)

    def __call__(self, name: str, value: Tensor) -> Tensor:
        """The value, as the hooks that name this point leave it, each given what the one before left."""
        point = HookPoint(self.kind, self.layer, name, self.offset)
        for hook in self.hooks:
            if name in hook.names:
                changed = hook(value, point)
                value = value if changed is None else changed
        return value


class Capture:
    """A hook that keeps what it sees, detached, under the points' names: `capture["encoder.0.hook_pattern"]`."""

    def __init__(self, names: Collection[str] = HOOK_NAMES) -> None:
        self.names = names
        self.values: dict[str, Tensor] = {}

    def __call__(self, value: Tensor, point: HookPoint) -> None:
        self.values[str(point)] = value.detach()

    def __getitem__(self, point: str) -> Tensor:
        return self.values[point]
