"""The position-wise feed-forward network (§3.3), gated ones, and several of which a router chooses.

A new activation is one class and one entry in ACTIVATIONS.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import ModelConfig


def swiglu_width(d_ff: int) -> int:
    """2/3 · d_ff, rounded up to a multiple of 8: three matrices of this width hold what two of d_ff do."""
    return -(-2 * d_ff // 24) * 8


class FeedForward(nn.Module):
    """max(0, x W₁ + b₁) W₂ + b₂, at each position alone (Equation 2)."""

    activation = staticmethod(F.relu)

    def __init__(self, config: ModelConfig, d_ff: int | None = None) -> None:
        """d_ff: the inner width, where it is another than the configuration's."""
        super().__init__()
        d_ff = config.d_ff if d_ff is None else d_ff
        self.inner = nn.Linear(config.d_model, d_ff)
        self.outer = nn.Linear(d_ff, config.d_model)

    def forward(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows d_model"]:
        return self.outer(self.activation(self.inner(x)))


class GeluFeedForward(FeedForward):
    """The same with x · Φ(x) in place of max(0, x) (Hendrycks & Gimpel 2016)."""

    activation = staticmethod(F.gelu)


class GatedFeedForward(FeedForward):
    """(SiLU(x W₁ + b₁) ⊙ (x V + c)) W₂ + b₂, SwiGLU (Shazeer 2020, there without biases)."""

    activation = staticmethod(F.silu)

    def __init__(self, config: ModelConfig, d_ff: int | None = None) -> None:
        width = swiglu_width(config.d_ff if d_ff is None else d_ff)
        super().__init__(config, width)
        self.gate = nn.Linear(config.d_model, width)

    def forward(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows d_model"]:
        return self.outer(self.activation(self.inner(x)) * self.gate(x))


ACTIVATIONS: dict[str, type[FeedForward]] = {
    "relu": FeedForward,
    "gelu": GeluFeedForward,
    "swiglu": GatedFeedForward,
}


class Experts(nn.Module):
    """Several feed-forward networks, of which each token goes through the few that its router finds likeliest.

    The output is their sum, weighted by the router's probabilities, which are divided by their sum over the chosen.
    No expert refuses a token, however many it gets (Shazeer et al. 2017).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.top = config.top_experts
        self.router = nn.Linear(config.d_model, config.n_experts, bias=False)
        network, width = ACTIVATIONS[config.activation], config.d_ff // config.top_experts
        self.experts = nn.ModuleList(network(config, width) for _ in range(config.n_experts))
        self.balance: Tensor | None = None
        """Left by the last pass in training: the load-balance loss, 1 where every expert is as busy as the others."""

    def forward(self, x: Float[Tensor, "batch row d_model"]) -> Float[Tensor, "batch row d_model"]:
        rows = x.flatten(0, -2)
        probability = self.router(rows).float().softmax(-1)
        share, chosen = probability.topk(self.top, dim=-1)
        share = (share / share.sum(-1, keepdim=True)).to(x.dtype)
        mixed = torch.zeros_like(rows)
        for index, expert in enumerate(self.experts):
            row, place = (chosen == index).nonzero(as_tuple=True)
            mixed = mixed.index_add(0, row, (expert(rows[row]) * share[row, place, None]).to(mixed.dtype))
        self.balance = load_balance(probability, chosen) if self.training else None
        return mixed.view(x.shape)


def load_balance(probability: Float[Tensor, "row expert"], chosen: Tensor) -> Float[Tensor, ""]:
    """E · Σ fᵢ Pᵢ: fᵢ the share of choices that fell on expert i, Pᵢ its mean probability (Fedus et al. 2022).

    1 where all are chosen alike. Only P has a gradient: it lowers what is chosen too often.
    """
    n_experts = probability.shape[-1]
    often = F.one_hot(chosen, n_experts).float().mean((0, 1))
    return n_experts * (often * probability.mean(0)).sum()


def feed_forward(config: ModelConfig) -> FeedForward | Experts:
    """The feed-forward sub-layer of a configuration."""
    return Experts(config) if config.n_experts > 1 else ACTIVATIONS[config.activation](config)
