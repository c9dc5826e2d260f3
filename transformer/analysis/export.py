"""A trace, or any view of one, as the bytes of a CSV or NPZ file; export_json.py has JSON."""

import io
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from transformer.analysis.about import About
from transformer.analysis.attention import Attention
from transformer.analysis.trace import KINDS, Trace

MOST_ROWS = 2_000_000
"""In a CSV file; NPZ takes any number of weights."""


def trace_csv(trace: Trace) -> bytes:
    """Trace.to_frame: one row a cell. Raises ValueError, in one sentence, for more than 2,000,000 cells."""
    return _csv([trace[kind] for kind in KINDS])


def view_csv(attention: Attention) -> bytes:
    """Attention.to_frame: one row a cell. Raises ValueError as trace_csv does."""
    return _csv([attention])


def trace_npz(trace: Trace) -> bytes:
    """The file that Trace.save writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace.save(path)
        return path.read_bytes()


def view_npz(attention: Attention, about: About) -> bytes:
    """pattern, scores (where there are any), mask, labels of queries and keys, and about, a JSON text."""
    arrays = {
        "pattern": attention.pattern,
        "mask": attention.mask,
        "queries": np.array(attention.queries.labels, dtype=np.str_),
        "keys": np.array(attention.keys.labels, dtype=np.str_),
        "about": np.array(json.dumps(about.facts(attention), ensure_ascii=False)),
    }
    if attention.scores is not None:
        arrays["scores"] = attention.scores
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def _csv(attentions: Sequence[Attention]) -> bytes:
    rows = sum(attention.pattern.size for attention in attentions)
    if rows > MOST_ROWS:
        raise ValueError(
            f"There are {rows:,} weights, and a CSV file takes {MOST_ROWS:,}; "
            "NPZ holds them all, or choose fewer layers, heads or tokens."
        )
    with_scores = any(attention.scores is not None for attention in attentions)
    texts = []
    for frame in (layer.to_frame() for attention in attentions for layer in _by_layer(attention)):
        if with_scores and "score" not in frame:
            frame["score"] = np.nan
        texts.append(frame.to_csv(index=False, header=not texts, lineterminator="\n"))
    return "".join(texts).encode("utf-8", "backslashreplace")


def _by_layer(attention: Attention) -> Iterator[Attention]:
    """A table of all layers would take a gigabyte for a long sentence."""
    for number, name in enumerate(attention.layers):
        here = slice(number, number + 1)
        scores = None if attention.scores is None else attention.scores[here]
        yield replace(attention, pattern=attention.pattern[here], scores=scores, layers=(name,))
