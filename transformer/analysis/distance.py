"""Attention by distance: how much weight each head gives to the token d places on, averaged over sentences."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from transformer.analysis.attention import Attention
from transformer.analysis.hand_built import even_pattern


@dataclass(frozen=True)
class ByDistance:
    """Mean weight of the cells at each distance; distance is key − query, so the token before is at −1."""

    distances: Int64[np.ndarray, " distance"]
    weight: Float64[np.ndarray, "layer head distance"]
    """NaN where no sentence has a cell at that distance."""
    even: Float64[np.ndarray, " distance"]
    """What a head that attends evenly to all it may see would have in the same cells."""
    cells: Int64[np.ndarray, " distance"]
    """How many (query, key) cells each mean is over."""
    n_sentences: int


def by_distance(attentions: Iterable[Attention], furthest: int = 20) -> ByDistance:
    """The mean over all cells that a query may see, of all sentences, at distances −furthest … furthest.

    Raises ValueError for cross-attention, whose queries and keys count positions of two different sentences, and where
    there is no sentence.
    """
    distances = np.arange(-furthest, furthest + 1)
    cells, even = np.zeros(len(distances), np.int64), np.zeros(len(distances))
    weight: np.ndarray | None = None
    n_sentences = 0
    for attention in attentions:
        if attention.kind == "cross":
            raise ValueError("Attention by distance is for encoder and decoder: cross-attention joins two sentences.")
        if weight is None:
            weight = np.zeros((*attention.pattern.shape[:2], len(distances)))
        uniform = even_pattern(attention.mask)
        for index, distance in enumerate(distances):
            cells[index] += np.diagonal(attention.mask, distance).sum()
            even[index] += np.diagonal(uniform, distance).sum()
            # What a query may not see has weight 0 and adds nothing.
            weight[..., index] += np.diagonal(attention.pattern, distance, axis1=-2, axis2=-1).sum(-1)
        n_sentences += 1
    if weight is None:
        raise ValueError("Attention by distance needs at least one sentence.")
    some = np.where(cells > 0, cells, np.nan)
    return ByDistance(distances, weight / some, even / some, cells, n_sentences)
