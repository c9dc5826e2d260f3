"""One head of each of several models beside each other, and below each its difference from the first one's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from transformer.analysis.attention import Attention
from ui.figure_parts import GRIDLESS
from ui.figures import escape, masked_region, quoted, shorten, token_axis
from ui.theme import AXIS_TITLES, DIFFERENCES, WEIGHTS, colour_scale

if TYPE_CHECKING:
    import plotly.graph_objects as go

_LETTER, _TITLE, _RIGHT, _GAP = 7.2, 30.0, 88.0, 14.0  # pixels, as all from here on
_LARGEST, _SMALLEST, _TALLEST, _LOWEST_ROW = 34.0, 0.4, 400.0, 116.0
_NARROWEST = 60.0
_HEADING, _BETWEEN, _BOTTOM = 40.0, 56.0, 12.0


@dataclass(frozen=True)
class Panel:
    """One map of tokens, or a sentence in its place."""

    title: str
    values: Float[np.ndarray, "query key"] | None
    """None where there is nothing to draw."""
    mask: Bool[np.ndarray, "query key"] | None = None
    """True where the query may attend to the key."""
    said: str = ""
    """Below the title; or, where there are no values, why."""


def opened_figure(
    attention: Attention, weights: Sequence[Panel], differences: Sequence[Panel | None], width: int
) -> "go.Figure":
    """Heads of several models over the same tokens, and below each what sets it apart.

    Weights from 0 to 1 in the upper row, differences from −1 to 1 in the lower one, white where two heads agree. The
    labels of queries stand on the left for all. `attention` gives the tokens; width is in pixels. The lower row is left
    out where there is none.
    """
    import plotly.graph_objects as go

    n_query, n_key = attention.mask.shape
    rows, columns = (tuple(map(shorten, side.labels)) for side in (attention.queries, attention.keys))
    left = _TITLE + 20 + _widest(rows)
    width = max(width, round(left + _RIGHT + (_NARROWEST + _GAP) * len(weights)))
    pitch = (width - left - _RIGHT - _GAP * (len(weights) - 1)) / len(weights)
    cell = float(np.clip(min(pitch / max(n_key, 1), _TALLEST / max(n_query, 1)), _SMALLEST, _LARGEST))
    upright = _widest(columns) > cell
    tall, top = max(cell * n_query, _LOWEST_ROW), _HEADING + _TITLE + (_widest(columns) if upright else 18)
    lower = any(panel is not None and panel.values is not None for panel in differences)
    height = top + tall + (_BETWEEN + tall if lower else 0) + _BOTTOM
    across, down = width - left - _RIGHT, height - top - _BOTTOM
    titles = AXIS_TITLES[attention.kind]
    layout: dict[str, Any] = {
        "width": width, "height": round(height), "plot_bgcolor": "rgba(0, 0, 0, 0)", "hoverlabel": {"align": "left"},
        "margin": {"l": left, "r": _RIGHT, "t": top, "b": _BOTTOM, "autoexpand": False}, "showlegend": False,
        "coloraxis": scale_bar(WEIGHTS, 0, "weight", 1, tall, (0, 0.5, 1)),
        "coloraxis2": scale_bar(DIFFERENCES, -1, "Δ weight", tall / down, tall, (-1, 0, 1)),
    }  # fmt: skip
    notes, parts = [], []
    for row, panels in enumerate((weights, differences) if lower else (weights,)):
        y, over = ("y", "y2") if row == 0 else ("y3", "y4")
        end = 1 - row * (tall + _BETWEEN) / down
        layout[axis_name(y)] = token_axis(rows, titles[0], cell) | {
            "range": [n_query - 0.5, -0.5], "domain": [max(0.0, end - cell * n_query / down), end], "anchor": "x",
        }  # fmt: skip
        layout[axis_name(over)] = _hover(y, attention.queries.labels, layout[axis_name(y)]["domain"])
        for place, panel in enumerate(panels):
            if panel is None:
                continue
            number = 1 + 2 * (row * len(weights) + place)
            x, over_x = ("x" if number == 1 else f"x{number}"), f"x{number + 1}"
            start = place * (pitch + _GAP) / across
            domain = [start, start + min(cell * n_key, pitch) / across]
            if row == 0:
                layout[axis_name(x)] = token_axis(columns, "", cell) | {
                    "side": "top", "tickangle": -90 if upright else 0, "domain": domain, "anchor": y,
                }  # fmt: skip
                layout[axis_name(over_x)] = _hover(x, attention.keys.labels, domain)
            else:  # nothing is written below the upper row: one axis tells the cells and hovering
                over_x = x
                layout[axis_name(x)] = _hover("", attention.keys.labels, domain) | {"anchor": y}
            room = int((pitch + _GAP) / 7.6)
            above = {"x": start, "align": "left"}
            lift = top - _HEADING - _TITLE + 32 if row == 0 else 8
            text = f"<b>{escape(shorten(panel.title, room))}</b>"
            if panel.values is None:
                middle = {"y": end - 0.5 * tall / down, "yanchor": "middle", "opacity": 0.8}
                notes.append(text_note(_broken(panel.said, room), **above, **middle))
                text += "<br>\u00a0"  # as high as the others' titles
            elif panel.said:
                text += f"<br>{escape(shorten(panel.said, room))}"
            notes.append(text_note(text, y=end, yanchor="bottom", yshift=lift, **above))
            if panel.values is not None:
                parts += _map(panel, (x, y), (over_x, over), "coloraxis" if row == 0 else "coloraxis2", cell)
    key_title = titles[1] if _LETTER * len(titles[1]) < across else titles[1].split(":")[0]
    notes.append(text_note(escape(key_title), x=0, y=1, yanchor="bottom", yshift=top - _TITLE - _HEADING + 8))
    # Not update_layout and add_annotation: they would take ten times as long.
    return go.Figure(parts, {**layout, "annotations": notes})


def _map(panel: Panel, axes: tuple[str, str], over: tuple[str, str], colours: str, cell: float) -> list[Any]:
    import plotly.graph_objects as go

    assert panel.values is not None
    mask = np.ones(panel.values.shape, bool) if panel.mask is None else panel.mask
    sign = "+" if colours == "coloraxis2" else ""
    return [
        # Also where nothing is masked: Plotly draws no axis that nothing lies on.
        masked_region(mask, xaxis=axes[0], yaxis=axes[1]),
        go.Heatmap(
            z=np.where(mask & np.isfinite(panel.values), panel.values, np.nan).astype(np.float32), coloraxis=colours,
            xaxis=over[0], yaxis=over[1], xgap=int(cell > 12), ygap=int(cell > 12), hoverongaps=False,
            name=escape(panel.title),
            hovertemplate=f"query %{{y}}, key %{{x}}: <b>%{{z:{sign}.3f}}</b><extra></extra>",
        ),
    ]  # fmt: skip


def scale_bar(
    stops: Sequence[str], low: float, title: str, top: float, height: float, ticks: Sequence[float]
) -> dict[str, Any]:
    """A colour axis from `low` to 1, its bar on the right, ending at `top` of the plot, so many pixels high."""
    return {
        "cmin": low,
        "cmax": 1,
        "colorscale": colour_scale(stops),
        "colorbar": {
            "title": {"text": title, "side": "top"}, "thickness": 12, "outlinewidth": 0, "xpad": 12, "ypad": 0,
            "y": top, "yanchor": "top", "lenmode": "pixels", "len": min(height, 190.0), "tickvals": list(ticks),
        },
    }  # fmt: skip


def _hover(twin: str, labels: Sequence[str], domain: Sequence[float]) -> dict[str, Any]:
    """An axis that is not drawn, over another one if there is one: what hovering calls each token."""
    over = {"overlaying": twin, "matches": twin} if twin else {"range": [-0.5, len(labels) - 0.5]}
    return GRIDLESS | over | {
        "domain": list(domain), "tickmode": "array", "ticks": "",
        "tickvals": list(range(len(labels))), "ticktext": list(map(quoted, labels)), "showticklabels": False,
    }  # fmt: skip


def text_note(text: str, **where: Any) -> dict[str, Any]:
    """A text without an arrow, to the right of a place given in Plotly's words."""
    plain = {"showarrow": False, "font": {"size": 13}, "xref": "paper", "yref": "paper", "xanchor": "left"}
    return {"text": text, **plain, **where}


def axis_name(name: str) -> str:
    """x3 as layouts call it: xaxis3."""
    return f"{name[0]}axis{name[1:]}"


def _widest(labels: Sequence[str]) -> float:
    return max(map(len, labels), default=0) * _LETTER


def _broken(text: str, room: int) -> str:
    """A sentence in lines of so many letters."""
    import textwrap

    return "<br>".join(map(escape, textwrap.wrap(text, max(12, room))))
