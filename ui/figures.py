"""Figures: pure functions from what was measured to Plotly. They know nothing of a page.

Plotly reads labels as HTML and merges equal category names, so a heat map here has numeric axes, with escaped labels
as tick texts. It lies on a second pair of axes that is not drawn and whose tick texts are what hovering says: n + m
texts, where a text for every cell would be n × m.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer.analysis.attention import Attention
from transformer.export.markup import shorten
from transformer.export.markup import width as letters
from transformer.export.palette import NOT_A_NUMBER
from transformer.export.svg import runs
from ui.theme import AXIS_TITLES, MASKED_FILL, MASKED_LINE, WEIGHTS, colour_scale

if TYPE_CHECKING:
    import plotly.graph_objects as go


_LETTER = 7.2  # pixels, as all from here on
_LARGEST_CELL, _SMALLEST_CELL, _SMALLEST_STEP = 56.0, 2.0, 11.0
_TITLE, _RIGHT, _BOTTOM = 30, 84, 14
_COLOUR_BAR = 120  # at least


def escape(text: str) -> str:
    """Text that Plotly shows as it is, tags and entities included."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def head_figure(attention: Attention, layer: int, head: int, width: int = 640) -> "go.Figure":
    """One head as a heat map, queries down and keys across, as large as fits into `width` pixels.

    Cells are square, 2 to 56 pixels wide; where they are narrower than a label is high, every second or later token has
    one. Masked cells are empty under a hatch. Hovering reads "query 'x' attends to key 'y': 0.123", with the token that
    the decoder had read at that row.
    """
    import plotly.graph_objects as go

    n_query, n_key = attention.mask.shape
    rows, columns = (tuple(map(shorten, side.labels)) for side in (attention.queries, attention.keys))
    widest_row, widest_column = (max(map(letters, labels), default=0) * _LETTER for labels in (rows, columns))
    left = _TITLE + 26 + widest_row
    cell = float(np.clip((width - left - _RIGHT) / max(n_key, 1), _SMALLEST_CELL, _LARGEST_CELL))
    upright = widest_column > cell
    top = _TITLE + 12 + (widest_column if upright else 18)
    bottom = max(_BOTTOM, _COLOUR_BAR - cell * n_query + _BOTTOM)
    query_title, key_title = AXIS_TITLES[attention.kind]
    between_cells = 1 if cell > 12 else 0
    heat_map = go.Heatmap(
        z=_drawn(attention, layer, head),
        zmin=0,
        zmax=1,
        colorscale=colour_scale(WEIGHTS),
        colorbar=_colour_bar(cell * n_query),
        xaxis="x2",
        yaxis="y2",
        xgap=between_cells,
        ygap=between_cells,
        hoverongaps=False,
        hovertemplate="query %{y}<br>attends to key %{x}: <b>%{z:.3f}</b><extra></extra>",
    )
    layout = {
        "width": round(left + cell * n_key + _RIGHT),
        "height": round(top + cell * n_query + bottom),
        "margin": {"l": left, "r": _RIGHT, "t": top, "b": bottom, "autoexpand": False},
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "hoverlabel": {"align": "left"},
        "xaxis": token_axis(columns, key_title, cell) | {"side": "top", "tickangle": -90 if upright else 0},
        "yaxis": token_axis(rows, query_title, cell) | {"range": [n_query - 0.5, -0.5]},
        "xaxis2": hover_axis("x", map(quoted, attention.keys.labels)),
        "yaxis2": hover_axis("y", _query_texts(attention)),
    }
    regions = [masked_region(attention.mask)]
    broken = attention.mask & ~np.isfinite(attention.pattern[layer, head])
    if broken.any():
        regions.append(_region(broken, "not a number (NaN)", fillcolor=NOT_A_NUMBER))
    return go.Figure([*regions, heat_map], layout)  # update_layout would take 30 times as long


