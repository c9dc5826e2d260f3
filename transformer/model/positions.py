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


POSITIONS: dict[str, type[Positions]] = {"sinusoidal": Sinusoidal, "learned": Learned, "none": Positions}
