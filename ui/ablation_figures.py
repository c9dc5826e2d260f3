"""Figures of our own ablations: differences from the base beside the paper's, curves, cost, and tasks of a minute."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transformer.ablations.results import MinuteResult, Result
from transformer.ablations.variants import GROUPS
from transformer.ablations.verdicts import Comparison, Metric
from ui.encoding_theme import ENCODING_COLOURS, NEUTRAL
from ui.figure_parts import BAND, domains, empty_figure, log_axis, note
from ui.figures import escape

if TYPE_CHECKING:
    import plotly.graph_objects as go

OURS, PAPERS = ENCODING_COLOURS["sinusoidal"], NEUTRAL
SERIES = (*ENCODING_COLOURS.values(), NEUTRAL)
"""Lines of one plot, in order: colours that are far apart for every eye."""
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_TITLES = {
    "perplexity": "← better    Δ perplexity    worse →",
    "bleu": "← worse    Δ BLEU    better →",
}
_ROW = 24
_FAR = 8
"""Margins from which a difference lies off the scale, so that the others can be told apart."""


def dot_figure(sides: Mapping[Metric, Sequence[Comparison]]) -> "go.Figure":
    """Every variant a row: our difference from what it is measured against, and the paper's, for each metric.

    The grey band is what another seed may make; what lies inside says nothing. A variant that diverged, or lies far
    off, stands at the edge, as an arrow.
    """
    names = [one.name for one in next(iter(sides.values()))]
    figure = empty_figure(
        90 + _ROW * len(names), margin={"l": 8, "r": 8, "t": 44, "b": 48}, hovermode="closest", barmode="overlay"
    )
    rows = list(range(len(names)))
    for number, ((metric, found), place) in enumerate(zip(sides.items(), domains(len(sides), 0.04), strict=True), 1):
        axes = {"xaxis": f"x{number}", "yaxis": "y"}
        limit = _limit(found)
        margins = [one.margin or 0.0 for one in found]
        figure.add_bar(
            base=[-margin for margin in margins], x=[2 * margin for margin in margins], y=rows, orientation="h",
            width=1, marker={"color": BAND, "line": {"width": 0}}, hoverinfo="skip", showlegend=False, **axes,
        )  # fmt: skip
        figure.add_scatter(
            x=[one.paper_delta for one in found], y=rows, mode="markers", name="the paper’s, at its own size",
            marker={"symbol": "diamond-open", "size": 10, "color": PAPERS, "line": {"width": 2}},
            showlegend=number == 1, legendgroup="paper", text=names,
            hovertemplate="%{text}: the paper’s %{x:+.2f}<extra></extra>", **axes,
        )  # fmt: skip
        figure.add_scatter(
            x=[max(-limit, min(limit, one.delta)) for one in found], y=rows, mode="markers+text", name="ours",
            marker={
                "size": 10, "color": OURS, "opacity": [1.0 if one.distinguishable else 0.45 for one in found],
                "symbol": [_symbol(one.delta, limit) for one in found],
            },
            showlegend=number == 1, legendgroup="ours", text=[_beyond(one, limit) for one in found],
            textposition=["middle left" if one.delta > 0 else "middle right" for one in found],
            hovertext=[_told(one) for one in found], hovertemplate="%{hovertext}<extra></extra>", **axes,
        )  # fmt: skip
        figure.update_layout(
            {
                f"xaxis{number}": {
                    "domain": place, "title": _TITLES[metric], "zeroline": True, "zerolinewidth": 1,
                    "range": [-1.08 * limit, 1.08 * limit], "anchor": "y",
                }
            }
        )  # fmt: skip
    figure.update_yaxes(
        tickvals=rows, ticktext=names, range=[len(names) - 0.5, -0.5], showgrid=True, zeroline=False, automargin=True
    )
    return figure


def _limit(found: Sequence[Comparison]) -> float:
    """A little beyond every margin and every difference, ours or the paper's, that is not many margins large."""
    margins = [one.margin for one in found if one.margin is not None]
    sizes = [abs(delta) for one in found for delta in (one.delta, one.paper_delta) if delta is not None]
    near = max(margins, default=math.inf) * _FAR
    return 1.05 * max([*margins, *(size for size in sizes if math.isfinite(size) and size <= near), 0.1])


def _symbol(delta: float, limit: float) -> str:
    if abs(delta) <= limit:
        return "circle"
    return "triangle-right" if delta > 0 else "triangle-left"


def _beyond(one: Comparison, limit: float) -> str:
    """Beside an arrow at the edge: how far beyond it the variant lies."""
    if abs(one.delta) <= limit:
        return ""
    return "diverged" if one.ours is None else f"{one.delta:+,.0f}".replace("-", "−")


