"""Figures of two models beside each other: the difference of two heads, and how far every head is from its partner."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from transformer.analysis.attention import Attention
from transformer.analysis.compare import LN_2
from ui.figure_parts import BAR, empty_figure
from ui.figures import escape, shorten
from ui.theme import AXIS_TITLES, DIFFERENCES, WEIGHTS, colour_scale

if TYPE_CHECKING:
    import plotly.graph_objects as go


def difference_figure(attention: Attention, difference: Float[np.ndarray, "query key"]) -> "go.Figure":
    """Weights of one head less those of another, from −1 to 1, white where they agree; masked cells are empty."""
    rows, columns = ([escape(shorten(label)) for label in side.labels] for side in (attention.queries, attention.keys))
    figure = empty_figure(max(260, 90 + 26 * len(rows)), margin={"l": 8, "r": 8, "t": 8, "b": 8})
    figure.add_heatmap(
        z=np.where(attention.mask, difference, np.nan), zmin=-1, zmid=0, zmax=1, colorscale=colour_scale(DIFFERENCES),
        colorbar=BAR | {"title": {"text": "Δ weight"}}, hoverongaps=False, xgap=1, ygap=1,
        customdata=np.array([[(row, column) for column in columns] for row in rows]),
        hovertemplate="query %{customdata[0]}<br>key %{customdata[1]}: <b>%{z:+.3f}</b><extra></extra>",
    )  # fmt: skip
    query_title, key_title = AXIS_TITLES[attention.kind]
    plain = {"showgrid": False, "zeroline": False, "automargin": True}
    across = {"title": key_title, "side": "top", "tickvals": list(range(len(columns))), "ticktext": columns}
    down = {
        "title": query_title,
        "tickvals": list(range(len(rows))),
        "ticktext": rows,
        "range": [len(rows) - 0.5, -0.5],
    }
    return figure.update_layout(xaxis=plain | across, yaxis=plain | down | {"range": [len(rows) - 0.5, -0.5]})


def apart_figure(apart: Float[np.ndarray, "layer head"], attention: Attention) -> "go.Figure":
    """Divergence of each head from its partner, layers down and heads across, from 0 to ln 2, with its number."""
    n_layers, n_heads = apart.shape
    figure = empty_figure(max(200, 90 + 44 * n_layers), margin={"l": 8, "r": 8, "t": 8, "b": 8})
    figure.add_heatmap(
        z=apart, zmin=0, zmax=LN_2, colorscale=colour_scale(WEIGHTS), xgap=2, ygap=2, hoverongaps=False,
        colorbar=BAR | {"title": {"text": "nats"}}, texttemplate="%{z:.2f}",
        hovertemplate="L%{y}·H%{x}: <b>%{z:.3f}</b> nats<extra></extra>",
    )  # fmt: skip
    plain = {"showgrid": False, "zeroline": False}
    return figure.update_layout(
        xaxis=plain
        | {"title": "head", "side": "top", "tickvals": list(range(n_heads)), "ticktext": list(attention.heads)},
        yaxis=plain
        | {
            "title": "layer", "tickvals": list(range(n_layers)), "ticktext": list(attention.layers),
            "range": [n_layers - 0.5, -0.5],
        },
    )  # fmt: skip
