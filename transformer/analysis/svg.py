"""What all SVG pictures are made of: the document, labels, the scale of weights, masked cells.

Pure text from numbers: no browser, no plotting library. Pictures are drawn for white paper; inside a page, CSS may
clear `.paper` and set `color`, and text and axes follow.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import UInt8

from transformer.analysis.about import About
from transformer.analysis.attention import Attention
from transformer.analysis.markup import escape, escaped_json, right_to_left, shorten, tag, visible, width
from transformer.analysis.palette import KIND_COLOURS, KIND_NAMES, NOT_A_NUMBER, WEIGHTS, lookup_table, to_rgb
from transformer.analysis.png import data_address, indexed_png

INK = "#14171b"
NAMESPACE = "http://www.w3.org/2000/svg"
MASKED, LOWEST, HIGHEST, NAN = 0, 1, 254, 255  # one byte a cell; weights are the bytes from LOWEST to HIGHEST
LONGEST_LABEL = 22  # in widths of a small Latin letter
MARGIN, HEADING = 16.0, 52.0  # all lengths in pixels
LEGEND_WIDTH = 96.0
_FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif"
_LETTER = 0.58  # of the font's size


def _palette() -> UInt8[np.ndarray, "256 4"]:
    colours = np.zeros((256, 4), np.uint8)
    colours[LOWEST : HIGHEST + 1, :3] = lookup_table(WEIGHTS, HIGHEST - LOWEST + 1)
    colours[NAN, :3] = to_rgb(NOT_A_NUMBER)
    colours[LOWEST:, 3] = 255
    return colours


PALETTE = _palette()
"""Colour of each byte; masked cells are clear, and let the hatch beneath them through."""
COLOURS = tuple("#" + bytes(colour[:3].tolist()).hex() for colour in PALETTE)


def scale_top(attention: Attention) -> float:
    """The weight of the brightest colour: 1, but for a view whose weights are larger."""
    allowed = attention.pattern[..., attention.mask]
    largest = float(np.max(allowed, initial=0, where=np.isfinite(allowed)))
    if largest <= 1.001:
        return 1.0
    unit = 10 ** (math.floor(math.log10(largest)) - 1)
    return math.ceil(largest / unit) * unit


def levels(attention: Attention, top: float) -> UInt8[np.ndarray, "layer head query key"]:
    """Every weight as the number of its colour."""
    known = np.nan_to_num(attention.pattern, nan=0.0, posinf=top, neginf=0.0)
    weights = np.rint(np.clip(known / top, 0, 1) * (HIGHEST - LOWEST)) + LOWEST
    numbered = np.where(np.isfinite(attention.pattern), weights, NAN)
    return np.where(attention.mask, numbered, MASKED).astype(np.uint8)


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


def document(
    size: tuple[float, float], body: Sequence[str], attention: Attention, about: About, name: str, facts: dict[str, Any]
) -> str:
    """The whole picture with its heading and what it says of itself; name is such as "L0·H3"."""
    title = f"{KIND_NAMES[attention.kind]}, {name}"
    longest = (size[0] - 2 * MARGIN) / 12 / _LETTER
    sentence = shorten(about.sentence, 200)
    paper = tag("rect", class_="paper", width=size[0], height=size[1], fill="#ffffff")
    dot = tag("circle", cx=MARGIN + 5, cy=MARGIN + 7, r=5, fill=KIND_COLOURS[attention.kind])
    heading = tag("text", escape(title), x=MARGIN + 18, y=MARGIN + 12, font_size=15, font_weight=600)
    line = tag("text", escape(shorten(about.line, longest)), x=MARGIN, y=MARGIN + 31, font_size=12, opacity=0.75)
    return tag(
        "svg",
        tag("title", escape(title)),
        tag("desc", escape(f"{title}, of {about.line}, for the sentence: {sentence}")),
        tag("metadata", escaped_json(facts)),
        paper,
        dot,
        heading,
        line,
        *body,
        xmlns=NAMESPACE,
        width=math.ceil(size[0]),
        height=math.ceil(size[1]),
        viewBox=f"0 0 {math.ceil(size[0])} {math.ceil(size[1])}",
        role="img",
        font_family=_FONT,
        color=INK,
        fill="currentColor",
    )


def least_width(about: About, attention: Attention, name: str) -> float:
    """What the heading needs."""
    title = 15 * _LETTER * width(f"{KIND_NAMES[attention.kind]}, {name}") + 18
    return 2 * MARGIN + max(title, min(12 * _LETTER * width(about.line), 420))


def text_width(labels: Sequence[str], font_size: float) -> float:
    """The widest of the labels, as label() draws them."""
    return max((width(shorten(label, LONGEST_LABEL)) for label in labels), default=0) * font_size * _LETTER


def label(
    text: str, x: float, y: float, font_size: float, anchor: str = "start", upright: bool = False, **attributes: Any
) -> str:
    """A token's label beginning, centred or ending at (x, y), or turned upright there, read from below.

    One that had to be shortened is said whole when pointed at. A right-to-left label is laid out as its script is.
    """
    shown = shorten(text, LONGEST_LABEL)
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


def pixels(
    values: UInt8[np.ndarray, "query key"], x: float, y: float, size: tuple[float, float], **attributes: str
) -> str:
    """Cells as one image, each a pixel that is drawn as large as its cell."""
    return tag(
        "image",
        x=float(x),
        y=float(y),
        width=float(size[0]),
        height=float(size[1]),
        href=data_address(indexed_png(values, PALETTE)),
        preserveAspectRatio="none",
        image_rendering="optimizeSpeed",
        style="image-rendering:pixelated",
        **attributes,
    )


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


def legend(x: float, y: float, identifier: str, top: float, masked: str | None, broken: int) -> str:
    """The scale of weights, and below it, where there are any, masked cells (hatched with `masked`) and NaN."""
    stops = (
        tag("stop", offset=place / (len(WEIGHTS) - 1), stop_color=colour)
        for place, colour in enumerate(reversed(WEIGHTS))
    )
    parts = [
        tag("linearGradient", *stops, id=identifier, x1=0, y1=0, x2=0, y2=1),
        tag("text", "weight", x=float(x), y=y + 10, font_size=12),
        tag("rect", x=float(x), y=y + 18, width=12, height=100, fill=f"url(#{identifier})"),
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        number = f"{share * top:.4g}"
        parts.append(tag("text", number, x=x + 18, y=y + 122 - 100 * share, font_size=11))
    notes = [(f"url(#{masked})", "masked")] if masked else []
    notes += [(NOT_A_NUMBER, "not a number")] if broken else []
    for row, (fill, note) in enumerate(notes):
        parts.append(tag("rect", x=float(x), y=y + 134 + 20 * row, width=12, height=12, fill=fill))
        parts.append(tag("text", note, x=x + 18, y=y + 144 + 20 * row, font_size=11))
    return tag("g", *parts, class_="legend")


def legend_height(masked: bool, broken: int) -> float:
    return 126.0 + 20 * (masked + (broken > 0))
