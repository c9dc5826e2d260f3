"""One head made by hand: two queries, three keys, d_k 4 and d_v 2, every number worked out on paper."""

from dataclasses import replace

import numpy as np

from tests.ui.samples import tokens
from transformer.analysis.head_inputs import Projection
from transformer.analysis.head_parts import HeadParts

Q = np.array([[1, 2, 0, -1], [0, 0, 4, 0]], np.float32)
K = np.array([[2, 0, 1, 0], [0.5, 1, 0, -1], [-1, 0, 0, 3]], np.float32)
V = np.array([[1, 0], [0, 2], [4, 4]], np.float32)
SCORES = np.array([[1, 1.75, -2], [2, 0, 0]], np.float32)
"""q·k / 2: query 0 has 2, 0.5 + 2 + 1 and −1 − 3; query 1 has 4, 0 and 0."""


def softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    weights = np.where(mask, np.exp(scores), 0)
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32)


def one_head(**changes) -> HeadParts:
    """As above in the encoder; x is 1, 1 in every row, W_Q is its column sums halved, and biases are 0."""
    mask = changes.pop("mask", np.ones((2, 3), bool))
    bias = changes.pop("bias", None)
    scores = SCORES if bias is None else SCORES + bias
    pattern = softmax(scores, mask)
    halves = {
        name: Projection(np.ones((len(rows), 2), "f"), np.stack([rows[0] / 2] * 2), np.zeros(rows.shape[1], "f"))
        for name, rows in (("q", Q), ("k", K), ("v", V))
    }  # fmt: skip
    values = {
        "kind": "encoder", "layer": 1, "head": 2, "q": Q, "k": K, "v": V, "score": "scaled", "scale": 0.5, "bias": bias,
        "scores": scores, "mask": mask, "pattern": pattern, "z": pattern @ V, "unturned": {}, "projections": halves,
        "queries": tokens("ja", "nein"), "keys": tokens("yes", "no", "</s>"),
    }  # fmt: skip
    return HeadParts(**(values | changes))


def many_keys(n_keys: int, **changes) -> HeadParts:
    """Two queries and so many keys, that of number n with the score −n: weights fall from left to right."""
    scores = np.tile(-np.arange(n_keys, dtype=np.float32), (2, 1))
    mask = np.ones((2, n_keys), bool)
    pattern, k, v = softmax(scores, mask), np.ones((n_keys, 4), np.float32), np.ones((n_keys, 2), np.float32)
    values = {
        "k": k, "v": v, "scores": scores, "mask": mask, "pattern": pattern, "z": pattern @ v,
        "keys": tokens(*(f"k{at}" for at in range(n_keys))),
    }  # fmt: skip
    return replace(one_head(), **(values | changes))
