"""Maps of target against source: weights, or the differences that deleting a source word makes, on one layout."""

from typing import TYPE_CHECKING, Any

import numpy as np

from transformer.export.markup import shorten
from transformer.export.markup import width as letters
from transformer.export.svg_map import Map
from transformer.export.svg_scale import differences_scale
from ui.figures import hover_axis, quoted, token_axis
from ui.theme import DIFFERENCES, KIND_COLOURS, WEIGHTS, colour_scale

if TYPE_CHECKING:
    import plotly.graph_objects as go

_LETTER, _LONGEST = 7.2, 18
_LARGEST_CELL, _SMALLEST_CELL = 34.0, 2.0
_TITLE, _RIGHT, _BOTTOM = 34, 76, 12
_COLOUR_BAR = 130  # pixels, at least


def map_figure(shown: Map, width: int) -> "go.Figure":
    """The map as large as fits into `width` pixels; cells are square, 2 to 34 pixels wide."""
    import plotly.graph_objects as go

    n_rows, n_columns = shown.values.shape
    rows, columns = ([shorten(label, _LONGEST) for label in side] for side in (shown.rows, shown.columns))
    widest_row, widest_column = (max(map(letters, labels), default=0) * _LETTER for labels in (rows, columns))
    left = _TITLE + 26 + widest_row
    cell = float(np.clip((width - left - _RIGHT) / max(n_columns, 1), _SMALLEST_CELL, _LARGEST_CELL))
    top = _TITLE + 12 + widest_column
    bottom = max(_BOTTOM, _COLOUR_BAR - cell * n_rows + _BOTTOM)
    between = 1 if cell > 12 else 0
    heat_map = go.Heatmap(
        z=shown.values.astype(np.float32),
        **_scale(shown),
        colorbar=_colour_bar(shown, cell * n_rows),
        xaxis="x2",
        yaxis="y2",
        xgap=between,
        ygap=between,
        hoverongaps=False,
        hovertemplate=f"target %{{y}}<br>source %{{x}}<br>{shown.said} <b>%{{z:.3f}}</b><extra></extra>",
    )
    layout = {
        "width": round(left + cell * n_columns + _RIGHT),
        "height": round(top + cell * n_rows + bottom),
        "margin": {"l": left, "r": _RIGHT, "t": top, "b": bottom, "autoexpand": False},
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "hoverlabel": {"align": "left"},
        "showlegend": False,
        "xaxis": token_axis(columns, shown.column_title, cell) | {"side": "top", "tickangle": -90},
        "yaxis": token_axis(rows, shown.row_title, cell) | {"range": [n_rows - 0.5, -0.5]},
        "xaxis2": hover_axis("x", map(quoted, shown.columns)),
        "yaxis2": hover_axis("y", map(quoted, shown.rows)),
        "shapes": [] if shown.current is None else [_frame(shown.current, n_columns)],
    }
    return go.Figure([heat_map, *_rings(shown, cell)], layout)


def describe_map(shown: Map) -> str:
    """The map in a sentence: its largest value, for those who do not see it."""
    n_rows, n_columns = shown.values.shape
    start = f"Map of {n_rows} target by {n_columns} source tokens."
    if not np.isfinite(shown.values).any():
        return start
    row, column = map(int, np.unravel_index(np.nanargmax(shown.values), shown.values.shape))
    value = shown.values[row, column]
    return f"{start} The largest {shown.said} is {value:.3f}: target {shown.rows[row]}, source {shown.columns[column]}."


def _scale(shown: Map) -> dict[str, Any]:
    if not shown.differences:
        return {"zmin": 0, "zmax": 1, "colorscale": colour_scale(WEIGHTS)}
    end = differences_scale(shown.values, "nats").high
    return {"zmin": -end, "zmax": end, "zmid": 0, "colorscale": colour_scale(DIFFERENCES)}


def _colour_bar(shown: Map, height: float) -> dict[str, Any]:
    bar = {
        "title": {"text": "nats" if shown.differences else "weight", "side": "top"},
        "thickness": 12,
        "outlinewidth": 0,
        "xpad": 12,
        "ypad": 0,
        "y": 1,
        "yanchor": "top",
        "len": max(1.0, _COLOUR_BAR / height) if height else 1.0,
    }
    return bar if shown.differences else bar | {"tickvals": [0, 0.25, 0.5, 0.75, 1]}


def _rings(shown: Map, cell: float) -> list[Any]:
    import plotly.graph_objects as go

    # Axes without a trace of their own would not be drawn, and with them no labels.
    plain = go.Scatter(x=[None], y=[None], mode="markers", hoverinfo="skip", showlegend=False)
    if not shown.marked:
        return [plain]
    y, x = zip(*sorted(shown.marked), strict=True)
    line = {"color": "#111111" if shown.differences else "#ffffff", "width": 2 if cell > 12 else 1}
    marker = {"symbol": "square", "size": max(3.0, cell * 0.72), "color": "rgba(0, 0, 0, 0)", "line": line}
    on_top = {"xaxis": "x2", "yaxis": "y2", "hoverinfo": "skip", "showlegend": False}
    return [plain, go.Scatter(x=x, y=y, mode="markers", marker=marker, **on_top)]


def _frame(row: int, n_columns: int) -> dict[str, Any]:
    edges = {"x0": -0.5, "x1": n_columns - 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {
        "type": "rect",
        **edges,
        "line": {"color": KIND_COLOURS["cross"], "width": 2},
        "fillcolor": "rgba(0, 0, 0, 0)",
    }
