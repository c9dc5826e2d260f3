"""Figures of tables of positions, sinusoidal or learned: pure functions from numbers to Plotly.

Like the figures of heads they know nothing of a page.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from transformer.analysis.encodings import Components, Profile
from transformer.analysis.shift_map import ShiftMap
from ui.encoding_theme import DASHES, ENCODING_COLOURS, ENCODING_NAMES, NEUTRAL
from ui.figure_parts import BAR, GRIDLESS, empty_figure, note
from ui.table_figures import CELLS, drawn_every
from ui.theme import DIFFERENCES, WEIGHTS, colour_scale, to_rgb

if TYPE_CHECKING:
    import plotly.graph_objects as go

_VISIBLE = 1e-3
"""Of similarity: less than this within one distance is no range that can be seen."""


def similarity_figure(matrix: np.ndarray, title: str = "", *, height: int = 400) -> "go.Figure":
    """PE · PEᵀ, square, position down and across; 1 is the mean squared length of a row."""
    n = len(matrix)
    step = max(1, int(np.ceil(n / CELLS**0.5)))
    places = np.arange(0, n, step)
    figure = empty_figure(height, title)
    figure.add_heatmap(
        z=matrix[::step, ::step].astype(np.float32),
        x=places,
        y=places,
        zmid=0,
        zmin=-1,
        zmax=1,
        colorscale=colour_scale(DIFFERENCES),
        colorbar=BAR,
        hovertemplate="positions %{y} and %{x}: <b>%{z:.3f}</b><extra></extra>",
    )
    axis = GRIDLESS | {"title": "position", "constrain": "domain"} | ({"dtick": 1} if n <= 5 else {})
    return figure.update_layout(
        xaxis=axis | {"range": [-0.5, n - 0.5], "constraintoward": "right"},
        yaxis=axis | {"range": [n - 0.5, -0.5], "scaleanchor": "x"},
    )


def profile_figure(profiles: Mapping[str, Profile], *, height: int = 400) -> "go.Figure":
    """Similarity over distance, a line an encoding, in a band from the lowest to the highest pair at each distance."""
    figure, lowest, highest, varies = empty_figure(height), -0.3, 1.1, False
    for encoding, profile in profiles.items():
        colour, distance = ENCODING_COLOURS[encoding], np.arange(len(profile.mean))
        red, green, blue = to_rgb(colour)
        figure.add_scatter(
            x=np.concatenate([distance, distance[::-1]]),
            y=np.concatenate([profile.highest, profile.lowest[::-1]]),
            fill="toself",
            fillcolor=f"rgba({red}, {green}, {blue}, 0.2)",
            mode="none",
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=distance,
            y=profile.mean,
            mode="lines" if len(distance) > 1 else "markers",
            name=ENCODING_NAMES[encoding],
            line={"color": colour, "width": 2.5, "dash": DASHES[encoding]},
            customdata=np.stack([profile.lowest, profile.highest], axis=1),
            hovertemplate="distance %{x}: <b>%{y:.3f}</b> (%{customdata[0]:.3f} to %{customdata[1]:.3f})",
        )
        lowest = min(lowest, float(profile.lowest.min(initial=0)))
        highest = max(highest, float(profile.highest.max(initial=0)))
        varies |= profile.spread > _VISIBLE
    title = "similarity, mean and range" if varies else "similarity"
    return figure.update_layout(
        xaxis={"title": "distance between two positions", "zeroline": False},
        yaxis={"title": title, "range": [lowest - 0.05, highest + 0.05]},
    )


def spectrum_figure(frequency: np.ndarray, amplitude: np.ndarray, title: str = "", *, height: int = 420) -> "go.Figure":
    """The Fourier transform over position: dimensions across, frequencies up, brightness the amplitude.

    Where there are too many frequencies to send, some neighbours are drawn as one, by the largest of them.
    """
    step = drawn_every(*amplitude.shape) if amplitude.size else 1
    if step > 1:
        frequency = frequency[::step]
        amplitude = np.maximum.reduceat(amplitude, np.arange(0, len(amplitude), step), axis=0)
    figure = empty_figure(height, title)
    figure.add_heatmap(
        z=amplitude.astype(np.float32),
        y=frequency,
        zmin=0,
        colorscale=colour_scale(WEIGHTS),
        colorbar=BAR | {"title": {"text": "amplitude", "side": "top"}},
        hovertemplate="dimension %{x}, %{y:.3f} turns a position: amplitude <b>%{z:.3f}</b><extra></extra>",
    )
    half = 0.25 / max(len(frequency), 1)
    return figure.update_layout(
        xaxis=GRIDLESS | {"title": "dimension"},
        yaxis=GRIDLESS | {"title": "turns a position", "range": [0, 0.5 + half]},
    )


def components_figure(components: Components, encoding: str, title: str = "", *, height: int = 420) -> "go.Figure":
    """Positions in the plane of their first two principal components, joined in their order, brighter later."""
    points, share = components.coordinates, components.share
    n = len(points)
    flat = points.shape[1] < 2
    named = {0, n - 1} | set(range(0, n, max(1, n // 6)))
    figure = empty_figure(height, title)
    figure.add_scatter(
        x=points[:, 0],
        y=np.zeros(n) if flat else points[:, 1],
        mode="lines+markers+text",
        showlegend=False,
        line={"color": ENCODING_COLOURS[encoding], "width": 1.5},
        marker={"color": np.arange(n), "colorscale": colour_scale(WEIGHTS), "size": 9, "line": {"width": 1}},
        text=[str(place) if place in named else "" for place in range(n)],
        textposition="top center",
        customdata=np.arange(n),
        hovertemplate="position %{customdata}<extra></extra>",
    )
    second = 0.0 if flat else share[1]
    return figure.update_layout(
        xaxis={"title": f"first component, {share[0]:.0%} of the variance", "zeroline": False},
        yaxis={"title": f"second component, {second:.0%}", "zeroline": False, "scaleanchor": "x"},
    )


def shift_figure(fits: Mapping[str, Sequence[ShiftMap]]) -> "go.Figure":
    """Residual of the best linear map on positions held out, over k; dotted, what leaving the row as it is leaves."""
    figure = empty_figure(420)
    furthest = max((fit.identity for found in fits.values() for fit in found), default=0.0)
    # The maps are what is asked about; how far off the identity goes would press them flat.
    top = max([1.9, *(1.06 * fit.held_out for found in fits.values() for fit in found)])
    for encoding, found in fits.items():
        for name, values, dash in (
            ("best linear map", [fit.held_out for fit in found], "solid"),
            ("identity", [fit.identity for fit in found], "dot"),
        ):
            figure.add_scatter(
                x=[fit.k for fit in found],
                y=values,
                mode="lines+markers",
                name=f"{ENCODING_NAMES[encoding]}, {name}",
                line={"color": ENCODING_COLOURS[encoding], "dash": dash, "width": 3 if dash == "solid" else 2},
                marker={"size": 9 if dash == "solid" else 6},
                customdata=[[fit.n_fitted, fit.n_held_out, fit.fitted] for fit in found],
                hovertemplate="k = %{x}: <b>%{y:.3f}</b> on %{customdata[1]} pairs held out"
                "<br>(%{customdata[0]} pairs fitted, residual there %{customdata[2]:.3f})",
            )
    figure.add_hline(y=1, line={"color": NEUTRAL, "dash": "dash", "width": 1})
    note(figure, "as far off as the mean row", x=0, xref="paper", y=1, xanchor="left", yanchor="bottom")
    if furthest > top:
        corner = {"x": 1, "xref": "paper", "xanchor": "right", "y": 1, "yref": "paper", "yanchor": "top"}
        note(figure, f"identity goes on, up to {furthest:.1f}", **corner)
    return figure.update_layout(
        xaxis={"title": "k: positions moved", "dtick": 1, "zeroline": False},
        yaxis={"title": "residual, share of the variance", "range": [-0.05, top], "zeroline": False},
    )
