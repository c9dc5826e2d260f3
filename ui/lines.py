"""Lines between words, as in the paper's Figures 3 to 5: which are drawn, and the picture that answers to a pointer.

The picture itself is transformer/export/svg_lines.py, which exports use too; here words become buttons that choose
queries (ui/lines.js, ui/lines.css).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from transformer.analysis.attention import Attention
from transformer.export.about import About
from transformer.export.svg import HEADING
from transformer.export.svg_lines import LEAST_DRAWN, MOST_LINES, lines_svg
from transformer.export.svg_scale import weights_scale
from ui.component import own_component
from ui.theme import KIND_COLOURS

MOST_TOKENS = 64
"""On a side; beyond that BertViz's lines took over five seconds, and no eye follows ours."""

_HTML = """
<div class="lines">
  <div class="picture"></div>
  <div class="tip" hidden></div>
  <div class="live" aria-live="polite"></div>
</div>
"""

_component = own_component("lines", _HTML)


@dataclass(frozen=True)
class Lines:
    """What is drawn: heads of one layer, from some queries."""

    attention: Attention
    """With its words thinned out where there are too many of them."""
    layer: int
    heads: tuple[int, ...]
    queries: tuple[int, ...] | None
    """Rows of `attention`, None for all of them."""
    rows: tuple[int, ...]
    """Where each row of `attention` stands in the attention that was given."""
    columns: tuple[int, ...]
    """Where each column of it does."""
    note: str = ""
    """What was left out, in a sentence."""


def chosen_lines(attention: Attention, layer: int, heads: Sequence[int], queries: Sequence[int]) -> Lines:
    """The lines of some heads (indices) from some queries (indices, none for all).

    Of more than MOST_TOKENS words only the chosen queries are drawn, and the keys that they attend to most. Raises
    ValueError, in one sentence, for more lines than can be told apart.
    """
    n_query, n_key = attention.mask.shape
    shown, rows, columns, note = attention, tuple(range(n_query)), tuple(range(n_key)), ""
    if max(n_query, n_key) > MOST_TOKENS:
        if not queries:
            raise ValueError(
                f"Lines between {max(n_query, n_key)} tokens cannot be told apart: choose queries here, or see all "
                "weights in the Map and the grid."
            )
        shown, rows, columns = _thinned(attention, layer, heads, sorted(queries))
        queries = range(len(rows))
        note = (
            f"Of {n_query} queries the {len(rows)} chosen are drawn, and of {n_key} keys the {len(columns)} that they "
            "attend to most."
        )
    count = n_lines(shown, layer, heads, queries)
    if count > MOST_LINES:
        raise ValueError(
            f"These are {count:,} lines, and {MOST_LINES:,} are the most that are drawn: choose fewer queries or heads "
            "here, or see all weights in the Map and the grid."
        )
    return Lines(shown, layer, tuple(heads), tuple(queries) or None, rows, columns, note)


def n_lines(attention: Attention, layer: int, heads: Sequence[int], queries: Sequence[int]) -> int:
    """How many weights are large enough for a line."""
    weights = np.where(attention.mask, attention.pattern[layer, list(heads)], 0)
    weights = weights[:, list(queries)] if queries else weights
    return int((weights >= LEAST_DRAWN * weights_scale(attention).high).sum())


def _thinned(
    attention: Attention, layer: int, heads: Sequence[int], queries: Sequence[int]
) -> tuple[Attention, tuple[int, ...], tuple[int, ...]]:
    """The chosen rows and their strongest columns, and where both stand."""
    rows = list(queries)[:MOST_TOKENS]
    strongest = attention.pattern[layer][list(heads)][:, rows].max((0, 1))
    columns = np.sort(np.argsort(-strongest, kind="stable")[:MOST_TOKENS])
    columns = columns[strongest[columns] >= LEAST_DRAWN * weights_scale(attention).high]
    if not len(columns):
        columns = np.array([int(strongest.argmax())])
    keep_row, keep_column = (np.isin(range(n), at) for n, at in zip(attention.mask.shape, (rows, columns), strict=True))
    thin = replace(
        attention,
        pattern=attention.pattern[:, :, rows][..., columns],
        scores=None,
        mask=attention.mask[rows][:, columns],
        queries=attention.queries.select(keep_row.tolist()),
        keys=attention.keys.select(keep_column.tolist()),
        read=None if attention.read is None else attention.read.select(keep_row.tolist()),
    )
    return thin, tuple(rows), tuple(columns.tolist())


def lines_picture(lines: Lines, about: About, on_toggle: Callable[[int], None], key: str = "lines_picture") -> None:
    """Draw them. A click on a query's word, or Enter on it, calls on_toggle(query) before the page runs again."""

    def toggled() -> None:
        row = int(st.session_state[key].toggled)
        if 0 <= row < len(lines.rows):
            on_toggle(lines.rows[row])

    _component(data=payload(lines, about), key=key, on_toggled_change=toggled)


def payload(lines: Lines, about: About) -> dict:
    """What the browser gets. The page has the heading of the picture already, so it is cut off at the top."""
    picture = lines_svg(lines.attention, lines.layer, lines.heads, about, lines.queries)
    return {
        "svg": picture,
        "top": HEADING,
        "colour": KIND_COLOURS[lines.attention.kind],
        "scale": weights_scale(lines.attention).high,
        "queries": lines.attention.queries.labels,
        "keys": lines.attention.keys.labels,
        "heads": {str(head): lines.attention.heads[head] for head in lines.heads},
        "chosen": lines.queries,
        "label": describe(lines),
    }


def describe(lines: Lines) -> str:
    """The picture in words: the three strongest lines."""
    attention = lines.attention
    weights = np.where(attention.mask, attention.pattern[lines.layer, list(lines.heads)], 0)
    if lines.queries is not None:
        weights = np.where(np.isin(range(len(attention.queries)), lines.queries)[:, None], weights, 0)
    weights = np.nan_to_num(weights)
    said = []
    for at in np.argsort(-weights, axis=None, kind="stable")[:3]:
        head, query, key = np.unravel_index(at, weights.shape)
        name = attention.heads[lines.heads[head]]
        said.append(
            f"{attention.queries.labels[query]} to {attention.keys.labels[key]} {weights[head, query, key]:.2f} "
            f"(head {name})"
        )
    return "Lines from queries on the left to keys on the right. The strongest: " + ", ".join(said) + "."
