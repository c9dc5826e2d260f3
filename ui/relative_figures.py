"""Figures of the two encodings that act on scores: RoPE's rotation and ALiBi's bias. Pure functions to Plotly."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from transformer.analysis.encodings import frequencies
from transformer.export.numbers import number
from ui.encoding_theme import ENCODING_COLOURS, NEUTRAL
from ui.figure_parts import Arrow, Turn, as_angle, empty_figure, note, turns_figure

if TYPE_CHECKING:
    import plotly.graph_objects as go

D_K, PAIRS = 32, (0, 4, 8)
"""Width of a head in the drawing, and the pairs of it that are drawn: a fast, a slower and a slow one."""
_LOWEST = -10.5
_APART = 0.5
"""Between two labels of slopes, in the unit of the axis; hovering names the others."""


def rope_figure(query: int, key: int) -> "go.Figure":
    """Three pairs of dimensions of a query and a key that point the same way, each turned by its own position."""
    colour, turn = ENCODING_COLOURS["rope"], frequencies(D_K)
    turns = [
        Turn(
            Arrow(key * turn[pair], f"key at position {key}", NEUTRAL, "diamond"),
            Arrow(query * turn[pair], f"query at position {query}", colour, "circle"),
            f"dimensions {2 * pair}, {2 * pair + 1}<br>{as_angle((query - key) * turn[pair])} apart"
            f"<br>q · k = {number(np.cos((query - key) * turn[pair]), 3)}",
        )
        for pair in PAIRS
    ]
    return turns_figure(turns, 400, colour)


def alibi_figure(query: int, key: int, slopes: Sequence[float]) -> "go.Figure":
    """What each head adds to the query's scores at every position, −m · distance, and what it adds to this key's."""
    positions = np.arange(max(query, key, 30) + 10)
    figure, colour, last = empty_figure(400), ENCODING_COLOURS["alibi"], int(positions[-1])
    labelled: list[float] = []
    for head, (slope, shade) in enumerate(zip(slopes, np.linspace(1, 0.35, len(slopes)), strict=True)):
        figure.add_scatter(
            x=positions,
            y=-slope * np.abs(positions - query),
            mode="lines",
            opacity=shade,
            showlegend=False,
            line={"color": colour, "width": 2.5},
            hovertemplate=f"head {head}, m = {slope:.4g}: key at %{{x}} gets <b>%{{y:.3f}}</b><extra></extra>",
        )
        figure.add_scatter(
            x=[key],
            y=[-slope * abs(key - query)],
            mode="markers",
            opacity=shade,
            showlegend=False,
            marker={"color": colour, "size": 10, "symbol": "diamond"},
            hovertemplate=f"head {head}: this key gets <b>%{{y:.3f}}</b><extra></extra>",
        )
        end = max(-slope * abs(last - query), _LOWEST + 0.5)
        if all(abs(end - other) > _APART for other in labelled):
            labelled.append(end)
            note(figure, f"m = {slope:.3g}", 11, x=last, y=end, xanchor="left", xshift=4)
    figure.add_vline(x=key, line={"color": NEUTRAL, "dash": "dot", "width": 1.5})
    return figure.update_layout(
        margin={"l": 8, "r": 70, "t": 40, "b": 8},
        xaxis={"title": "position of a key", "range": [0, last], "zeroline": False},
        yaxis={"title": "added to its score", "range": [_LOWEST, 0.5], "zeroline": False},
    )
