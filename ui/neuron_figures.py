"""What one query and one key say to each other, dimension by dimension, and what softmax makes of the query's row."""

from typing import TYPE_CHECKING, Any

import numpy as np

from transformer.export.equation import divided_by
from transformer.export.markup import shorten
from transformer.export.numbers import exact
from transformer.export.svg_neurons import LOWERS, RAISES, kept_keys
from ui.encoding_theme import NEUTRAL
from ui.figure_parts import BAND, GRIDLESS, empty_figure, note
from ui.figures import escape
from ui.theme import DIFFERENCES, KIND_COLOURS, WEIGHTS, colour_scale

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from transformer.analysis.head_parts import HeadParts

_STRIPE, _BETWEEN, _SUM, _ROW = 26, 8, 190, 20  # pixels
_TOP, _BOTTOM, _LEFT = 26, 46, 104


def pair_figure(parts: "HeadParts", query: int, key: int, width: int = 640) -> "go.Figure":
    """q, k and q∘k as stripes over the dimensions; below them q∘k/√d_k, each bar beginning where the last one ended.

    The last bar is the score, where the sum has arrived; a bias of the positions has a bar of its own before it.
    """
    q, k = parts.q[query].astype(np.float64), parts.k[key].astype(np.float64)
    product = q * k
    height = _TOP + 3 * (_STRIPE + _BETWEEN) + _SUM + _BOTTOM
    figure = empty_figure(
        height,
        width=width,
        margin={"l": _LEFT, "r": 12, "t": _TOP, "b": _BOTTOM, "autoexpand": False},
        showlegend=False,
    )
    pixels = height - _TOP - _BOTTOM
    both, largest = max(_largest(q), _largest(k)), _largest(product)
    for row, (name, values, limit) in enumerate((("q", q, both), ("k", k, both), ("q∘k", product, largest)), start=1):
        above = 1 - (row - 1) * (_STRIPE + _BETWEEN) / pixels
        figure.add_heatmap(
            z=values[None].astype(np.float32), xaxis="x", yaxis=f"y{row}", zmin=-limit, zmax=limit, showscale=False,
            colorscale=colour_scale(DIFFERENCES),
            hovertemplate=f"{name}, dimension %{{x}}: <b>%{{z:.3f}}</b><extra></extra>",
        )  # fmt: skip
        axis = {"domain": [above - _STRIPE / pixels, above], "anchor": "x", "tickvals": [0], "ticktext": [name]}
        figure.update_layout({f"yaxis{row}": GRIDLESS | axis | {"ticks": "", "tickfont": {"size": 14}}})
    _running_sum(figure, parts, product * parts.scale, query, key)
    figure.update_layout(
        yaxis4={"domain": [0, _SUM / pixels], "anchor": "x", "zeroline": False, "tickfont": {"size": 11}}
    )
    return figure