def _told(one: Comparison) -> str:
    if one.ours is None:
        return f"{one.name}: diverged"
    digits = 2 if one.metric == "perplexity" else 1
    within = "" if one.distinguishable else "; within what another seed may make"
    return f"{one.name}: {one.ours:,.{digits}f}, {one.delta:+,.{digits}f} against {one.against}{within}"


@dataclass(frozen=True)
class Curve:
    """What a model's training logged."""

    steps: Sequence[int]
    losses: Sequence[float]
    """Nats a token."""
    diverged_at: int | None = None
    """The step before which its loss became no number."""
    training: bool = False
    """Whether it is the training loss, and not that of the validation split."""


def curve_figure(curves: Mapping[str, Curve]) -> "go.Figure":
    """Loss over steps, a line a model; the scale is logarithmic, for the end is what matters. What diverged ends in a
    cross."""
    figure = empty_figure(380, hovermode="x unified")
    for number, (name, curve) in enumerate(curves.items()):
        colour = SERIES[number % 6]
        said = name if curve.diverged_at is None else f"{name}: diverged before step {curve.diverged_at:,}"
        figure.add_scatter(
            x=list(curve.steps), y=list(curve.losses), mode="lines", name=escape(said), hovertemplate="%{y:.3f}",
            line={"color": colour, "dash": _DASHES[(number // 6 + number) % 6], "width": 2}, legendgroup=name,
        )  # fmt: skip
        if curve.diverged_at is not None:
            figure.add_scatter(
                x=[curve.steps[-1]], y=[curve.losses[-1]], mode="markers", showlegend=False, legendgroup=name,
                marker={"symbol": "x", "size": 12, "color": colour}, hoverinfo="skip",
            )  # fmt: skip
    return figure.update_layout(
        xaxis={"title": "optimizer steps"},
        yaxis=log_axis("validation loss, nats a token (log)", (1, 1.5, 2, 3, 4, 5, 6, 8)),
    )


def cost_figure(results: Sequence[Result], by: str) -> "go.Figure":
    """Perplexity of every model that has learned over its parameters, or its speed; a colour a row of the table.

    by: parameters or tokens_per_second.
    """
    figure = empty_figure(400, hovermode="closest", margin={"l": 8, "r": 8, "t": 56, "b": 8})
    for number, group in enumerate(GROUPS):
        own = [one for one in results if one.group == group and one.learned]
        own = [one for one in own if getattr(one, by) is not None]
        if own:
            figure.add_scatter(
                x=[getattr(one, by) for one in own], y=[one.perplexity for one in own], mode="markers", name=group,
                text=[f"{one.name}, seed {one.seed}" for one in own],
                hovertemplate="%{text}: %{x:,.0f}, perplexity %{y:.2f}<extra></extra>",
                marker={"size": 10, "color": SERIES[number % 6], "symbol": ("circle", "diamond")[number // 6]},
            )  # fmt: skip
    titles = {"parameters": "parameters (log)", "tokens_per_second": "target tokens a second while training"}
    return figure.update_layout(
        xaxis={"title": titles[by], "type": "log" if by == "parameters" else "linear", "zeroline": False},
        yaxis=log_axis("perplexity (log)", (1, 1.5, 2, 3, 5, 7)),
    )


def distance_figure(results: Sequence[MinuteResult], names: Mapping[str, str]) -> "go.Figure":
    """Share of letters recalled over their distance from the end, a line a model, bars from worst to best seed."""
    figure = empty_figure(400, hovermode="x unified")
    for number, name in enumerate(dict.fromkeys(one.name for one in results)):
        own = [one for one in results if one.name == name and one.generated is not None]
        distances = sorted({one.distance for one in own if one.distance is not None})
        seeds = [[one.generated or 0.0 for one in own if one.distance == far] for far in distances]
        means = [sum(values) / len(values) for values in seeds]
        bars = {
            "type": "data", "symmetric": False, "thickness": 1.5, "width": 4,
            "array": [max(values) - mean for values, mean in zip(seeds, means, strict=True)],
            "arrayminus": [mean - min(values) for values, mean in zip(seeds, means, strict=True)],
        }  # fmt: skip
        figure.add_scatter(
            x=distances, y=means, mode="lines+markers", name=names.get(name, name), error_y=bars,
            line={"color": SERIES[number % 6], "dash": _DASHES[number % 6], "width": 2.5}, marker={"size": 8},
            hovertemplate="%{y:.0%}",
        )  # fmt: skip
    figure.add_hline(y=0.1, line={"color": NEUTRAL, "width": 1, "dash": "dot"})
    note(figure, "by chance", x=0, xref="paper", xanchor="left", y=0.1, yanchor="bottom")
    return figure.update_layout(
        xaxis={"title": "places from the end at which the letter stands", "tickvals": list(range(5, 51, 5))},
        yaxis={"title": "share right", "tickformat": ".0%", "range": [-0.03, 1.08], "zeroline": False},
    )
