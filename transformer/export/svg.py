"""What all SVG pictures are made of: labels, masked cells, and what is said where there is nothing to draw.

Pure text from numbers: no browser, no plotting library. svg_scale.py has colours, svg_document.py the whole file.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from transformer.analysis.attention import Attention
from transformer.export.markup import escape, right_to_left, shorten, tag, visible, width

MARGIN, HEADING = 16.0, 52.0  # all lengths in pixels
LETTER = 0.58  # width of a small Latin letter, of the font's size


def check_drawable(attention: Attention) -> None:
    """Raises ValueError, in one sentence, where there is no cell to draw."""
    if 0 in attention.pattern.shape:
        n_layers, n_heads, n_query, n_key = attention.pattern.shape
        raise ValueError(
            f"There is nothing to draw of {attention.kind}: it has {n_layers} layers, {n_heads} heads, "
            f"{n_query} queries and {n_key} keys; allowed is one or more of each."
        )


def check_index(attention: Attention, layer: int, heads: Sequence[int]) -> None:
    """Raises ValueError, in one sentence, for a layer or head that is not there. Both count from 0."""
    n_layers, n_heads = attention.pattern.shape[:2]
    if not 0 <= layer < n_layers:
        raise ValueError(f"There is no layer {layer}; {attention.kind} has layers 0 to {n_layers - 1}.")
    for head in heads:
        if not 0 <= head < n_heads:
            raise ValueError(f"There is no head {head}; a layer has heads 0 to {n_heads - 1}.")


def text_width(labels: Sequence[str], font_size: float) -> float:
    """The widest of the labels, as label() draws them."""
    return max((width(shorten(label)) for label in labels), default=0) * font_size * LETTER


def wrapped(text: str, widest: float) -> list[str]:
    """Lines of at most so many small Latin letters, broken at spaces; a word that is wider is cut."""
    lines, current = [], ""
    for word in text.split(" "):
        longer = f"{current} {word}" if current else word
        if current and width(longer) > widest:
            lines.append(current)
            longer = word
        current = shorten(longer, widest) if width(longer) > widest else longer
    return [*lines, current]


def label(
    text: str, x: float, y: float, font_size: float, anchor: str = "start", upright: bool = False, **attributes: Any
) -> str:
    """A token's label beginning, centred or ending at (x, y), or turned upright there, read from below.

    One that had to be shortened is said whole when pointed at. A right-to-left label is laid out as its script is.
    """
    shown = shorten(text)
    whole = () if shown == visible(text) else (tag("title", escape(shorten(text, 400))),)
    direction = None
    if right_to_left(shown):
        direction, anchor = "rtl", {"start": "end", "end": "start"}.get(anchor, anchor)
    return tag(
        "text",
        *whole,
        escape(shown),
        x=float(x),
        y=float(y),
        font_size=float(font_size),
        text_anchor=None if anchor == "start" else anchor,
        direction=direction,
        transform=f"rotate(-90 {x:.2f} {y:.2f})" if upright else None,
        **attributes,
    )


def runs(cells: Bool[np.ndarray, "row column"]) -> list[tuple[int, int, int]]:
    """Row, first and past the last column of each stretch of cells that are True."""
    found = []
    for row, chosen in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]])))
        found += [(row, first, end) for first, end in edges.reshape(-1, 2).tolist()]
    return found


def hatch(identifier: str) -> str:
    """The pattern of masked cells, for fill="url(#identifier)": neutral on light and dark."""
    return tag(
        "pattern",
        tag("rect", width=6, height=6, fill="#808080", fill_opacity=0.14),
        tag("line", x1=0, y1=0, x2=0, y2=6, stroke="#808080", stroke_width=2, stroke_opacity=0.55),
        id=identifier,
        patternUnits="userSpaceOnUse",
        width=6,
        height=6,
        patternTransform="rotate(45)",
    )
