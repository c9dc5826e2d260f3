"""Encoder and decoder layers: attention and feed-forward sub-layers, each inside a residual connection (§3.1, §3.3)."""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.decoding.cache import LayerCache
from transformer.model.attention import MultiHeadAttention
from transformer.model.dropout import Dropout
from transformer.model.feed_forward import feed_forward
from transformer.model.hooks import Watch
from transformer.model.mixing import MIXINGS
from transformer.model.positions import Positions


class RMSNorm(nn.RMSNorm):
    """x / √(mean of x² + ε) times a weight: LayerNorm without the mean and without the bias (Zhang & Sennrich 2019)."""

    def __init__(self, d_model: int) -> None:
        super().__init__(d_model, eps=1e-5)


NORMALIZATIONS: dict[str, type[nn.LayerNorm] | type[RMSNorm]] = {"layer": nn.LayerNorm, "rms": RMSNorm}


class PostNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))), the paper's (§3.1, §5.4)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = NORMALIZATIONS[config.normalization](config.d_model)
        self.dropout = Dropout(config.p_drop)

    @staticmethod
    def final(config: ModelConfig) -> nn.Module:
        """What stands after the last layer of a stack."""
        return nn.Identity()

    def forward(
        self, x: Float[Tensor, "batch row d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch row d_model"]:
        return self.norm(x + self.dropout(sublayer(x)))


class PreNorm(PostNorm):
    """x + Dropout(Sublayer(LayerNorm(x))), with one more LayerNorm after the last layer."""

    @staticmethod
    def final(config: ModelConfig) -> nn.Module:
        return NORMALIZATIONS[config.normalization](config.d_model)

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
        self.attention, self.attention_residual = MIXINGS[config.mixing](config), residual(config)
        self.feed_forward, self.feed_forward_residual = feed_forward(config), residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch key d_model"],
        mask: Bool[Tensor, "batch 1 1 key"] | None,
        positions: Positions,
        watch: Watch | None = None,
    ) -> Float[Tensor, "batch key d_model"]:
        x = self.attention_residual(x, lambda y: self.attention(y, y, mask, positions=positions, watch=watch))
        return self.feed_forward_residual(x, self.feed_forward)


class RecurrentLayer(nn.Module):
    """Gated recurrent units, from left to right: what stands at a position was handed on by the one before it.

    It has no heads, so hooks see nothing of it, and padding, which stands to the right, reaches no token.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.units = nn.GRU(config.d_model, config.d_model, batch_first=True)
        self.dropout = Dropout(config.p_drop)

    def forward(
        self,
        x: Float[Tensor, "batch key d_model"],
        mask: Bool[Tensor, "batch 1 1 key"] | None,
        positions: Positions,
        watch: Watch | None = None,
    ) -> Float[Tensor, "batch key d_model"]:
        return self.dropout(self.units(x)[0])


ENCODERS: dict[str, type[EncoderLayer] | type[RecurrentLayer]] = {"attention": EncoderLayer, "gru": RecurrentLayer}


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the encoder's output, then the feed-forward network (§3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = NORMS[config.norm]
        self.causal = config.causal
        self.attention, self.attention_residual = MIXINGS[config.mixing](config), residual(config)
        self.cross, self.cross_residual = MultiHeadAttention(config), residual(config)
        self.feed_forward, self.feed_forward_residual = feed_forward(config), residual(config)

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
            return self.attention(y, y, positions=positions, causal=self.causal, cache=caches[0], watch=watches[0])

        def attend_to_source(y: Tensor) -> Tensor:
            rows = y.reshape(len(memory), -1, y.shape[-1])
            return self.cross(rows, memory, mask, cache=caches[1], watch=watches[1]).view(y.shape)

        x = self.attention_residual(x, attend_to_target)
        x = self.cross_residual(x, attend_to_source)
        return self.feed_forward_residual(x, self.feed_forward)
