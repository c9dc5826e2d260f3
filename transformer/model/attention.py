"""Multi-head attention (§3.2) on two paths that agree: fused when nobody watches, in four visible steps when hooks do.

One convention for every mask: True = may attend.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import ModelConfig
from transformer.decoding.cache import LayerCache
from transformer.model.hooks import Watch
from transformer.model.positions import Positions
from transformer.model.scores import SCORES


def causal_mask(n_query: int, n_key: int, offset: int, device: torch.device) -> Bool[Tensor, "query key"]:
    """True where the query at position offset + row may see the key, which is where it stands or before (§3.2.3)."""
    return torch.ones(n_query, n_key, dtype=torch.bool, device=device).tril(diagonal=offset)


def visible_keys(
    n_query: int, n_key: int, offset: int, causal: bool, device: torch.device
) -> Bool[Tensor, "query key"]:
    """True where a query may see a key, padding aside: everywhere, or, where it is causal, as causal_mask says."""
    if causal:
        return causal_mask(n_query, n_key, offset, device)
    return torch.ones(n_query, n_key, dtype=torch.bool, device=device)


def masked_softmax(
    scores: Float[Tensor, "*batch query key"], allowed: Bool[Tensor, "*#batch #query key"] | None
) -> Float[Tensor, "*batch query key"]:
    """Softmax in float32 over the keys that are allowed; a query that may see no key gets all zeros, never NaN."""
    scores = scores.float()
    if allowed is None:
        return scores.softmax(-1)
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~allowed, lowest).softmax(-1) * allowed


def unwatched(name: str, value: Tensor) -> Tensor:
    """What stands for the hooks where there are none."""
    return value


def add_heads(
    z: Float[Tensor, "batch head query d_v"], output: nn.Linear, watch: Watch | None
) -> Float[Tensor, "batch query d_model"]:
    """Concat(heads) W_O (§3.2.2); where a hook asks for hook_result, as the sum of each head's share."""
    if watch is None or not watch.wants("hook_result"):
        return output(z.transpose(1, 2).flatten(2))
    weight = output.weight.unflatten(-1, (z.shape[1], -1))
    return watch("hook_result", torch.einsum("bhqv,mhv->bhqm", z, weight)).sum(1) + output.bias


class MultiHeadAttention(nn.Module):
    """Multi-head attention from the rows of x to the rows of a source, which in self-attention is x itself (§3.2.2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        assert config.d_k is not None and config.d_v is not None
        self.n_heads = config.n_heads
        self.p_drop = config.p_drop_attention
        self.query = nn.Linear(config.d_model, config.n_heads * config.d_k)
        self.key = nn.Linear(config.d_model, config.n_heads * config.d_k)
        self.value = nn.Linear(config.d_model, config.n_heads * config.d_v)
        self.output = nn.Linear(config.n_heads * config.d_v, config.d_model)
        self.score = SCORES[config.score](config)

    def visible(self, n_query: int, n_key: int, offset: int = 0, *, causal: bool = False) -> Bool[Tensor, "query key"]:
        """True where a query may attend to a key, padding aside."""
        return visible_keys(n_query, n_key, offset, causal, self.output.weight.device)

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
        """One attention layer's output.

        positions: given in self-attention, where they may rotate queries and keys and bias scores.
        causal: no query sees a key that stands after it.
        cache: what earlier steps of decoding kept; it grows by this step's keys and values.
        watch: hooks; with it the pass goes through the four steps of Equation 1 one by one.
        """
        offset = cache.length if cache is not None and cache.grows else 0
        q = self._heads(self.query(x))
        if cache is not None and cache.complete:
            k, v = cache.keys, cache.values
            q = q if watch is None else watch("hook_q", q)
        else:
            k, v = self._heads(self.key(source)), self._heads(self.value(source))
            if watch is not None:
                q, k, v = watch("hook_q", q), watch("hook_k", k), watch("hook_v", v)
            if positions is not None:
                q, k = positions.rotate(q, k, offset)
            if cache is not None:
                k, v = cache.append(k, v)
        bias = None if positions is None else positions.bias(q.shape[-2], k.shape[-2], offset)
        attend = self._fused if watch is None and self.score.fused else self._explicit
        z = attend(q, k, v, mask, bias, causal, offset, watch)
        return add_heads(z, self.output, watch)

    def _heads(self, rows: Float[Tensor, "batch row width"]) -> Float[Tensor, "batch head row width_of_head"]:
        return rows.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def _fused(self, q, k, v, mask, bias, causal, offset, watch):
        """All four steps in one kernel, which keeps no (query, key) matrix."""
        n_query, n_key = q.shape[-2], k.shape[-2]
        # A kernel told is_causal aligns query 0 with key 0: a single query after cached keys would see only key 0.
        # And none takes is_causal beside a mask, except the fast one.
        is_causal = causal and mask is None and bias is None and offset == 0 and n_query > 1
        if causal and not is_causal and n_query > 1:
            allowed = causal_mask(n_query, n_key, offset, q.device)
            mask = allowed if mask is None else mask & allowed
        if bias is not None:
            # With a batch axis: the CPU's fast kernel takes masks of two or four dimensions, and falls back for three.
            mask = bias[None] if mask is None else bias[None].masked_fill(~mask, float("-inf"))
        p_drop = self.p_drop if self.training else 0.0
        return F.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=mask,
            dropout_p=p_drop,
            is_causal=is_causal,
            scale=self.score.scale,  # type: ignore[arg-type]
        )

    def _explicit(self, q, k, v, mask, bias, causal, offset, watch):
        """Scores → mask → softmax → mix, each shown to the hooks."""
        watch = watch or unwatched
        q, k = watch("hook_rot_q", q), watch("hook_rot_k", k)
        scores = self.score(q, k)
        if bias is not None:
            scores = scores + bias
        scores = watch("hook_attn_scores", scores)
        if causal:
            allowed = causal_mask(q.shape[-2], k.shape[-2], offset, q.device)
            mask = allowed if mask is None else mask & allowed
        pattern = watch("hook_pattern", masked_softmax(scores, mask))
        dropped = F.dropout(pattern, self.p_drop, self.training)
        return watch("hook_z", dropped.to(v.dtype) @ v)
