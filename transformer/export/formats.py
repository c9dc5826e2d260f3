"""A trace, or any view of one, as the bytes of a CSV or NPZ file; trace_json.py has JSON."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from transformer.analysis.attention import Attention
from transformer.analysis.trace import KINDS, Trace
from transformer.export.about import About
from transformer.export.tables import ABOUT, arrays_npz, encoded, facts_text

View = tuple[Attention, About]

MOST_ROWS = 2_000_000
"""In a CSV file; NPZ takes any number of weights."""


def trace_csv(trace: Trace) -> bytes:
    """Trace.to_frame: one row a cell; a last column, "about", says in its first row, as JSON, what they are of.

    Raises ValueError, in one sentence, for more than 2,000,000 cells.
    """
    return _csv([trace[kind] for kind in KINDS], [About.of(trace).facts()])


def view_csv(attention: Attention, about: About) -> bytes:
    """Attention.to_frame: one row a cell, and a last column as in trace_csv. Raises ValueError as it does."""
    return _csv([attention], [about.facts(attention)])


def views_csv(views: Sequence[View]) -> bytes:
    """Views of several sentences below each other; the first column counts them from 1."""
    return _csv([attention for attention, _ in views], [about.facts(attention) for attention, about in views], True)


def trace_npz(trace: Trace) -> bytes:
    """The file that Trace.save writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace.save(path)
        return path.read_bytes()


def view_npz(attention: Attention, about: About) -> bytes:
    """pattern, scores (where there are any), mask, labels of queries and keys, and about, a JSON text."""
    return arrays_npz(_arrays(attention), about.facts(attention))


def views_npz(views: Sequence[View]) -> bytes:
    """The same arrays of several sentences, as pattern_1, pattern_2 and so on."""
    arrays = {
        f"{name}_{place}": values
        for place, (attention, _) in enumerate(views, 1)
        for name, values in _arrays(attention).items()
    }
    return arrays_npz(arrays, {"views": [about.facts(attention) for attention, about in views]})


def _arrays(attention: Attention) -> dict[str, np.ndarray | Sequence[str]]:
    arrays: dict[str, np.ndarray | Sequence[str]] = {
        "pattern": attention.pattern,
        "mask": attention.mask,
        "queries": attention.queries.labels,
        "keys": attention.keys.labels,
    }
    if attention.scores is not None:
        arrays["scores"] = attention.scores
    return arrays


def _csv(attentions: Sequence[Attention], facts: Sequence[Mapping[str, Any]], numbered: bool = False) -> bytes:
    """facts: of all, or one of each."""
    rows = sum(attention.pattern.size for attention in attentions)
    if rows > MOST_ROWS:
        raise ValueError(
            f"There are {rows:,} weights, and a CSV file takes {MOST_ROWS:,}; "
            "NPZ holds them all, or choose fewer layers, heads or tokens."
        )
    with_scores = any(attention.scores is not None for attention in attentions)
    said, texts = [facts_text(each) for each in facts], []
    for place, attention in enumerate(attentions):
        for number, layer in enumerate(_by_layer(attention)):
            frame = layer.to_frame()
            if with_scores and "score" not in frame:
                frame["score"] = np.nan
            if numbered:
                frame.insert(0, "sentence", place + 1)
            frame[ABOUT] = ""
            if number == 0 and place < len(said) and len(frame):
                frame.loc[0, ABOUT] = said[place]
            texts.append(frame.to_csv(index=False, header=not texts, lineterminator="\n"))
    return encoded("".join(texts))


def _by_layer(attention: Attention) -> Iterator[Attention]:
    """A table of all layers would take a gigabyte for a long sentence."""
    for number, name in enumerate(attention.layers):
        here = slice(number, number + 1)
        scores = None if attention.scores is None else attention.scores[here]
        yield replace(attention, pattern=attention.pattern[here], scores=scores, layers=(name,))
