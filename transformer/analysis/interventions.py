"""Changes made to single heads during a forward pass; each is a hook, so it works in decoding step by step too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.model.hooks import KINDS, HookPoint, Kind


@dataclass(frozen=True)
class Intervention:
    """A change to one head; subclasses say at which hook points, and what."""

    kind: Kind
    layer: int
    head: int
    names: ClassVar[tuple[str, ...]] = ()

    def __call__(self, value: Tensor, point: HookPoint) -> Tensor | None:
        if (point.kind, point.layer) != (self.kind, self.layer):
            return None
        changed = value.clone()
        changed[:, self.head] = self.change(value[:, self.head], point)
        return changed

    def change(self, value: Tensor, point: HookPoint) -> Tensor:
        """The head's new value, from its old one of shape (batch, query, …)."""
        raise TypeError(f"{type(self).__name__} does not say what it changes.")

    def check(self, config: ModelConfig) -> None:
        """Raise ValueError, in one sentence, when a model of this configuration has no such head."""
        if self.kind not in KINDS:
            raise ValueError(f"{self}: kind is {self.kind!r}; allowed is {' | '.join(KINDS)}.")
        n_layers = config.n_encoder_layers if self.kind == "encoder" else config.n_decoder_layers
        if not 0 <= self.layer < n_layers:
            raise ValueError(f"{self}: there is no layer {self.layer}; {self.kind} has layers 0 to {n_layers - 1}.")
        if not 0 <= self.head < config.n_heads:
            raise ValueError(f"{self}: there is no head {self.head}; a layer has heads 0 to {config.n_heads - 1}.")


@dataclass(frozen=True)
class SwitchOff(Intervention):
    """The head adds nothing to its layer's output. Its pattern is still seen."""

    names: ClassVar[tuple[str, ...]] = ("hook_z",)

    def change(self, value: Tensor, point: HookPoint) -> Tensor:
        return torch.zeros_like(value)


@dataclass(frozen=True)
class SetUniform(Intervention):
    """Every query of the head attends evenly to all keys that it may see."""

    names: ClassVar[tuple[str, ...]] = ("hook_attn_scores",)

    def change(self, value: Tensor, point: HookPoint) -> Tensor:
        return torch.zeros_like(value)


@dataclass(frozen=True)
class ReplaceRow(Intervention):
    """The head's query at an absolute position attends with the given weights, one a key."""

    query: int
    weights: Sequence[float]
    names: ClassVar[tuple[str, ...]] = ("hook_pattern",)

    def change(self, value: Tensor, point: HookPoint) -> Tensor:
        row = self.query - point.offset
        if not 0 <= row < value.shape[1]:
            return value
        if len(self.weights) != value.shape[2]:
            raise ValueError(
                f"ReplaceRow at {point}, query {self.query}: {len(self.weights)} weights for {value.shape[2]} keys."
            )
        changed = value.clone()
        changed[:, row] = torch.tensor(self.weights, dtype=value.dtype, device=value.device)
        return changed
