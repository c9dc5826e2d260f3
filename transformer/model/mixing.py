"""What self-attention weighs values by, where it is not the softmax over all keys. A new one is a class and an entry.

Cross-attention is always MultiHeadAttention. Whatever mixes, a pattern is a softmax over the keys that a query sees, so
rows sum to 1 at the ends of a sentence and beside padding too.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import ModelConfig
from transformer.decoding.cache import LayerCache
from transformer.model.attention import MultiHeadAttention, add_heads, masked_softmax, unwatched, visible_keys
from transformer.model.hooks import Watch
from transformer.model.positions import Positions


def distances(n_query: int, n_key: int, offset: int, device: torch.device) -> Tensor:
    """Key less query of every cell, the first query standing at position `offset`."""
    return torch.arange(n_key, device=device) - torch.arange(offset, offset + n_query, device=device)[:, None]


def place_in_width(distance: Tensor, width: int, causal: bool) -> Tensor:
    """Where a key at this distance stands among the `width` that a query sees; outside 0 … width − 1 it is not seen."""
    return distance + (width - 1 if causal else width // 2)


def _inside(place: Tensor, width: int) -> Bool[Tensor, "query key"]:
    return (place >= 0) & (place < width)


class WindowAttention(MultiHeadAttention):
    """Softmax over `mixing_width` keys around the query, the last ones where it is causal (§4, restricted)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.width = config.mixing_width

    def visible(self, n_query: int, n_key: int, offset: int = 0, *, causal: bool = False) -> Bool[Tensor, "query key"]:
        distance = distances(n_query, n_key, offset, self.output.weight.device)
        return _inside(place_in_width(distance, self.width, causal), self.width)

    def _fused(self, q, k, v, mask, bias, causal, offset, watch):
        return super()._fused(q, k, v, self._near(q, k, mask, causal, offset), bias, False, offset, watch)

    def _explicit(self, q, k, v, mask, bias, causal, offset, watch):
        return super()._explicit(q, k, v, self._near(q, k, mask, causal, offset), bias, False, offset, watch)

    def _near(self, q: Tensor, k: Tensor, mask: Tensor | None, causal: bool, offset: int) -> Tensor:
        near = self.visible(q.shape[-2], k.shape[-2], offset, causal=causal)
        return near if mask is None else mask & near


class UniformMixing(nn.Module):
    """Every value that a query sees counts the same: the mean, in the decoder of what was read so far.

    It has values and an output as attention has, and neither queries nor keys. Its scores are 0.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        assert config.d_v is not None
        self.n_heads, self.p_drop = config.n_heads, config.p_drop_attention
        self.value = nn.Linear(config.d_model, config.n_heads * config.d_v)
        self.output = nn.Linear(config.n_heads * config.d_v, config.d_model)

    def visible(self, n_query: int, n_key: int, offset: int = 0, *, causal: bool = False) -> Bool[Tensor, "query key"]:
        """True where a query may attend to a key, padding aside."""
        return visible_keys(n_query, n_key, offset, causal, self.output.weight.device)

    def scores(self, n_query: int, n_key: int, offset: int, causal: bool) -> Float[Tensor, "head query key"]:
        """What the softmax is taken of, the same for every sentence."""
        return self.output.weight.new_zeros(self.n_heads, n_query, n_key)

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        source: Float[Tensor, "batch key d_model"],
        mask: Bool[Tensor, "batch 1 1 key"] | None = None,
        *,
        positions: Positions | None = None,
        causal: bool = False,
        cache: LayerCache | None = None,
        watch: Watch | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """As MultiHeadAttention.forward; of the hook points it has those from hook_v and hook_attn_scores on."""
        offset = 0 if cache is None else cache.length
        show = watch or unwatched
        v = show("hook_v", self.value(source).unflatten(-1, (self.n_heads, -1)).transpose(1, 2))
        if cache is not None:
            _, v = cache.append(v[..., :0], v)
        n_query, n_key = x.shape[1], v.shape[2]
        scores = self.scores(n_query, n_key, offset, causal)
        if mask is not None or watch is not None:
            scores = show("hook_attn_scores", scores.expand(len(x), -1, -1, -1))
        allowed = self.visible(n_query, n_key, offset, causal=causal)
        allowed = allowed if mask is None else mask & allowed
        pattern = show("hook_pattern", masked_softmax(scores, allowed))
        z = show("hook_z", F.dropout(pattern, self.p_drop, self.training).to(v.dtype) @ v)
        return add_heads(z, self.output, watch)


class ConvolutionMixing(UniformMixing):
    """One kernel a head, softmax-normalized, whatever the tokens are: a lightweight convolution (Wu et al. 2019).

    A key's score is the kernel's number for its distance, so the kernel is the pattern of every query; at the ends of a
    sentence, where theirs pads with zeros, the part of the kernel that meets a token is normalized anew.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.width = config.mixing_width
        self.kernel = nn.Parameter(torch.empty(config.n_heads, self.width))
        nn.init.xavier_uniform_(self.kernel)

    def _place(self, n_query: int, n_key: int, offset: int, causal: bool) -> Tensor:
        distance = distances(n_query, n_key, offset, self.output.weight.device)
        return place_in_width(distance, self.width, causal)

    def visible(self, n_query: int, n_key: int, offset: int = 0, *, causal: bool = False) -> Bool[Tensor, "query key"]:
        return _inside(self._place(n_query, n_key, offset, causal), self.width)

    def scores(self, n_query: int, n_key: int, offset: int, causal: bool) -> Float[Tensor, "head query key"]:
        return self.kernel[:, self._place(n_query, n_key, offset, causal).clamp(0, self.width - 1)]


MIXINGS: dict[str, type[MultiHeadAttention] | type[UniformMixing]] = {
    "softmax": MultiHeadAttention,
    "uniform": UniformMixing,
    "window": WindowAttention,
    "convolution": ConvolutionMixing,
}
