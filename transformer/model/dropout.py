"""Dropout whose mask is cheap on the CPU, where torch spends most of its own dropout on random numbers."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

_LEVELS = 2**16


class Dropout(nn.Module):
    """While training, sets each number to 0 with probability p and divides the others by 1 - p (§5.4).

    On the CPU one random 64-bit number decides over four numbers, so p is met to the nearest 2^-16.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        bits = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
        levels = bits.view(torch.int16)[: x.numel()].view(x.shape)
        # The lowest levels are dropped, never all of them: the next number would not fit into 16 bits.
        lowest = min(round(self.p * _LEVELS), _LEVELS - 1) - _LEVELS // 2
        keep = levels >= lowest
        return x * keep.to(x.dtype).mul_(1 / (1 - self.p))

    def extra_repr(self) -> str:
        return f"p={self.p}"
