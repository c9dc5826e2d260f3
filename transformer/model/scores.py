"""How a query is compared with a key. A new score is one class and one entry in SCORES."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import ModelConfig

TYPICAL_LENGTH = 32
"""Tokens of a long sentence here, from which the g of qk-norm begins: log2(L² − L), which is 9.95."""


class ScaledDotProduct(nn.Module):
    """q·k / √d_k (Equation 1)."""

    fused = True
    """Whether it is a product that the fused kernel computes, given `scale`."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        assert config.d_k is not None
        self.scale = self.scale_of(config.d_k)

    @staticmethod
    def scale_of(d_k: int) -> float:
        return d_k**-0.5

    def forward(
        self, q: Float[Tensor, "batch head query d_k"], k: Float[Tensor, "batch head key d_k"]
    ) -> Float[Tensor, "batch head query key"]:
        return (q * self.scale) @ k.transpose(-2, -1)


class DotProduct(ScaledDotProduct):
    """q·k, whose spread grows with √d_k (§3.2.1, footnote 4)."""

    @staticmethod
    def scale_of(d_k: int) -> float:
        return 1.0


class TwiceScaledDotProduct(ScaledDotProduct):
    """q·k / d_k: what scaling the query before a kernel that scales comes to."""

    @staticmethod
    def scale_of(d_k: int) -> float:
        return 1 / d_k


class Cosine(nn.Module):
    """q·k of unit vectors, from −1 to 1, so that no weight is more than e² times another."""

    fused = False

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()

    def forward(
        self, q: Float[Tensor, "batch head query d_k"], k: Float[Tensor, "batch head key d_k"]
    ) -> Float[Tensor, "batch head query key"]:
        q, k = F.normalize(q.float(), dim=-1), F.normalize(k.float(), dim=-1)
        return q @ k.transpose(-2, -1)


class QKNorm(Cosine):
    """The cosine times a learned g, one a layer (Henry et al. 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.g = nn.Parameter(torch.tensor(math.log2(TYPICAL_LENGTH**2 - TYPICAL_LENGTH)))

    def forward(
        self, q: Float[Tensor, "batch head query d_k"], k: Float[Tensor, "batch head key d_k"]
    ) -> Float[Tensor, "batch head query key"]:
        return self.g * super().forward(q, k)


class Additive(nn.Module):
    """v · tanh(q + k), with a v for each head (Bahdanau et al. 2015, inside multi-head attention)."""

    fused = False

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        assert config.d_k is not None
        self.v = nn.Parameter(torch.empty(config.n_heads, config.d_k))
        nn.init.normal_(self.v, std=config.d_k**-0.5)

    def forward(
        self, q: Float[Tensor, "batch head query d_k"], k: Float[Tensor, "batch head key d_k"]
    ) -> Float[Tensor, "batch head query key"]:
        together = (q[:, :, :, None] + k[:, :, None]).tanh()
        return torch.einsum("bhqkd,hd->bhqk", together, self.v.to(together.dtype))


SCORES: dict[str, type[ScaledDotProduct] | type[Cosine] | type[Additive]] = {
    "scaled": ScaledDotProduct,
    "unscaled": DotProduct,
    "scaled-twice": TwiceScaledDotProduct,
    "additive": Additive,
    "qk-norm": QKNorm,
    "cosine": Cosine,
}
