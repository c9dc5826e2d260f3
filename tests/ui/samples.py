"""Attention made by hand, so that nothing in it is symmetric and every number is known."""

from collections.abc import Sequence

import numpy as np

from transformer.analysis.attention import Attention, Kind, Tokens


def tokens(*labels: str) -> Tokens:
    special = tuple(label in ("<s>", "</s>") for label in labels)
    return Tokens(pieces=labels, labels=labels, words=tuple(range(len(labels))), special=special)


def attention(
    pattern: Sequence, queries: Tokens, keys: Tokens, *, kind: Kind = "cross", mask: np.ndarray | None = None, **rest
) -> Attention:
    weights = np.array(pattern, np.float32)
    allowed = np.ones(weights.shape[2:], bool) if mask is None else mask
    return Attention(kind=kind, pattern=weights, scores=None, mask=allowed, queries=queries, keys=keys, **rest)


def asymmetric() -> Attention:
    """One layer of two heads; in head 1 "ja" attends to "no" with 0.75 and "nein" to "yes" with 0.5."""
    first = [[1, 0, 0], [0, 1, 0]]
    second = [[0.25, 0.75, 0], [0.5, 0.125, 0.375]]
    return attention([[first, second]], tokens("ja", "nein"), tokens("yes", "no", "</s>"))


def random(n_layers: int, n_heads: int, n_query: int, n_key: int, kind: Kind = "encoder") -> Attention:
    weights = np.random.default_rng(0).random((n_layers, n_heads, n_query, n_key), np.float32) ** 8
    weights /= weights.sum(-1, keepdims=True)
    queries, keys = (tokens(*(f"{side}{at}" for at in range(n))) for side, n in (("q", n_query), ("k", n_key)))
    return attention(weights, queries, keys, kind=kind)
