"""Figures of the sinusoids alone: waves, wavelengths, rotation. Pure functions from numbers to Plotly."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from transformer.analysis.encodings import frequencies, wavelengths
from ui.encoding_theme import ENCODING_COLOURS, NEUTRAL
from ui.figure_parts import BAND, Arrow, Turn, as_angle, empty_figure, note, turns_figure

if TYPE_CHECKING:
    import plotly.graph_objects as go

SINE, COSINE, MOVED = ENCODING_COLOURS["sinusoidal"], NEUTRAL, ENCODING_COLOURS["learned"]
_POINTS, _MOST_DOTS = 600, 60


def wave_figure(n: int, d_model: int, base: float, pairs: Sequence[int], marked: int = 0) -> "go.Figure":
    """One lane for each pair of dimensions: its sine and cosine over n positions.

    The first `marked` positions, a sentence's, are shaded, and each of its tokens has a dot.
    """
    # Whole positions are among the points, so that hovering finds them.
    fine = np.linspace(0, n - 1, (n - 1) * max(1, _POINTS // n) + 1)
    tokens = np.arange(min(marked, n, _MOST_DOTS))
    turn, length = frequencies(d_model, base), wavelengths(d_model, base)
    figure = empty_figure(max(200, 92 * len(pairs) + 80), hovermode="closest")
    tops = np.linspace(1, 0, len(pairs) + 1)
    for lane, pair in enumerate(pairs):
        axis, top = f"y{lane + 1}", tops[lane] - 0.2 / len(pairs)
        for name, of, colour, dimension in (
            ("sine", np.sin, SINE, 2 * pair),
            ("cosine", np.cos, COSINE, 2 * pair + 1),
        ):
            hover = (
                f"position %{{x:.3~g}}, dimension {dimension} ({name}): <b>%{{y:.3f}}</b><br>"
                f"wavelength {positions(length[pair])}<extra></extra>"
            )
            shared = {"yaxis": axis, "legendgroup": name, "name": name, "hovertemplate": hover}
            line, dots = {"color": colour, "width": 2}, {"color": colour, "size": 7}
            curve = of(fine * turn[pair]).astype(np.float32)
            figure.add_scatter(x=fine, y=curve, mode="lines", line=line, showlegend=lane == 0, **shared)
            if len(tokens):
                points = of(tokens * turn[pair]).astype(np.float32)
                figure.add_scatter(x=tokens, y=points, mode="markers", marker=dots, showlegend=False, **shared)
        title = {"text": f"dimensions<br>{2 * pair}, {2 * pair + 1}", "standoff": 4, "font": {"size": 12}}
        drawn = {"domain": [tops[lane + 1], top], "range": [-1.15, 1.15], "tickvals": [-1, 0, 1], "title": title}
        figure.update_layout({f"yaxis{lane + 1}": drawn | {"zeroline": False, "fixedrange": True}})
        corner = {"x": 1, "xref": "paper", "xanchor": "right", "y": top, "yref": "paper", "yanchor": "bottom"}
        note(figure, f"wavelength {positions(length[pair])}", **corner)
    if marked:
        figure.add_shape(
            x0=-0.5, x1=min(marked, n) - 0.5, y0=0, y1=1, yref="paper", fillcolor=BAND, line_width=0, layer="below"
        )
    across = {"title": "position", "range": [-0.5, n - 0.5], "zeroline": False, "anchor": "free", "position": 0}
    return figure.update_layout(xaxis=across | ({"dtick": 1} if n <= 10 else {}))


def wavelength_figure(d_model: int, base: float, marked: int = 0) -> "go.Figure":
    """Wavelength of every pair of dimensions on a logarithmic axis, its two limits marked, and a sentence's length."""
    length = wavelengths(d_model, base)
    dimension = 2 * np.arange(len(length))
    figure = empty_figure(440)
    figure.add_scatter(
        x=dimension,
        y=length,
        mode="lines+markers",
        showlegend=False,
        line={"color": SINE},
        marker={"size": 6},
        customdata=dimension + 1,
        hovertemplate="dimensions %{x}, %{customdata}: a full turn every <b>%{y:,.1f}</b> positions<extra></extra>",
    )
    for value, text, side in (
        (2 * np.pi, "2π", "top"),
        (base * 2 * np.pi, f"{base:,.0f} · 2π, never quite reached", "bottom"),
    ):
        figure.add_hline(y=value, line={"color": NEUTRAL, "dash": "dash", "width": 1.5})
        note(figure, text, 13, x=0.04, xref="paper", xanchor="left", y=np.log10(value), yanchor=side)
    if marked > 1:
        figure.add_hrect(y0=1, y1=marked, fillcolor=BAND, line_width=0, layer="below")
        place = {"x": 1, "xref": "paper", "xanchor": "right", "y": np.log10(marked), "yanchor": "top"}
        note(figure, f"within your sentence, {marked} tokens", 13, **place)
    top = max(np.log10(base * 2 * np.pi), np.log10(max(marked, 1)), 1) + 0.35
    return figure.update_layout(
        xaxis={"title": "dimension", "range": [-0.02 * d_model - 1, 1.02 * d_model], "zeroline": False},
        yaxis={"title": "wavelength in positions", "type": "log", "range": [0.2, top], "dtick": 1, "tickformat": ",d"},
    )


def rotation_figure(position: int, k: int, d_model: int, base: float, pairs: Sequence[int]) -> "go.Figure":
    """For each pair of dimensions the unit circle with PE(position), and Mₖ's turn to PE(position + k)."""
    turn, length = frequencies(d_model, base), wavelengths(d_model, base)
    turns = [
        Turn(
            Arrow(position * turn[pair], f"PE({position})", SINE, "circle"),
            Arrow((position + k) * turn[pair], f"PE({position + k})", MOVED, "diamond"),
            f"dimensions {2 * pair}, {2 * pair + 1}<br>{k} · frequency = {as_angle(k * turn[pair])}"
            f"<br>wavelength {positions(length[pair])}",
        )
        for pair in pairs
    ]
    return turns_figure(turns, 350, MOVED)


def positions(length: float) -> str:
    """A wavelength with its unit."""
    return f"{length:,.1f} positions" if length < 1000 else f"{length:,.0f} positions"
