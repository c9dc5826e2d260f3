"""All heads of one kind as one SVG: layers down, heads across, each a small map."""

import numpy as np
from jaxtyping import UInt8

from transformer.analysis.attention import Attention
from transformer.export.about import About
from transformer.export.markup import tag
from transformer.export.palette import head_name
from transformer.export.svg import HEADING, MARGIN, check_drawable, hatch, label
from transformer.export.svg_document import document, kind_title, least_width
from transformer.export.svg_scale import (
    LEGEND_WIDTH,
    MASKED,
    NAN,
    Scale,
    legend,
    legend_height,
    levels,
    pixels,
    weights_scale,
)

_MOST_PIXELS = 64  # a side of a small map
_WIDTH, _LARGEST, _SMALLEST, _GAP = 860.0, 112.0, 40.0, 8.0  # pixels


def grid_svg(attention: Attention, about: About) -> str:
    """Every head as a small map, queries down and keys across, with the scale of weights and hatched masked cells.

    Past 64 tokens a side, a pixel holds the largest weight of several tokens, and the picture says of how many.
    Raises ValueError, in one sentence, when there is nothing to draw.
    """
    check_drawable(attention)
    n_layers, n_heads, n_query, n_key = attention.pattern.shape
    scale = weights_scale(attention)
    values = levels(attention, scale)
    masked, broken = bool((values == MASKED).any()), int((values == NAN).sum())
    small, step = pool(values, _MOST_PIXELS)
    across = float(np.clip(_WIDTH / n_heads - _GAP, _SMALLEST, _LARGEST))
    size = across, across * float(np.clip(n_query / n_key, 0.5, 2))
    left, upper = MARGIN + 44, HEADING + MARGIN + 48
    identifier = f"{attention.kind}-grid"
    parts = [tag("defs", hatch(f"masked-{identifier}"))] if masked else []
    parts += [
        _row(attention, small, scale, layer, (left, upper), size, identifier if masked else "")
        for layer in range(n_layers)
    ]
    for head in range(n_heads):
        text = attention.heads[head]
        middle = left + (across + _GAP) * head + across / 2
        parts.append(label(f"H{text}" if text.isdigit() else text, middle, upper - 7, 12, "middle"))
    parts.append(tag("text", _how_to_read(step), x=MARGIN, y=HEADING + MARGIN + 8, font_size=12))
    right, bottom = left + (across + _GAP) * n_heads + 12, upper + (size[1] + _GAP) * n_layers
    parts.append(legend(right, upper, f"scale-{identifier}", scale, f"masked-{identifier}" if masked else None, broken))
    title = kind_title(attention.kind, "all heads")
    whole = (
        max(right + LEGEND_WIDTH, least_width(about, title), 470.0),
        max(bottom, upper + legend_height(masked, broken)) + MARGIN,
    )
    return document(whole, parts, title, about, about.facts(attention), attention.kind)


def pool(
    values: UInt8[np.ndarray, "layer head query key"], most: int
) -> tuple[UInt8[np.ndarray, "layer head row column"], tuple[int, int]]:
    """At most `most` rows and columns of colours, and how many tokens one of them stands for each way.

    By maximum, because a mean would hide the single bright cell that one looks for: masked only where all are, not a
    number where any is.
    """
    n_query, n_key = values.shape[2:]
    step = -(-n_query // most), -(-n_key // most)
    rows, columns = range(0, n_query, step[0]), range(0, n_key, step[1])
    return np.maximum.reduceat(np.maximum.reduceat(values, rows, axis=2), columns, axis=3), step


def _row(
    attention: Attention,
    small: np.ndarray,
    scale: Scale,
    layer: int,
    corner: tuple[float, float],
    size: tuple[float, float],
    hatched: str,
) -> str:
    left, y = corner[0], corner[1] + (size[1] + _GAP) * layer
    name = attention.layers[layer]
    parts = [label(f"L{name}", left - 8, y + size[1] / 2 + 4, 12, "end")]
    for head, values in enumerate(small[layer]):
        x = left + (size[0] + _GAP) * head
        place = {"x": x, "y": y, "width": size[0], "height": size[1]}
        inside = [tag("title", head_name(name, attention.heads[head]))]
        if hatched:
            inside.append(tag("rect", **place, fill=f"url(#masked-{hatched})", class_="masked"))
        inside.append(pixels(values, scale, x, y, size))
        parts.append(tag("g", *inside, data_head=f"{layer},{head}"))
    return tag("g", *parts)


def _how_to_read(step: tuple[int, int]) -> str:
    text = "Layers down, heads across. In each map: query ↓ (row), key → (column)."
    if step == (1, 1):
        return text
    return f"{text} A pixel is the largest weight of {step[0]} × {step[1]} tokens."
