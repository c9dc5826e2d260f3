"""Models small enough to test by the hundred, and peers that get their weights."""

from typing import Any

import torch
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.model import Transformer
from transformer.model.attention import MultiHeadAttention
from transformer.model.layers import DecoderLayer, EncoderLayer

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 3], [10, 11, 3, 0, 0, 0], [12, 3, 0, 0, 0, 0]])
"""Three sentences of 6, 3 and 2 tokens, padded."""
TARGET_IN = torch.tensor([[2, 13, 14, 15, 16], [2, 17, 18, 0, 0], [2, 19, 20, 21, 22]])
"""What the decoder reads: 5, 3 and 5 tokens, padded."""
REAL = TARGET_IN != 0


def small_config(**changes: Any) -> ModelConfig:
    """Two layers, two heads, 16 wide, without dropout."""
    values = {
        "vocab_size": 40, "d_model": 16, "d_ff": 24, "n_heads": 2, "p_drop": 0.0, "max_length": 64,
        "n_encoder_layers": 2, "n_decoder_layers": 2,
    }  # fmt: skip
    return ModelConfig(**(values | changes))


def small_model(seed: int = 0, **changes: Any) -> Transformer:
    """A model of that configuration whose biases and norms, too, are no longer at 0 and 1, so that each shows."""
    torch.manual_seed(seed)
    return stirred(Transformer(small_config(**changes))).eval()


def stirred(module: nn.Module) -> Any:
    """The module with every vector among its weights moved away from where it started."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return module


def copy(source: nn.Module, target: nn.Module) -> None:
    """Weight and bias from one linear layer or layer norm into another."""
    with torch.no_grad():
        target.weight.copy_(source.weight)
        if source.bias is not None:
            target.bias.copy_(source.bias)


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Our four projections into torch's, which keeps the first three in one matrix."""
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key.weight, ours.value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
    copy(ours.output, theirs.out_proj)


def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
    """One of our layers into torch's of the same kind."""
    copy_attention(ours.attention, theirs.self_attn)
    residuals = [ours.attention_residual, ours.feed_forward_residual]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross, theirs.multihead_attn)
        residuals.insert(1, ours.cross_residual)
    for number, residual in enumerate(residuals, start=1):
        copy(residual.norm, getattr(theirs, f"norm{number}"))
    copy(ours.feed_forward.inner, theirs.linear1)
    copy(ours.feed_forward.outer, theirs.linear2)


def largest_difference(a: Tensor, b: Tensor) -> float:
    assert a.shape == b.shape
    return float((a - b).abs().max().detach())
