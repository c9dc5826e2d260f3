"""Figures of what positions do inside a model: parts of scores, divergence, distance, order. Pure, to Plotly."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from transformer.analysis.compare import LN_2
from transformer.analysis.distance import ByDistance
from ui.encoding_theme import ENCODING_COLOURS, NEUTRAL
from ui.figure_parts import BAR, GRIDLESS, domains, empty_figure, note
from ui.figures import escape, shorten
from ui.theme import DIFFERENCES, KIND_COLOURS, KIND_NAMES, WEIGHTS, colour_scale

if TYPE_CHECKING:
    import plotly.graph_objects as go

_BLUE = ENCODING_COLOURS["sinusoidal"]
# Grey is content alone; whatever a position has a part in is in colour, and hatched where content has one too.
PARTS = {
    "content · content": (NEUTRAL, ""),
    "content · position": (_BLUE, "/"),
    "position · content": (_BLUE, "\\"),
    "position · position": (_BLUE, ""),
    "rotation": (ENCODING_COLOURS["rope"], ""),
    "bias": (ENCODING_COLOURS["alibi"], ""),
}
_SUM = "sum: the score"
_DASHES = ("solid", "dash", "dot", "dashdot")
_SAME = 1e-5  # what rounding in float32 leaves


def shares_figure(shares: Mapping[str, np.ndarray]) -> "go.Figure":
    """A bar a head: which part of its scores' variation comes from which term. Parts below 0 work against the sum."""
    n_heads = len(next(iter(shares.values())))
    figure = empty_figure(120 + 44 * n_heads, barmode="relative", bargap=0.35)
    for name, values in shares.items():
        colour, hatch = PARTS[name]
        pattern = {"shape": hatch, "fillmode": "overlay", "fgcolor": "#ffffff", "size": 7, "solidity": 0.3}
        figure.add_bar(
            y=np.arange(n_heads),
            x=values,
            orientation="h",
            name=name,
            marker={"color": colour, "pattern": pattern},
            text=[f"{value:.0%}" if abs(value) > 0.08 and not hatch else "" for value in values],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": "#ffffff", "size": 13},
            hovertemplate=f"head %{{y}}, {name}: <b>%{{x:.1%}}</b><extra></extra>",
        )
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 1})
    heads = {"tickvals": list(range(n_heads)), "ticktext": [f"H{head}" for head in range(n_heads)]}
    return figure.update_layout(
        xaxis={"title": "share of the score's variation over keys", "tickformat": ".0%", "zeroline": False},
        yaxis=heads | {"autorange": "reversed"},
    )


