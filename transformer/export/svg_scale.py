"""Which number has which colour: a scale, cells of that colour as an image, and the legend beside them."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, UInt8

from transformer.analysis.attention import Attention
from transformer.export.markup import tag
from transformer.export.palette import DIFFERENCES, NOT_A_NUMBER, WEIGHTS, lookup_table, to_rgb
from transformer.export.png import data_address, indexed_png

MASKED, LOWEST, HIGHEST, NAN = 0, 1, 254, 255
"""Levels, one byte a cell; numbers are those from LOWEST to HIGHEST."""
LEGEND_WIDTH = 96.0  # pixels


@dataclass(frozen=True)
class Scale:
    """Numbers from low to high as colours from the first stop to the last; others take the nearest end."""

    low: float
    high: float
    unit: str = "weight"
    """What the numbers are, or are counted in."""
    stops: tuple[str, ...] = WEIGHTS

    def levels(self, values: Float[np.ndarray, "*cells"], allowed: Bool[np.ndarray, "..."]) -> UInt8[np.ndarray, "..."]:
        """Every number as the byte of its colour; MASKED where it is not allowed, NAN where it is no number."""
        known = np.nan_to_num(values, nan=self.low, posinf=self.high, neginf=self.low)
        shares = np.clip((known - self.low) / (self.high - self.low), 0, 1)
        numbered = np.where(np.isfinite(values), np.rint(shares * (HIGHEST - LOWEST)) + LOWEST, NAN)
        return np.where(allowed, numbered, MASKED).astype(np.uint8)

    @cached_property
    def palette(self) -> UInt8[np.ndarray, "256 4"]:
        """Red, green, blue and opacity of each level; masked cells are clear, and let what is beneath them through."""
        colours = np.zeros((256, 4), np.uint8)
        colours[LOWEST : HIGHEST + 1, :3] = lookup_table(self.stops, HIGHEST - LOWEST + 1)
        colours[NAN, :3] = to_rgb(NOT_A_NUMBER)
        colours[LOWEST:, 3] = 255
        return colours

    @cached_property
    def colours(self) -> tuple[str, ...]:
        """The same as "#rrggbb"."""
        return tuple("#" + bytes(colour[:3].tolist()).hex() for colour in self.palette)


def weights_scale(attention: Attention) -> Scale:
    """From 0 to 1, or to just beyond the largest weight of a view whose weights are larger."""
    allowed = attention.pattern[..., attention.mask]
    largest = float(np.max(allowed, initial=0, where=np.isfinite(allowed)))
    if largest <= 1.001:
        return Scale(0, 1.0)
    unit = 10 ** (math.floor(math.log10(largest)) - 1)
    return Scale(0, math.ceil(largest / unit) * unit)


def differences_scale(values: np.ndarray, unit: str) -> Scale:
    """Around 0, as far to both sides as the numbers go."""
    end = max(float(np.abs(values).max(initial=0, where=np.isfinite(values))), 1e-6)
    return Scale(-end, end, unit, DIFFERENCES)


def levels(attention: Attention, scale: Scale) -> UInt8[np.ndarray, "layer head query key"]:
    """Every weight as the byte of its colour."""
    return scale.levels(attention.pattern, attention.mask)


def pixels(
    values: UInt8[np.ndarray, "row column"],
    scale: Scale,
    x: float,
    y: float,
    size: tuple[float, float],
    **attributes: str,
) -> str:
    """Cells, by their levels, as one image, each a pixel that is drawn as large as its cell."""
    return tag(
        "image",
        x=float(x),
        y=float(y),
        width=float(size[0]),
        height=float(size[1]),
        href=data_address(indexed_png(values, scale.palette)),
        preserveAspectRatio="none",
        image_rendering="optimizeSpeed",
        style="image-rendering:pixelated",
        **attributes,
    )


def legend(x: float, y: float, identifier: str, scale: Scale, masked: str | None, broken: int) -> str:
    """The scale, and below it, where there are any, masked cells (hatched with `masked`) and NaN."""
    stops = (
        tag("stop", offset=place / (len(scale.stops) - 1), stop_color=colour)
        for place, colour in enumerate(reversed(scale.stops))
    )
    parts = [
        tag("linearGradient", *stops, id=identifier, x1=0, y1=0, x2=0, y2=1),
        tag("text", scale.unit, x=float(x), y=y + 10, font_size=12),
        tag("rect", x=float(x), y=y + 18, width=12, height=100, fill=f"url(#{identifier})"),
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        number = f"{scale.low + share * (scale.high - scale.low):.4g}"
        parts.append(tag("text", number.replace("-", "−"), x=x + 18, y=y + 122 - 100 * share, font_size=11))
    notes = [(f"url(#{masked})", "masked")] if masked else []
    notes += [(NOT_A_NUMBER, "not a number")] if broken else []
    for row, (fill, note) in enumerate(notes):
        parts.append(tag("rect", x=float(x), y=y + 134 + 20 * row, width=12, height=12, fill=fill))
        parts.append(tag("text", note, x=x + 18, y=y + 144 + 20 * row, font_size=11))
    return tag("g", *parts, class_="legend")


def legend_height(masked: bool, broken: int) -> float:
    return 126.0 + 20 * (masked + (broken > 0))
