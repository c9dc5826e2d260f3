"""What a head's queries, keys and values are made of: the rows that reach its layer, and its columns of each weight."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float32
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from transformer.model.attention import MultiHeadAttention


@dataclass(frozen=True)
class Projection:
    """rows · weight + bias, which is one head's queries, keys or values before any rotation."""

    rows: Float32[np.ndarray, "row d_model"]
    weight: Float32[np.ndarray, "d_model width"]
    bias: Float32[np.ndarray, " width"]


class Entering(TorchFunctionMode):
    """While entered, and in this thread alone, sees what enters an attention layer. Nothing stays on the model."""

    def __init__(self, attention: MultiHeadAttention) -> None:
        super().__init__()
        self.linear = {"q": attention.query, "k": attention.key, "v": attention.value}
        self.n_heads = attention.n_heads
        self.rows: dict[str, Tensor] = {}

    def __torch_function__(
        self, func: Callable, types: Iterable[type], args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is F.linear:
            for name, linear in self.linear.items():
                if args[1] is linear.weight:
                    self.rows[name] = args[0]
        return func(*args, **(kwargs or {}))

    def projections(self, head: int) -> dict[str, Projection]:
        """Of one head's "q", "k" and "v", in the first sentence of the batch."""
        found = {}
        for name, linear in self.linear.items():
            width = linear.out_features // self.n_heads
            mine = slice(head * width, (head + 1) * width)
            found[name] = Projection(
                _array(self.rows[name][0]), _array(linear.weight[mine].T), _array(linear.bias[mine])
            )
        return found


def _array(values: Tensor) -> np.ndarray:
    return values.detach().float().cpu().numpy().copy()
