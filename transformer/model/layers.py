"""Encoder and decoder layers: attention and feed-forward sub-layers, each inside a residual connection (§3.1, §3.3)."""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import ModelConfig
from transformer.decoding.cache import LayerCache
from transformer.model.attention import MultiHeadAttention
from transformer.model.dropout import Dropout
from transformer.model.hooks import Watch
from transformer.model.positions import Positions

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class FeedForward(nn.Module):
    """max(0, x W₁ + b₁) W₂ + b₂, at each position alone (Equation 2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.inner = nn.Linear(config.d_model, config.d_ff)
        self.outer = nn.Linear(config.d_ff, config.d_model)
        self.activation = ACTIVATIONS[config.activation]

    def forward(self, x: Float[Tensor, "batch row d_model"]) -> Float[Tensor, "batch row d_model"]:
        return self.outer(self.activation(self.inner(x)))


class PostNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))), the paper's (§3.1, §5.4)."""

    final = nn.Identity
    """What stands after the last layer of a stack, made with d_model."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = Dropout(config.p_drop)

    def forward(
        self, x: Float[Tensor, "batch row d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch row d_model"]:
        return self.norm(x + self.dropout(sublayer(x)))


class PreNorm(PostNorm):
    """x + Dropout(Sublayer(LayerNorm(x))), with one more LayerNorm after the last layer."""

    final = nn.LayerNorm

    def forward(
        self, x: Float[Tensor, "batch row d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch row d_model"]:
        return x + self.dropout(sublayer(self.norm(x)))


NORMS: dict[str, type[PostNorm]] = {"post": PostNorm, "pre": PreNorm}


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = NORMS[config.norm]
        self.attention, self.attention_residual = MultiHeadAttention(config), residual(config)
        self.feed_forward, self.feed_forward_residual = FeedForward(config), residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch key d_model"],
        mask: Bool[Tensor, "batch 1 1 key"] | None,
        positions: Positions,
        watch: Watch | None = None,
    ) -> Float[Tensor, "batch key d_model"]:
        x = self.attention_residual(x, lambda y: self.attention(y, y, mask, positions=positions, watch=watch))
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the encoder's output, then the feed-forward network (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = NORMS[config.norm]
        self.attention, self.attention_residual = MultiHeadAttention(config), residual(config)
        self.cross, self.cross_residual = MultiHeadAttention(config), residual(config)
        self.feed_forward, self.feed_forward_residual = FeedForward(config), residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "sentence key d_model"],
        mask: Bool[Tensor, "sentence 1 1 key"] | None,
        positions: Positions,
        caches: tuple[LayerCache | None, LayerCache | None] = (None, None),
        watches: tuple[Watch | None, Watch | None] = (None, None),
    ) -> Float[Tensor, "batch query d_model"]:
        """caches and watches: of self-attention and of cross-attention.

        x may have several rows for each row of memory, side by side: hypotheses of one sentence. To cross-attention,
        where no query sees another, they are so many queries of that sentence.
        """

        def attend_to_target(y: Tensor) -> Tensor:
            return self.attention(y, y, positions=positions, causal=True, cache=caches[0], watch=watches[0])

        def attend_to_source(y: Tensor) -> Tensor:
            rows = y.reshape(len(memory), -1, y.shape[-1])
            return self.cross(rows, memory, mask, cache=caches[1], watch=watches[1]).view(y.shape)

        x = self.attention_residual(x, attend_to_target)
        x = self.cross_residual(x, attend_to_source)
        return self.feed_forward_residual(x, self.feed_forward)