def _running_sum(figure: "go.Figure", parts: "HeadParts", steps: np.ndarray, query: int, key: int) -> None:
    n, wide = len(steps), max(1.0, len(steps) / 16)
    terms, names, places, widths = steps.tolist(), [f"dimension {d}" for d in range(n)], list(range(n)), [1.0] * n
    ticks = {d: str(d) for d in range(0, n, max(1, n // 8))}
    at = n + wide
    if parts.bias is not None:
        terms.append(float(parts.bias[query, key]))
        names.append("bias of positions")
        places, widths, ticks = [*places, at], [*widths, wide], ticks | {at: "bias"}
        at += 1.5 * wide
    ends = np.cumsum(terms)
    starts = np.concatenate([[0], ends[:-1]])
    figure.add_bar(
        x=places, y=terms, base=starts, width=widths, xaxis="x", yaxis="y4",
        marker={"color": [RAISES if term >= 0 else LOWERS for term in terms], "line": {"width": 0}},
        customdata=np.stack([np.array(names, object), [exact(end) for end in ends]], axis=1),
        hovertemplate="%{customdata[0]}: <b>%{y:.3f}</b><br>sum so far %{customdata[1]}<extra></extra>",
    )  # fmt: skip
    score, ticks = float(ends[-1]), ticks | {at: "score"}
    figure.add_bar(
        x=[at], y=[score], width=[wide], xaxis="x", yaxis="y4", marker={"color": KIND_COLOURS[parts.kind]},
        hovertemplate="score: <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    line = {"type": "line", "xref": "x", "yref": "y4", "line": {"color": NEUTRAL, "width": 1}}
    figure.add_shape(line | {"x0": -0.5, "x1": at + wide, "y0": 0, "y1": 0})
    figure.add_shape(
        line | {"x0": places[-1] + widths[-1] / 2, "x1": at + wide / 2, "y0": score, "y1": score, "line_dash": "dot"}
    )
    note(figure, f"<b>{exact(score)}</b>", 13, x=at, y=score, yref="y4", yanchor="bottom" if score >= 0 else "top")
    by = divided_by(parts)
    what = "running<br>sum of<br>q∘k" + (f" / {by}" if by else "")
    note(
        figure, what, 12, x=0, xref="paper", xanchor="right", xshift=-44,
        y=_SUM / 2 / (_SUM + 3 * (_STRIPE + _BETWEEN)), yref="paper", align="right",
    )  # fmt: skip
    lowest, highest = min(0, float(ends.min())), max(0, float(ends.max()))
    room = 0.12 * (highest - lowest or 1)
    figure.update_layout(
        xaxis=GRIDLESS
        | {
            "range": [-0.6, at + wide], "tickvals": list(ticks), "ticktext": [*ticks.values()], "anchor": "y4",
            "title": {"text": "dimension of the head", "standoff": 6}, "tickfont": {"size": 11}, "ticks": "",
        },
        yaxis4={"range": [lowest - room, highest + room]},
        bargap=0,
    )  # fmt: skip


def _largest(values: np.ndarray) -> float:
    """The largest size among numbers, 1 where there is none but 0."""
    return float(np.abs(values).max(initial=0, where=np.isfinite(values))) or 1.0


def row_figure(parts: "HeadParts", query: int, key: int, width: int = 640) -> "go.Figure":
    """The query against every key: q∘k/√d_k by dimension, the scores before softmax, the weights after it.

    Keys go down. A masked key has a score, drawn pale, and no weight.
    """
    kept = kept_keys(parts, query, key)
    allowed = parts.mask[query, kept]
    q, k = parts.q[query].astype(np.float64), parts.k[kept].astype(np.float64)
    terms, scores, weights = q * k * parts.scale, parts.scores[query, kept], parts.pattern[query, kept]
    by = divided_by(parts)
    height = _TOP + 16 + _ROW * len(kept) + 40
    figure = empty_figure(
        height, width=width, margin={"l": _LEFT, "r": 12, "t": _TOP + 16, "b": 40, "autoexpand": False},
        showlegend=False, barmode="relative", bargap=0.25,
    )  # fmt: skip
    limit = _largest(terms)
    labels = [escape(shorten(parts.keys.labels[at], 11)) for at in kept]
    hover = [f"key {at} '\u2068{escape(shorten(parts.keys.labels[at]))}\u2069'" for at in kept]
    place = np.arange(len(kept))
    figure.add_heatmap(
        z=terms.astype(np.float32), xaxis="x", yaxis="y", zmin=-limit, zmax=limit, showscale=False, ygap=2,
        colorscale=colour_scale(DIFFERENCES), customdata=np.repeat(np.array(hover, object)[:, None], len(q), axis=1),
        hovertemplate="%{customdata}, dimension %{x}: <b>%{z:.3f}</b><extra></extra>",
    )  # fmt: skip
    bias = None if parts.bias is None else parts.bias[query, kept].astype(np.float64)
    for name, values in (("", scores if bias is None else scores - bias), ("bias: ", bias)):
        if values is not None:
            figure.add_bar(
                x=values, y=place, orientation="h", xaxis="x2", yaxis="y", customdata=hover,
                marker=_bars(values, allowed, bias=bool(name)),
                hovertemplate=f"{name}%{{customdata}}: <b>%{{x:.3f}}</b><extra></extra>",
            )  # fmt: skip
    if bias is not None:
        figure.add_scatter(
            x=scores, y=place, mode="markers", xaxis="x2", yaxis="y", customdata=hover,
            marker={"symbol": "line-ns", "size": 13, "line": {"width": 3, "color": KIND_COLOURS[parts.kind]}},
            hovertemplate="score, %{customdata}: <b>%{x:.3f}</b><extra></extra>",
        )  # fmt: skip
    figure.add_bar(
        x=np.where(allowed, weights, 0), y=place, orientation="h", xaxis="x3", yaxis="y", customdata=hover,
        marker={
            "color": weights, "cmin": 0, "cmax": 1, "colorscale": colour_scale(WEIGHTS),
            "line": {"color": NEUTRAL, "width": 1},
        },
        hovertemplate="weight, %{customdata}: <b>%{x:.3f}</b><extra></extra>",
    )  # fmt: skip
    for at in np.flatnonzero(~allowed):
        note(figure, "masked", 11, x=0, xref="x3", xanchor="left", xshift=4, y=int(at), yref="y")
    at = int(np.flatnonzero(kept == key)[0])
    band = {"type": "rect", "xref": "paper", "yref": "y", "line": {"width": 0}, "fillcolor": BAND, "layer": "below"}
    figure.add_shape(band | {"x0": 0, "x1": 1, "y0": at - 0.5, "y1": at + 0.5})
    texts = [f"<b>{label}</b>" if place == at else label for place, label in enumerate(labels)]
    heads = (
        f"q∘k{f' / {by}' if by else ''} by dimension",
        "score" + (" with bias" if bias is not None else ""),
        "softmax",
    )
    domains = ([0, 0.4], [0.44, 0.72], [0.76, 1.0])
    for title, (left, right) in zip(heads, domains, strict=True):
        middle = {"x": (left + right) / 2, "xref": "paper", "xanchor": "center"}
        note(figure, title, 13, y=1, yref="paper", yanchor="bottom", yshift=4, **middle)
    axes = ({}, {"zeroline": True, "zerolinecolor": NEUTRAL}, {"range": [0, 1.02], "tickvals": [0, 0.5, 1]})
    for index, (domain, axis) in enumerate(zip(domains, axes, strict=True), start=1):
        base: dict[str, Any] = {"domain": domain, "anchor": "y", "tickfont": {"size": 11}, "ticks": ""}
        figure.update_layout({f"xaxis{index}": GRIDLESS | base | axis})
    return figure.update_layout(
        yaxis=GRIDLESS
        | {
            "range": [len(kept) - 0.5, -0.5], "tickvals": place.tolist(), "ticktext": texts, "ticks": "",
            "tickfont": {"size": 12},
        }
    )  # fmt: skip


def _bars(values: np.ndarray, allowed: np.ndarray, *, bias: bool) -> dict[str, Any]:
    colours = [RAISES if value >= 0 else LOWERS for value in values]
    hatch = {"shape": "/" if bias else "", "fillmode": "overlay", "fgcolor": "#ffffff", "size": 6, "solidity": 0.3}
    return {"color": colours, "opacity": np.where(allowed, 1.0, 0.35).tolist(), "pattern": hatch}


def describe_pair(parts: "HeadParts", query: int, key: int) -> str:
    """The pair in words, for those who do not see the picture."""
    product = parts.q[query].astype(np.float64) * parts.k[key] * parts.scale
    most = int(np.abs(product).argmax())
    return (
        f"q, k and their product over {parts.d_k} dimensions, summing to the score {parts.scores[query, key]:.3f}. "
        f"Dimension {most} contributes most: {product[most]:.3f}."
    )


def describe_row(parts: "HeadParts", query: int) -> str:
    """The row in words."""
    at = int(parts.pattern[query].argmax())
    return (
        f"Scores and weights of {len(parts.keys)} keys for query {parts.queries.labels[query]}. The largest weight is "
        f"{parts.pattern[query, at]:.3f}, for key {parts.keys.labels[at]}."
    )
