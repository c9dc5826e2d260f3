"""How a model knows the order of its tokens (§3.5). A new encoding is one class and one entry in POSITIONS."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.config import ModelConfig


def sinusoids(
    n_positions: int, d_model: int, *, base: float = 10_000.0, start: int = 0
) -> Float[Tensor, "position d_model"]:
    """Sine in the even dimensions and cosine in the odd ones, float64 (§3.5).

    PE(pos, 2i) = sin(pos / base^(2i / d_model)) and PE(pos, 2i+1) = cos of the same.
    """
    position = torch.arange(start, start + n_positions, dtype=torch.float64)
    frequency = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = torch.outer(position, frequency)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


class Positions(nn.Module):
    """An encoding that adds nothing; each encoding overrides what it does.

    `offset` is the absolute position of the first row, which is not 0 while decoding with a key–value cache.
    Rotation and bias act in self-attention only.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()

    def embed(self, x: Float[Tensor, "batch row d_model"], offset: int = 0) -> Float[Tensor, "batch row d_model"]:
        """The scaled embeddings with positions put in."""
        return x

    def rotate(
        self, q: Float[Tensor, "batch head row d_k"], k: Float[Tensor, "batch head row d_k"], offset: int = 0
    ) -> tuple[Float[Tensor, "batch head row d_k"], Float[Tensor, "batch head row d_k"]]:
        """Queries and keys of the same rows with positions turned into them."""
        return q, k

    def bias(self, n_query: int, n_key: int, offset: int = 0) -> Float[Tensor, "head query key"] | None:
        """What is added to the scores of queries offset … offset + n_query against keys 0 … n_key, or None."""
        return None


class Sinusoidal(Positions):
    """Fixed sines and cosines, added to the embeddings; defined for every position (§3.5)."""

    table: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.d_model = config.d_model
        table = sinusoids(config.max_length, config.d_model).float()
        self.register_buffer("table", table, persistent=False)

    def embed(self, x: Float[Tensor, "batch row d_model"], offset: int = 0) -> Float[Tensor, "batch row d_model"]:
        n_rows = x.shape[1]
        if offset + n_rows <= len(self.table):
            return x + self.table[offset : offset + n_rows]
        return x + sinusoids(n_rows, self.d_model, start=offset).to(x)


class Learned(Positions):
    """A trained vector for each of the first max_length positions, added to the embeddings (Table 3, row E)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.table = nn.Parameter(torch.empty(config.max_length, config.d_model))
        nn.init.normal_(self.table, std=config.d_model**-0.5)

    def embed(self, x: Float[Tensor, "batch row d_model"], offset: int = 0) -> Float[Tensor, "batch row d_model"]:
        end = offset + x.shape[1]
        if end > len(self.table):
            raise ValueError(
                f"The text has {end} pieces, but this model's learned positions end at {len(self.table)}; shorten it."
            )
        return x + self.table[offset:end]


class Rotary(Positions):
    """RoPE: each pair of dimensions of a query or key is turned by position · frequency (Su et al. 2021, §3.2).

    Frequencies are those of the sinusoids, over d_k. A score then depends on content and on the distance alone.
    """

    table: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        d_k = config.resolved().d_k
        assert d_k is not None
        self.d_k = d_k
        self.register_buffer("table", sinusoids(config.max_length, d_k).float(), persistent=False)

    def rotate(
        self, q: Float[Tensor, "batch head row d_k"], k: Float[Tensor, "batch head row d_k"], offset: int = 0
    ) -> tuple[Float[Tensor, "batch head row d_k"], Float[Tensor, "batch head row d_k"]]:
        end = offset + q.shape[2]
        if end <= len(self.table):
            table = self.table[offset:end]
        else:
            table = sinusoids(q.shape[2], self.d_k, start=offset).to(self.table)
        sine, cosine = table[:, 0::2], table[:, 1::2]
        return _turn(q, sine, cosine), _turn(k, sine, cosine)


def _turn(
    x: Float[Tensor, "batch head row d_k"], sine: Float[Tensor, "row pair"], cosine: Float[Tensor, "row pair"]
) -> Float[Tensor, "batch head row d_k"]:
    """Dimensions 2i and 2i + 1 of each row turned counter-clockwise, in float32, which bfloat16 angles would need."""
    first, second = x[..., 0::2].float(), x[..., 1::2].float()
    turned = torch.stack((first * cosine - second * sine, first * sine + second * cosine), dim=-1)
    return turned.flatten(-2).to(x.dtype)


def alibi_slopes(n_heads: int) -> list[float]:
    """The slope m of each head's bias −m · distance, as published (Press et al. 2021, §3).

    Where n_heads is a power of 2 they are 2^(−8/n), 2^(−16/n) … 2^(−8). Otherwise the slopes of the next lower power of
    2 come first, and then every other slope of the next higher one, as in the authors' code.
    """
    power = 1 << (n_heads.bit_length() - 1)
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    between = [2 ** (-8 * (head + 1) / (2 * power)) for head in range(0, 2 * power, 2)]
    return slopes + between[: n_heads - power]


class LinearBias(Positions):
    """ALiBi: a score falls by the head's slope with each position of distance, both ways (Press et al. 2021)."""

    slopes: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.register_buffer("slopes", torch.tensor(alibi_slopes(config.n_heads)), persistent=False)

    def bias(self, n_query: int, n_key: int, offset: int = 0) -> Float[Tensor, "head query key"]:
        query = torch.arange(offset, offset + n_query, device=self.slopes.device)
        key = torch.arange(n_key, device=self.slopes.device)
        return -self.slopes[:, None, None] * (query[:, None] - key).abs()


POSITIONS: dict[str, type[Positions]] = {
    "sinusoidal": Sinusoidal,
    "learned": Learned,
    "rope": Rotary,
    "alibi": LinearBias,
    "none": Positions,
}