def describe_head(attention: Attention, layer: int, head: int) -> str:
    """The same head in words, for those who do not see the picture."""
    weights = attention.pattern[layer, head]
    size = f"Heat map of attention weights, {len(attention.queries)} queries by {len(attention.keys)} keys."
    known = np.where(attention.mask & np.isfinite(weights), weights, -1)
    row, column = np.unravel_index(np.argmax(known), known.shape)
    if known[row, column] < 0:
        return f"{size} None of them is a number."
    query, key = attention.queries.labels[row], attention.keys.labels[column]
    return f"{size} The strongest is from query {query} to key {key}: {weights[row, column]:.3f}."


def token_axis(labels: Sequence[str], title: str, cell: float) -> dict[str, Any]:
    """An axis of tokens, as many of them labelled as have room with cells of so many pixels."""
    places = list(range(0, len(labels), max(1, int(np.ceil(_SMALLEST_STEP / cell)))))
    fits = _LETTER * len(title) < cell * len(labels)
    return {
        "title": {"text": title if fits else title.split(":")[0], "standoff": 14},
        "tickmode": "array",
        "tickvals": places,
        "ticktext": [escape(labels[place]) for place in places],
        "tickfont": {"size": float(np.clip(cell * 0.6, 9, 14))},
        "tickangle": 0,
        "ticklabeloverflow": "allow",  # with this and a fixed angle nothing is measured: 64 labels draw twice as fast
        "range": [-0.5, len(labels) - 0.5],
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
    }


def hover_axis(twin: str, texts: Iterable[str]) -> dict[str, Any]:
    """An axis that is not drawn, over x or y: what hovering calls each token of that axis."""
    texts = list(texts)
    return {
        "overlaying": twin,
        "matches": twin,
        "anchor": {"x": "y2", "y": "x2"}[twin],
        "tickmode": "array",
        "tickvals": list(range(len(texts))),
        "ticktext": texts,
        "showticklabels": False,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
    }


def _query_texts(attention: Attention) -> Iterable[str]:
    if attention.read is None:
        return map(quoted, attention.queries.labels)
    rows = zip(attention.queries.labels, attention.read.labels, strict=True)
    return (f"{quoted(written)}, having read {quoted(read)}," for written, read in rows)


def _colour_bar(height: float) -> dict[str, Any]:
    return {
        "title": {"text": "weight", "side": "top"},
        "tickvals": [0, 0.25, 0.5, 0.75, 1],
        "thickness": 12,
        "outlinewidth": 0,
        "xpad": 14,
        "ypad": 0,
        "y": 1,
        "yanchor": "top",
        "len": max(1.0, _COLOUR_BAR / height) if height else 1.0,
    }


def _drawn(attention: Attention, layer: int, head: int) -> np.ndarray:
    weights = attention.pattern[layer, head]
    return np.where(attention.mask & np.isfinite(weights), weights, np.nan).astype(np.float32)


def masked_region(mask: np.ndarray, **axes: str) -> Any:
    """A hatch over the cells where no attention is possible; axes: xaxis and yaxis, where there are several."""
    hatch = {"shape": "/", "size": 7, "solidity": 0.18, "fgcolor": MASKED_LINE, "bgcolor": MASKED_FILL}
    return _region(~mask, "masked: the query may not attend here", fillpattern=hatch, **axes)


def _region(cells: np.ndarray, text: str, **filled: Any) -> Any:
    """Cells filled alike, saying the same when pointed at; one rectangle for each run of keys."""
    import plotly.graph_objects as go

    x: list[float | None] = [None]
    y: list[float | None] = [None]
    for row, first, end in runs(cells):
        x += [first - 0.5, end - 0.5, end - 0.5, first - 0.5, first - 0.5, None]
        y += [row - 0.5, row - 0.5, row + 0.5, row + 0.5, row - 0.5, None]
    return go.Scatter(
        x=x,
        y=y,
        mode="none",
        fill="toself",
        **filled,
        hoveron="fills",
        hoverinfo="text",
        text=text,
        showlegend=False,
    )


def quoted(label: str) -> str:
    # An isolate keeps a right-to-left token from turning the rest of the line around.
    return f"'\u2068{escape(label)}\u2069'"
