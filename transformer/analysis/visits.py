"""How often training has visited each position: a learned row that it hardly ever saw is noise, not an encoding."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Int64

from transformer.text.corpora import Corpus
from transformer.text.tokenizer import Tokenizer

RARE = 0.01
"""Rows visited by less than this share of all texts are left out of fits and spectra."""


def position_visits(lengths: Iterable[int], n_positions: int) -> Int64[np.ndarray, " position"]:
    """How many texts of these lengths (tokens) reach each of the first n positions."""
    counted = np.minimum(np.fromiter(lengths, np.int64), n_positions)
    counts = np.bincount(counted, minlength=n_positions + 1)
    return counts[::-1].cumsum()[::-1][1:].astype(np.int64)


def corpus_visits(corpus: Corpus, tokenizer: Tokenizer, n_positions: int) -> Int64[np.ndarray, " position"]:
    """Visits in one epoch of the training split: each source with </s> and each target with <s> counts once.

    Encoder and decoder share one table of positions. A pair that is longer than the table is left out of training, and
    so is not counted.
    """

    def lengths() -> Iterable[int]:
        for pair in corpus.pairs("train"):
            source, target = (len(tokenizer.encode(text)) + 1 for text in pair)
            if max(source, target) <= n_positions:
                yield source
                yield target

    return position_visits(lengths(), n_positions)


def n_visited(visits: Int64[np.ndarray, " position"]) -> int:
    """How many rows, from position 0 on, at least RARE of all texts have visited."""
    return int((visits >= max(1.0, RARE * visits[0])).sum()) if len(visits) else 0
