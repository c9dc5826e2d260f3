"""Parts that figures share: an empty figure, notes in it, axes and colour bars, and turns drawn on a circle."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ui.encoding_theme import NEUTRAL

if TYPE_CHECKING:
    import plotly.graph_objects as go

BAND = "rgba(128, 128, 128, 0.16)"
"""Over what is marked; it darkens a light theme and lightens a dark one."""
BAR = {"thickness": 10, "outlinewidth": 0, "xpad": 8}
GRIDLESS = {"showgrid": False, "zeroline": False}


def empty_figure(height: int, title: str = "", **layout: Any) -> "go.Figure":
    """No frame, and no more margin than the axes need."""
    import plotly.graph_objects as go

    base: dict[str, Any] = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 28, "b": 8},
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "hoverlabel": {"align": "left"},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    }
    if title:
        base["title"] = {"text": title, "font": {"size": 15}, "x": 0, "xanchor": "left"}
    return go.Figure(layout=base | layout)


def log_axis(title: str, steps: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis with these steps in every decade, each with its number: Plotly would write 2 at 20 too."""
    values = [step * 10.0**power for power in range(-3, 7) for step in steps]
    return {"title": title, "type": "log", "tickvals": values, "tickformat": ",~g", "zeroline": False}


def note(figure: "go.Figure", text: str, size: int = 12, **where: Any) -> None:
    """A text without an arrow, at a place given in Plotly's words."""
    figure.add_annotation(text=text, showarrow=False, font={"size": size}, **where)


def domains(n: int, gap: float) -> list[list[float]]:
    """Where n plots stand beside each other, as shares of the width, with a gap between them."""
    width = (1 - gap * (n - 1)) / n
    return [[at * (width + gap), at * (width + gap) + width] for at in range(n)]


@dataclass(frozen=True)
class Arrow:
    """A pointer on a circle, and its name in the legend."""

    angle: float
    """Radians, counter-clockwise from the right."""
    name: str
    colour: str
    symbol: str


@dataclass(frozen=True)
class Turn:
    """A circle with two pointers, the turn from the first to the second, and what stands above it."""

    first: Arrow
    second: Arrow
    text: str


def turns_figure(turns: Sequence[Turn], height: int, colour: str) -> "go.Figure":
    """Circles beside each other; a turn of more than once round is drawn as a spiral, so that it can be counted."""
    below = {"orientation": "h", "x": 0.5, "xanchor": "center", "y": -0.02, "yanchor": "top"}
    figure = empty_figure(height, margin={"l": 0, "r": 0, "t": 70, "b": 24}, legend=below)
    places = domains(len(turns), 0)
    circle = np.linspace(0, 2 * np.pi, 121)
    for number, (turn, place) in enumerate(zip(turns, places, strict=True), start=1):
        axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        swept = turn.second.angle - turn.first.angle
        angle = turn.first.angle + np.linspace(0, swept, 2 + int(40 * min(abs(swept), 40)))
        radius = 0.45 + np.linspace(0, min(0.4, abs(swept) / (2 * np.pi) * 0.08), len(angle))
        for at, far, line in (
            (circle, 1.0, {"color": NEUTRAL, "width": 1}),
            (angle, radius, {"color": colour, "width": 2, "dash": "dot"}),
        ):
            x, y = np.cos(at) * far, np.sin(at) * far
            figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False, **axes)
        for arrow in (turn.first, turn.second):
            figure.add_scatter(
                x=[0, np.cos(arrow.angle)],
                y=[0, np.sin(arrow.angle)],
                mode="lines+markers",
                name=arrow.name,
                showlegend=number == 1,
                line={"color": arrow.colour, "width": 2.5},
                marker={"size": [0, 11], "symbol": arrow.symbol, "color": arrow.colour, "opacity": 1},
                hovertemplate=f"{arrow.name}: cosine %{{x:.3f}}, sine %{{y:.3f}}<extra></extra>",
                **axes,
            )
        middle = {"x": sum(place) / 2, "xref": "paper", "xanchor": "center"}
        note(figure, turn.text, 13, y=0.98, yref="paper", yanchor="bottom", **middle)
        hidden = {"visible": False, "range": [-1.2, 1.2], "fixedrange": True}
        figure.update_layout(
            {
                f"xaxis{number}": hidden | {"domain": place, "anchor": f"y{number}"},
                f"yaxis{number}": hidden | {"domain": [0, 0.98], "anchor": f"x{number}", "scaleanchor": f"x{number}"},
            }
        )
    return figure


def as_angle(radians: float) -> str:
    """Degrees, or whole turns where there are some."""
    turns, degrees = abs(radians) / (2 * np.pi), np.degrees(radians)
    if turns >= 1:
        return f"{turns:.1f} turns"
    text = f"{degrees:.0f}°" if abs(degrees) >= 10 else f"{degrees:.2g}°"
    return text.replace("-", "−")
