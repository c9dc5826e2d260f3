"""A table of positions, sinusoidal or learned, as a heat map, and its rows' lengths: pure, from numbers to Plotly."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ui.encoding_theme import ENCODING_COLOURS, NEUTRAL
from ui.figure_parts import BAND, BAR, GRIDLESS, empty_figure, note
from ui.theme import DIFFERENCES, WEIGHTS, colour_scale
from ui.wave_figures import positions

if TYPE_CHECKING:
    import plotly.graph_objects as go

CELLS = 90_000
"""Cells of a heat map beyond which positions are left out: more than a screen has pixels for, and slow to send."""
_INK = "#14171b"
"""On the heat maps' own pale colours, in either theme."""


def drawn_every(n: int, d_model: int) -> int:
    """1 where table_figure draws all n positions, else how many positions lie between two that it draws."""
    return max(1, -(-n * d_model // CELLS))


def table_figure(
    table: np.ndarray,
    title: str = "",
    *,
    lengths: np.ndarray | None = None,
    visits: np.ndarray | None = None,
    unvisited_from: int | None = None,
    marked: int = 0,
    limit: float | None = None,
    height: int = 460,
) -> "go.Figure":
    """A table of positions as a heat map, positions down and dimensions across, red above 0 and blue below.

    lengths: wavelength of each pair, for hovering. visits: how many texts of training reach each position, drawn as a
    strip on the right. unvisited_from: the first row that training hardly ever visited; it and those after it lie under
    a veil. marked: tokens of a sentence, whose end is drawn. limit: the value at both ends of the colours, by default
    the table's largest.
    """
    n, d_model = table.shape
    step = drawn_every(n, d_model)
    limit = limit or float(np.abs(table).max(initial=0)) or 1.0
    figure = empty_figure(height, title)
    figure.add_heatmap(
        z=table[::step].astype(np.float32),
        y=np.arange(0, n, step),
        xaxis="x2",
        zmid=0,
        zmin=-limit,
        zmax=limit,
        colorscale=colour_scale(DIFFERENCES),
        colorbar=BAR,
        hovertemplate="position %{y}, %{x}: <b>%{z:.3f}</b><extra></extra>",
    )
    figure.add_scatter(x=[None], y=[None], showlegend=False)  # an axis without data is not drawn
    hover = {"tickmode": "array", "tickvals": list(range(d_model)), "ticktext": _dimensions(d_model, lengths)}
    figure.update_layout(
        xaxis=GRIDLESS | {"title": "dimension", "range": [-0.5, d_model - 0.5]},
        xaxis2=GRIDLESS | hover | {"overlaying": "x", "matches": "x", "showticklabels": False, "ticks": ""},
        yaxis=GRIDLESS | {"title": "position", "range": [n - 0.5, -0.5]},
    )
    if visits is not None:
        _visits_strip(figure, visits[:n], d_model)
    if unvisited_from is not None and unvisited_from < n:
        _veil(figure, unvisited_from, n, d_model)
    if 0 < marked < n:
        figure.add_hline(y=marked - 0.5, line={"color": _INK, "dash": "dot", "width": 2})
        corner = {"x": 1, "xref": "paper", "xanchor": "right", "y": 1, "yref": "paper", "yanchor": "bottom"}
        note(figure, "dotted: where your sentence ends", 13, **corner)
    return figure


def norms_figure(
    fixed: np.ndarray, start: np.ndarray, trained: np.ndarray, visits: np.ndarray | None, rare_from: int | None
) -> "go.Figure":
    """Length of each position's row in the three tables, over how many texts of an epoch reach the position."""
    figure = empty_figure(420)
    if visits is not None:
        figure.add_bar(
            x=np.arange(len(visits)),
            y=visits,
            yaxis="y2",
            name="texts that reach it, an epoch",
            marker={"color": BAND},
            hovertemplate="position %{x}: %{y:,} texts an epoch<extra></extra>",
        )
    for values, name, encoding, dash in (
        (fixed, "sinusoidal", "sinusoidal", "solid"),
        (start, "learned, at the start", "learned", "dot"),
        (trained, "learned, after training", "learned", "dash"),
    ):
        figure.add_scatter(
            x=np.arange(len(values)),
            y=values,
            mode="lines",
            name=name,
            line={"color": ENCODING_COLOURS[encoding], "width": 2.5, "dash": dash},
            hovertemplate="position %{x}: <b>%{y:.3f}</b>",
        )
    if rare_from is not None:
        figure.add_vline(x=rare_from - 0.5, line={"color": NEUTRAL, "dash": "dot", "width": 2})
        place = {"x": rare_from, "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "top"}
        note(figure, "hardly ever visited from here on", **place)
    top = 1.15 * (max(float(values.max(initial=0)) for values in (fixed, start, trained)) or 1.0)
    left = {"title": "‖PE(position)‖", "range": [0, top], "overlaying": "y2", "tickmode": "auto", "nticks": 6}
    return figure.update_layout(
        xaxis={"title": "position", "zeroline": False},
        yaxis=left,
        yaxis2={"title": "texts", "side": "right", "showgrid": False, "rangemode": "tozero"},
    )


def _dimensions(d_model: int, lengths: np.ndarray | None) -> list[str]:
    """What hovering says of each dimension."""
    if lengths is None:
        return [f"dimension {dimension}" for dimension in range(d_model)]
    waves = ("sine", "cosine")
    return [f"dimension {d} ({waves[d % 2]}), wavelength {positions(lengths[d // 2])}" for d in range(d_model)]


def _visits_strip(figure: "go.Figure", visits: np.ndarray, d_model: int) -> None:
    """One more column, a little apart: the brighter, the more often training came by; on a logarithmic scale."""
    apart, wide = 0.02 * d_model + 0.5, 0.04 * d_model + 0.5
    figure.add_heatmap(
        z=np.log10(np.maximum(visits, 1))[:, None],
        x=[d_model - 0.5 + apart, d_model - 0.5 + apart + wide],
        y=np.arange(len(visits) + 1) - 0.5,
        customdata=visits[:, None],
        zmin=0,
        colorscale=colour_scale(WEIGHTS),
        showscale=False,
        hovertemplate="position %{y}: %{customdata:,} texts of an epoch reach it<extra></extra>",
    )
    figure.update_xaxes(range=[-0.5, d_model - 0.5 + apart + wide])
    where = {"x": d_model - 0.5 + apart + wide, "xanchor": "right", "y": 1, "yref": "paper", "yanchor": "bottom"}
    note(figure, "visits", **where)


def _veil(figure: "go.Figure", first: int, n: int, d_model: int) -> None:
    left, right, top, bottom = -0.5, d_model - 0.5, first - 0.5, n - 0.5
    hatch: dict[str, Any] = {"shape": "/", "size": 9, "solidity": 0.2}
    figure.add_scatter(
        x=[left, right, right, left, left],
        y=[top, top, bottom, bottom, top],
        xaxis="x2",
        mode="none",
        fill="toself",
        showlegend=False,
        hoveron="fills",
        hoverinfo="text",
        text="hardly ever visited in training",
        fillpattern=hatch | {"fgcolor": _INK, "bgcolor": "rgba(255, 255, 255, 0.4)"},
    )
