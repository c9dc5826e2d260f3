"""Curves of training runs as ECharts options: plain dictionaries, made from lines of metrics.jsonl.

ECharts draws text as text, so names need no escaping. An update costs the browser less than half of what Plotly takes.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transformer.export.palette import HEAD_COLOURS

if TYPE_CHECKING:
    import numpy as np

MOST_POINTS = 600
"""Of one curve that go to the browser."""

Points = list[tuple[int, float | None]]
Lines = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Curve:
    """One line of a chart."""

    name: str
    colour: str
    points: Points
    dashed: bool = False
    faint: bool = False
    """What a smoothed curve was made from."""
    dots: bool = False


def points_of(lines: Lines, field: str, change: Callable[[float], float] = lambda value: value) -> Points:
    """Step and value of each line that has the field; None for a value that is no finite number, as a gap."""
    found: Points = []
    for line in lines:
        if field in line:
            value = line[field]
            number = isinstance(value, int | float) and math.isfinite(value)
            found.append((line["step"], change(float(value)) if number else None))
    return found


def perplexity(nll: float) -> float:
    """e to the loss in nats, no more than a float holds."""
    return math.exp(min(nll, 700.0))


def smooth(points: Points, share: float) -> Points:
    """Each value mixed with those before it, which keep this share: an exponential mean without a pull to the start.

    m ← share · m + (1 − share) · value, divided by 1 − shareⁿ after n values. Gaps stay gaps.
    """
    if not share:
        return list(points)
    mean, weight, found = 0.0, 0.0, []
    for step, value in points:
        if value is None:
            found.append((step, None))
            continue
        mean = share * mean + (1 - share) * value
        weight = share * weight + (1 - share)
        found.append((step, mean / weight))
    return found


def thin(points: Points, most: int = MOST_POINTS) -> Points:
    """At most so many points, of each stretch its lowest and its highest: no spike is lost. First and last stay."""
    if len(points) <= most:
        return list(points)
    kept = {0, len(points) - 1}
    n_stretches = (most - 2) // 2
    for number in range(n_stretches):
        first, end = (len(points) * at // n_stretches for at in (number, number + 1))
        values = [(value, at) for at in range(first, end) if (value := points[at][1]) is not None]
        if values:
            kept |= {min(values)[1], max(values)[1]}
        else:
            kept.add(first)
    return [points[at] for at in sorted(kept)]


def curves_chart(title: str, unit: str, curves: Iterable[Curve], *, log: bool = False) -> dict[str, Any]:
    """An ECharts option with all curves over steps, without a legend: the page says whose colour is which."""
    return {
        "animation": False,
        "title": {"text": title, "left": 0, "top": 6, "textStyle": {"fontSize": 14}},
        "legend": {"show": False},
        "grid": {"left": 4, "right": 14, "top": 62, "bottom": 24, "containLabel": True},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.4g"},
        "xAxis": {
            "type": "value", "name": "step", "nameLocation": "middle", "nameGap": 26, "min": 0, "max": "dataMax",
            "minInterval": 1, "splitLine": {"show": False}, "axisPointer": {"label": {"precision": 0}},
        },
        "yAxis": {
            "type": "log" if log else "value", "scale": True, "name": unit, "nameLocation": "end",
            "nameTextStyle": {"align": "left"}, "nameGap": 10,
        },
        "series": [_series(curve) for curve in curves if curve.points],
    }  # fmt: skip


def entropy_chart(steps: Sequence[int], entropies: "np.ndarray") -> dict[str, Any]:
    """Relative entropy (step, layer, head) over steps: a line a head, a colour a layer."""
    _, n_layers, n_heads = entropies.shape
    option = curves_chart("Entropy of every head", "of the largest possible", ())
    series = []
    for layer in range(n_layers):
        for head in range(n_heads):
            values = entropies[:, layer, head].tolist()
            points = [
                (step, value if math.isfinite(value) else None) for step, value in zip(steps, values, strict=True)
            ]
            curve = Curve(f"L{layer}·H{head}", HEAD_COLOURS[layer % len(HEAD_COLOURS)], points, dots=True)
            series.append(_series(curve) | {"symbolSize": 4, "emphasis": {"focus": "series"}})
    option["series"] = series
    option["tooltip"] = {"trigger": "item", "valueFormatter": "%.3f"}
    names = [each["name"] for each in series]
    option["legend"] = {"show": True, "data": names, "type": "scroll", "left": "35%", "right": 0, "top": 6}
    option["yAxis"] = option["yAxis"] | {"min": 0, "max": 1}
    return option


def _series(curve: Curve) -> dict[str, Any]:
    alone = len(curve.points) == 1
    return {
        "type": "line",
        "name": f"{curve.name}, not smoothed" if curve.faint else curve.name,
        "data": [list(point) for point in thin(curve.points)],
        "symbol": "circle" if curve.dots or alone else "none",
        "symbolSize": 6,
        "color": curve.colour,
        "lineStyle": {
            "width": 1 if curve.faint else 2,
            "opacity": 0.35 if curve.faint else 1,
            "type": "dashed" if curve.dashed else "solid",
        },
        "silent": curve.faint,
        "tooltip": {"show": not curve.faint},
    }
