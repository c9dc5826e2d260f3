"""How far apart the heads of several models are: a map of layers and heads for each, whose cells can be clicked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from transformer.analysis.compare import LN_2
from ui.compare_figures import axis_name, scale_bar, text_note
from ui.figure_parts import GRIDLESS
from ui.figures import escape, shorten
from ui.theme import WEIGHTS

if TYPE_CHECKING:
    import plotly.graph_objects as go

_LAYER, _RIGHT, _GAP = 32.0, 88.0, 28.0  # pixels, as all from here on
_HEADING, _BOTTOM, _LOWEST = 64.0, 12.0, 116.0
_BRIGHT = 0.35
"""Nats from which a cell of the palette is so bright that its number is dark."""


@dataclass(frozen=True)
class Apart:
    """How far each of a model's heads is from its partner."""

    title: str
    values: Float[np.ndarray, "layer head"]
    """NaN for a head that has no partner."""
    said: str = ""
    opens: bool = True
    """Whether its heads are those that a click can open."""


def apart_figure(panels: Sequence[Apart], opened: tuple[int, int] | None, width: int) -> "go.Figure":
    """Divergences, layers down and heads across, from 0 to ln 2, a map a model; the opened head is outlined.

    Over each cell that can be opened lies a clear marker, which tells a click its layer and head, as no heat map does.
    """
    import plotly.graph_objects as go

    pitch = (width - _LAYER - _RIGHT - _GAP * (len(panels) - 1)) / len(panels)
    most_layers = max(len(panel.values) for panel in panels)
    cells = [float(np.clip((pitch - _LAYER) / panel.values.shape[1], 14, 64)) for panel in panels]
    row = float(np.clip(240 / most_layers, 18, 40))
    across, down = width - _LAYER - _RIGHT, max(row * most_layers, _LOWEST)
    height = _HEADING + down + _BOTTOM
    layout: dict[str, Any] = {
        "width": width, "height": round(height), "plot_bgcolor": "rgba(0, 0, 0, 0)", "showlegend": False,
        "margin": {"l": _LAYER, "r": _RIGHT, "t": _HEADING, "b": _BOTTOM, "autoexpand": False},
        "coloraxis": scale_bar(WEIGHTS, 0, "nats", 1, down, (0, 0.2, 0.4, 0.6)) | {"cmax": LN_2}, "dragmode": False,
        "hoverlabel": {"align": "left"}, "clickmode": "event+select",
    }  # fmt: skip
    notes, parts, outlines = [], [], []
    for number, (panel, cell) in enumerate(zip(panels, cells, strict=True), 1):
        x, y = (letter if number == 1 else f"{letter}{number}" for letter in "xy")
        n_layers, n_heads = panel.values.shape
        start = (number - 1) * (pitch + _GAP) / across
        begin = start + (0 if number == 1 else _LAYER / across)
        layout[axis_name(x)] = GRIDLESS | {
            "domain": [begin, min(1.0, begin + cell * n_heads / across)], "side": "top", "anchor": y,
            "tickvals": list(range(n_heads)), "ticktext": [f"H{head}" for head in range(n_heads)] if cell >= 26 else
            [str(head) for head in range(n_heads)], "range": [-0.5, n_heads - 0.5], "ticks": "", "fixedrange": True,
        }  # fmt: skip
        layout[axis_name(y)] = GRIDLESS | {
            "domain": [1 - row * n_layers / down, 1], "anchor": x, "tickvals": list(range(n_layers)), "ticks": "",
            "ticktext": [f"L{layer}" for layer in range(n_layers)], "range": [n_layers - 0.5, -0.5],
            "fixedrange": True,
        }  # fmt: skip
        room = int(pitch / 7.4)
        text = f"<b>{escape(shorten(panel.title, room))}</b><br>{escape(shorten(panel.said, room))}"
        notes.append(text_note(text, x=start, align="left", y=1, yanchor="bottom", yshift=24))
        # Two maps, so that numbers are light on dark cells and dark on bright ones.
        for some, ink in ((panel.values < _BRIGHT, "#ffffff"), (panel.values >= _BRIGHT, "#14171b")):
            parts.append(
                go.Heatmap(
                    z=np.where(some, panel.values, np.nan), coloraxis="coloraxis", xaxis=x, yaxis=y, xgap=2, ygap=2,
                    hoverongaps=False, texttemplate="%{z:.2f}" if cell >= 32 else None, textfont={"color": ink},
                    hoverinfo="skip" if panel.opens else None,
                    hovertemplate=None if panel.opens else "%{y}·%{x}: <b>%{z:.3f}</b> nats<extra></extra>",
                )
            )  # fmt: skip
        if panel.opens:
            parts.append(_clickable(panel, (x, y), min(cell, row)))
            if opened is not None and opened[0] < n_layers and opened[1] < n_heads:
                layer, head = opened
                outlines.append({
                    "type": "rect", "xref": x, "yref": y, "x0": head - 0.5, "x1": head + 0.5, "y0": layer - 0.5,
                    "y1": layer + 0.5, "line": {"width": 3, "color": "#e0559a"}, "fillcolor": "rgba(0, 0, 0, 0)",
                })  # fmt: skip
    return go.Figure(parts, {**layout, "shapes": outlines, "annotations": notes})


def _clickable(panel: Apart, axes: tuple[str, str], size: float) -> Any:
    import plotly.graph_objects as go

    layers, heads = np.nonzero(np.isfinite(panel.values))
    clear = {"marker": {"opacity": 0}}
    return go.Scatter(
        x=heads.tolist(), y=layers.tolist(), mode="markers", xaxis=axes[0], yaxis=axes[1], selected=clear,
        unselected=clear, marker={"symbol": "square", "size": size, "opacity": 0, "color": "#808080"},
        customdata=[[int(layer), int(head), float(panel.values[layer, head])]
                    for layer, head in zip(layers, heads, strict=True)],
        hovertemplate="L%{customdata[0]}·H%{customdata[1]}: <b>%{customdata[2]:.3f}</b> nats<br>click to open it"
        "<extra></extra>",
    )  # fmt: skip
