"""A head built by hand from W_Q = M_k, and how near trained heads come to it (§3.5)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float64

from transformer.analysis.encodings import BASE, shift_matrix, sinusoidal, with_partner


def hand_built_pattern(
    n_positions: int, d_model: int, k: int, *, sharpness: float = 1.0, base: float = BASE, causal: bool = False
) -> Float64[np.ndarray, "query key"]:
    """The pattern of a head that sees positions only, with W_Q = sharpness · M_k and W_K the identity.

    Its score of key j for query i is sharpness · M_k PE(i) · PE(j) / √d_model: a multiple of PE(i + k) · PE(j), and so
    highest at j = i + k.
    """
    table = sinusoidal(n_positions, d_model, base)
    scores = sharpness * (table @ shift_matrix(k, d_model, base).T) @ table.T / np.sqrt(d_model)
    if causal:
        scores = np.where(np.tri(n_positions, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def weight_at(
    pattern: Float[np.ndarray, "*head query key"], k: int, mask: Bool[np.ndarray, "query key"] | None = None
) -> Float64[np.ndarray, "*head"]:
    """Mean weight that queries give to the key k positions on, over the queries that have such a key and may see it.

    NaN where no query has one.
    """
    on_band = np.diagonal(pattern, k, axis1=-2, axis2=-1).astype(float)
    if mask is not None:
        on_band = on_band[..., np.diagonal(mask, k)]
    if on_band.shape[-1] == 0:
        return np.full(pattern.shape[:-2], np.nan)
    return np.asarray(on_band.mean(-1))


@dataclass(frozen=True)
class Match:
    """A trained head beside the one built by hand."""

    layer: int
    head: int
    overlap: float
    """Σ over keys of the smaller of the two weights, averaged over queries: 1 where the patterns are the same."""
    on_band: float
    """Mean weight on the key at pos + k."""


def nearest_heads(
    pattern: Float[np.ndarray, "layer head query key"], wanted: Float[np.ndarray, "query key"], k: int
) -> list[Match]:
    """Every head, the one whose pattern overlaps the wanted one most first.

    Only queries whose key at pos + k is there are compared. Empty where no query has one.
    """
    rows = with_partner(len(wanted), k)
    if len(rows) == 0:
        return []
    overlap = np.minimum(pattern[..., rows, :], wanted[rows]).sum(-1).mean(-1)
    on_band = weight_at(pattern, k)
    order = np.argsort(-overlap, axis=None, kind="stable")
    places = zip(*np.unravel_index(order, overlap.shape), strict=True)
    return [Match(int(la), int(h), float(overlap[la, h]), float(on_band[la, h])) for la, h in places]


def even_pattern(mask: Bool[np.ndarray, "query key"]) -> Float64[np.ndarray, "query key"]:
    """Of a head that attends evenly to all it may see: what any measure of a head is to be compared with."""
    allowed = mask.sum(-1, keepdims=True)
    return np.divide(mask, allowed, out=np.zeros(mask.shape), where=allowed > 0)