def parts_figure(parts: Mapping[str, np.ndarray], head: int, mask: np.ndarray, labels: Sequence[str]) -> "go.Figure":
    """The terms of one head's scores and their sum, query down and key across, each row less its mean, on one scale.

    Four terms stand as (content + position) · (content + position) is multiplied out: the query's part down, the key's
    across.
    """
    maps = {name: _centred(part[head], mask) for name, part in parts.items()}
    maps[_SUM] = _centred(np.sum([part[head] for part in parts.values()], axis=0), mask)
    limit = max(float(np.nanmax(np.abs(values), initial=0)) for values in maps.values()) or 1.0
    n, square = len(labels), len(parts) == 4
    figure = empty_figure(500 if square else 340, margin={"l": 8, "r": 8, "t": 26, "b": 8})
    ticks = list(range(0, n, max(1, -(-n // (14 if square else 24)))))
    texts = {"tickvals": ticks, "ticktext": [escape(shorten(labels[at], 10)) for at in ticks], "tickfont": {"size": 11}}
    axis = GRIDLESS | texts | {"ticks": ""}
    for number, (name, values) in enumerate(maps.items(), start=1):
        x, y = _place(number, len(maps), square)
        last = number == len(maps)
        figure.add_heatmap(
            z=values.astype(np.float32),
            xaxis=f"x{number}",
            yaxis=f"y{number}",
            zmin=-limit,
            zmax=limit,
            hoverongaps=False,
            colorscale=colour_scale(DIFFERENCES),
            showscale=last,
            colorbar=BAR,
            text=_cell_texts(labels),
            hovertemplate=f"{name}<br>%{{text}}: <b>%{{z:.2f}}</b><extra></extra>",
        )
        across = {"domain": x, "anchor": f"y{number}", "tickangle": -90, "showticklabels": last or not square}
        down = {"domain": y, "anchor": f"x{number}", "showticklabels": x[0] == 0 or (last and square)}
        figure.update_layout(
            {
                f"xaxis{number}": axis | across | {"range": [-0.5, n - 0.5]},
                f"yaxis{number}": axis | down | {"range": [n - 0.5, -0.5]},
            }
        )
        above = {"x": sum(x) / 2, "xref": "paper", "xanchor": "center", "y": y[1], "yref": "paper", "yanchor": "bottom"}
        note(figure, name, 12, **above)
    return figure


def divergence_figure(divergences: Mapping[str, np.ndarray]) -> "go.Figure":
    """Layer × head for each kind: how far patterns move, in nats, when positions are taken away."""
    figure = empty_figure(110 + 62 * max(len(values) for values in divergences.values()))
    places = domains(len(divergences), 0.04)
    for number, ((kind, values), place) in enumerate(zip(divergences.items(), places, strict=True), start=1):
        layers, heads = values.shape
        figure.add_heatmap(
            z=values.astype(np.float32),
            xaxis=f"x{number}",
            yaxis=f"y{number}",
            zmin=0,
            zmax=LN_2,
            colorscale=colour_scale(WEIGHTS),
            showscale=number == len(divergences),
            xgap=2,
            ygap=2,
            texttemplate="%{z:.2f}" if heads <= 8 else None,
            colorbar=BAR | {"title": {"text": "nats", "side": "top"}},
            hovertemplate="L%{y}·H%{x}: <b>%{z:.3f} nats</b><extra></extra>",
        )
        axis = GRIDLESS | {"ticks": ""}
        across = {"domain": place, "anchor": f"y{number}", "title": "head", "tickvals": list(range(heads))}
        down = {"tickvals": list(range(layers)), "ticktext": [f"L{layer}" for layer in range(layers)]}
        figure.update_layout(
            {
                f"xaxis{number}": axis | across,
                f"yaxis{number}": axis | down | {"anchor": f"x{number}", "range": [layers - 0.5, -0.5]},
            }
        )
        where = {"x": sum(place) / 2, "xref": "paper", "xanchor": "center", "y": 1, "yref": "paper"}
        text = f'<span style="color: {KIND_COLOURS[kind]}">●</span> {KIND_NAMES[kind]}'
        note(figure, text, 14, **where, yanchor="bottom")
    return figure


def distance_figure(measured: ByDistance, layer: int) -> "go.Figure":
    """Mean weight over distance, a curve a head, with that of a head that attends evenly to all it may see."""
    figure = empty_figure(430)
    here = ~np.isnan(measured.even)
    distances = measured.distances[here]
    for head, weight in enumerate(measured.weight[layer]):
        figure.add_scatter(
            x=distances,
            y=weight[here],
            mode="lines+markers",
            name=f"H{head}",
            line={"width": 2.5, "dash": _DASHES[head % len(_DASHES)]},
            marker={"size": 6},
            customdata=measured.cells[here],
            hovertemplate="%{x:+d} tokens: <b>%{y:.3f}</b> over %{customdata:,} cells",
        )
    figure.add_scatter(
        x=distances,
        y=measured.even[here],
        mode="lines",
        name="evenly to all",
        line={"color": NEUTRAL, "dash": "dot"},
        hovertemplate="%{x:+d} tokens: %{y:.3f} if it attended evenly",
    )
    return figure.update_layout(
        xaxis={"title": "distance: key − query, in tokens", "tickformat": "+d"},
        yaxis={"title": "mean weight", "rangemode": "tozero", "zeroline": False},
    )


def order_figure(bare: np.ndarray, given: np.ndarray | None, labels: Sequence[str], encoding: str) -> "go.Figure":
    """How far each token's encoder output moves when the words change places, on a logarithmic axis.

    bare: without positions. given: with those of the model, None where it has none.
    """
    figure = empty_figure(320)
    for name, values, colour, symbol in (
        ("with positions", given, ENCODING_COLOURS[encoding], "circle"),
        ("without positions", bare, NEUTRAL, "diamond"),
    ):
        if values is not None:
            figure.add_scatter(
                x=np.arange(len(labels)),
                y=np.maximum(values, 1e-9),
                mode="markers",
                name=name,
                showlegend=True,
                marker={"size": 12, "symbol": symbol, "color": colour},
                hovertemplate="%{y:.1e}",
            )
    figure.add_hline(y=_SAME, line={"color": NEUTRAL, "dash": "dash", "width": 1})
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": np.log10(_SAME), "yanchor": "top"}
    note(figure, "below: the same but for rounding", **place)
    names = [escape(shorten(label, 12)) for label in labels]
    across = {"tickvals": list(range(len(labels))), "ticktext": names, "range": [-0.6, len(labels) - 0.4]}
    down = {"title": "‖difference‖ / ‖output‖", "type": "log", "range": [-9.2, 0.7]}
    return figure.update_layout(
        xaxis=across | {"zeroline": False}, yaxis=down | {"exponentformat": "power", "dtick": 2}
    )


def _place(number: int, n_maps: int, square: bool) -> tuple[list[float], list[float]]:
    """Where the map of that number stands, as shares of the figure's width and height."""
    if not square:
        return [(number - 1) / n_maps, number / n_maps - 0.02], [0, 1]
    if number == n_maps:
        return [0.66, 1], [0.2, 0.8]
    left, top = (number - 1) % 2, number <= 2
    return [0.27 * left, 0.27 * left + 0.255], [0.53, 1] if top else [0, 0.47]


def _cell_texts(labels: Sequence[str]) -> list[list[str]]:
    quoted = [f"'\u2068{escape(label)}\u2069'" for label in labels]
    return [[f"query {query}, key {key}" for key in quoted] for query in quoted]


def _centred(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Each row less its mean over the keys that it may see; the others are left out."""
    allowed = np.where(mask, scores, np.nan)
    return allowed - np.nanmean(allowed, axis=-1, keepdims=True)
