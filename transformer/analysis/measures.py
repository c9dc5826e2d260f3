"""Measures: a number for each head on one trace. Each takes an Attention and returns an array (layer, head).

Queries count alike; a query that may attend to nothing, or whose row is all 0, counts in none. Measures of shape
(entropy, distance) take each row as a distribution, divided by its sum where it is not 1 (special tokens hidden, the
maximum over heads); shares take weights as they stand. A measure that a trace has no answer to is NaN: a share of
punctuation where there is none, or a neighbour's share in cross-attention, where a query has no place among the keys.
In the decoder a query's place is that of the token it reads, the last one before the token it writes; merged to words,
that is the word itself where it has several pieces, and else the word before.
"""

import unicodedata
from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Float64

from transformer.analysis.attention import Attention
from transformer.text.tokenizer import EOS, SPECIAL_PIECES

Measure = Callable[[Attention], Float64[np.ndarray, "layer head"]]

NEAR_UNIFORM = 0.95
"""Relative entropy from which a head hardly chooses among its keys: a convention; untrained heads need not reach it."""


def entropy(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """How widely a query spreads its attention: −Σ p ln p, mean over queries, in nats. 0 (one key) to ln n (n keys)."""
    return _mean(entropies(distributions(attention)), attention)


def relative_entropy(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Entropy over ln of the number of keys that a query may attend to, mean over queries that may choose: 0 to 1."""
    allowed = attention.mask.sum(1)
    choosing = allowed > 1
    share = entropies(distributions(attention)) / np.log(np.where(choosing, allowed, 2))
    return _mean(share, attention, choosing)


def max_weight(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """The largest weight of a query, mean over queries: 1/n to 1. Voita et al. (2019), who leave </s> out, call it a
    head's confidence."""
    weights = attention.pattern.astype(np.float64)
    return _mean(weights.max(-1, initial=0), attention)


def distance(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Mean position of the keys less that of the query, in tokens: negative looks back. NaN for cross-attention."""
    return _mean((distributions(attention) * _offsets(attention)).sum(-1), attention)


def absolute_distance(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """How far away a query attends in either direction, mean |key − query| in tokens. NaN for cross-attention."""
    return _mean((distributions(attention) * abs(_offsets(attention))).sum(-1), attention)


def previous_token(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Share of weight on the token before the query's own, over queries that have one: 0 to 1. NaN for cross."""
    return _neighbour(attention, -1)


def same_token(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Share of weight on the query's own token (in the decoder the one it reads): 0 to 1. NaN for cross."""
    return _neighbour(attention, 0)


def next_token(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Share of weight on the token after the query's own, over queries that may see one: 0 to 1. NaN for cross."""
    return _neighbour(attention, 1)


def first_token(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Share of weight on the first key (in the decoder <s>), over queries that may see others too: 0 to 1."""
    return _share(attention, np.arange(len(attention.keys)) == 0)


def end_of_sentence(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Share of weight on </s>: 0 to 1, NaN where no key is </s>. Many heads rest there when they find nothing."""
    return _share(attention, np.array(attention.keys.pieces) == SPECIAL_PIECES[EOS])


def punctuation(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Share of weight on words of punctuation only: 0 to 1, NaN where there is none."""
    words = attention.keys.merged()
    pairs = zip(words.labels, words.special, strict=True)
    marks = np.array([not special and _is_punctuation(label) for label, special in pairs], np.float32)
    return _share(attention, (marks @ attention.keys.membership()).astype(bool))


def diagonal(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Share of weight along the line from first query and first key to last query and last key: 0 to 1.

    Special tokens, at either side, are left out; weight on them counts as off the line. With as many queries as keys
    the line is the cells of equal position; else each query counts its nearest key, two where it lies between them.
    NaN in the decoder, where `same_token` is the diagonal.
    """
    return _line(attention, reverse=False)


def anti_diagonal(attention: Attention) -> Float64[np.ndarray, "layer head"]:
    """Share of weight along the line from first query and last key to last query and first key: 0 to 1.

    As `diagonal`; a model that reverses its source attends along it in cross-attention. NaN in the decoder, where half
    of it is masked.
    """
    return _line(attention, reverse=True)


MEASURES: Mapping[str, Measure] = {
    "entropy": entropy,
    "relative entropy": relative_entropy,
    "largest weight": max_weight,
    "distance": distance,
    "absolute distance": absolute_distance,
    "previous token": previous_token,
    "same token": same_token,
    "next token": next_token,
    "first token": first_token,
    "end of sentence": end_of_sentence,
    "punctuation": punctuation,
    "diagonal": diagonal,
    "anti-diagonal": anti_diagonal,
}
"""Every measure under its name; its docstring says what it means, its unit and its range."""


def distributions(attention: Attention) -> Float64[np.ndarray, "layer head query key"]:
    """Patterns in float64, each row divided by its sum; rows of 0 stay."""
    weights = attention.pattern.astype(np.float64)
    total = weights.sum(-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total != 0)


def entropies(rows: Float64[np.ndarray, "*rows key"]) -> Float64[np.ndarray, "*rows"]:
    """−Σ p ln p of each row in nats, with 0 ln 0 = 0; NaN stays NaN."""
    return -(rows * np.log(np.where(rows == 0, 1, rows))).sum(-1)


def _mean(values: np.ndarray, attention: Attention, queries: np.ndarray | None = None) -> np.ndarray:
    """The mean over queries that attend to anything, and are among `queries`, of values (layer, head, query)."""
    seen = (attention.pattern != 0).any(-1)
    where = seen if queries is None else seen & queries
    total, count = np.where(where, values, 0).sum(-1), where.sum(-1)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _offsets(attention: Attention) -> np.ndarray:
    """Position of the key less that of the query, (query, key); NaN for cross-attention."""
    n_query, n_key = attention.mask.shape
    if attention.kind == "cross":
        return np.full((n_query, n_key), np.nan)
    if attention.kind == "encoder":
        place = np.arange(n_query)
    else:  # the last key that a query may see, also where special tokens are hidden and numbers no longer meet
        place = np.where(attention.mask, np.arange(n_key), -1).max(1, initial=-1)
    return (np.arange(n_key) - place[:, None]).astype(np.float64)


def _neighbour(attention: Attention, offset: int) -> np.ndarray:
    chosen = (_offsets(attention) == offset) & attention.mask
    return _mean((attention.pattern.astype(np.float64) * chosen).sum(-1), attention, chosen.any(1))


def _share(attention: Attention, keys: np.ndarray) -> np.ndarray:
    """Weight on some keys, over the queries that may attend to one of them and to one of the others."""
    one, other = (np.asarray(attention.mask[:, some].any(1)) for some in (keys, ~keys))
    return _mean(attention.pattern[..., keys].astype(np.float64).sum(-1), attention, one & other)


def _line(attention: Attention, reverse: bool) -> np.ndarray:
    rows, columns = ~np.array(attention.queries.special, bool), ~np.array(attention.keys.special, bool)
    n_query, n_key = int(rows.sum()), int(columns.sum())
    along = np.linspace(0, 1, n_query) if n_query > 1 else np.full(n_query, 0.5)
    place = (along[::-1] if reverse else along) * (n_key - 1)
    near = np.zeros(attention.mask.shape)
    if attention.kind != "decoder":
        near[np.ix_(rows, columns)] = abs(np.arange(n_key) - place[:, None]) <= 0.5 + 1e-9  # a tie counts as two
    return _mean((attention.pattern * near).sum(-1), attention, np.asarray(near.any(1)))


def _is_punctuation(label: str) -> bool:
    return bool(label) and all(unicodedata.category(character)[0] == "P" for character in label)
