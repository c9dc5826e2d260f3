"""A matrix of cells with words at its sides as an SVG: where everything stands, the cells, the labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, UInt8

from transformer.analysis.attention import Kind
from transformer.export.about import About
from transformer.export.markup import isolated, shorten, tag, width
from transformer.export.svg import HEADING, MARGIN, hatch, label, runs, text_width
from transformer.export.svg_document import document, least_width
from transformer.export.svg_scale import LEGEND_WIDTH, MASKED, NAN, Scale, legend, legend_height, pixels

LARGEST_DRAWN = 2500  # cells; more are one image
_WIDEST, _LARGEST_CELL, _SMALLEST_CELL, _SMALLEST_STEP = 720.0, 34.0, 2.0, 11.0  # pixels
_TITLE = 7.4  # pixels a letter of an axis title


@dataclass(frozen=True)
class Layout:
    """The sides of a matrix, and where its cells stand."""

    rows: Sequence[str]
    columns: Sequence[str]
    titles: tuple[str, str]
    """Of the rows and of the columns."""
    cell: float
    font: float
    left: float
    top: float
    upright: bool
    """Whether the columns' labels are turned."""

    @classmethod
    def of(cls, rows: Sequence[str], columns: Sequence[str], titles: tuple[str, str]) -> "Layout":
        """Cells as large as fit, and room for the labels."""
        cell = float(np.clip(_WIDEST / max(len(rows), len(columns)), _SMALLEST_CELL, _LARGEST_CELL))
        font = float(np.clip(cell * 0.6, 9, 14))
        upright = text_width(columns, font) > cell - 4
        left = MARGIN + 22 + text_width(rows, font) + 8
        top = HEADING + MARGIN + 26 + (text_width(columns, font) if upright else font) + 8
        return cls(rows, columns, titles, cell, font, left, top, upright)

    @property
    def right(self) -> float:
        return self.left + self.cell * len(self.columns)

    @property
    def bottom(self) -> float:
        return self.top + self.cell * len(self.rows)

    @property
    def titles_end(self) -> float:
        """How far to the right the columns' title reaches."""
        return self.left + _TITLE * width(self.titles[1] + " →")


def matrix_svg(
    values: Float[np.ndarray, "row column"],
    mask: Bool[np.ndarray, "row column"],
    scale: Scale,
    layout: Layout,
    title: str,
    about: About,
    facts: Mapping[str, Any],
    kind: Kind = "cross",
    *,
    said: Callable[[float], str] = "{:.3f}".format,
    over: str = "",
    name: str = "matrix",
) -> str:
    """Numbers as a map with words at its sides and its scale; cells outside the mask are hatched.

    said: a number when its cell is pointed at. over: markup that lies on the cells. name: of what the picture refers
    to, its own in a page of several.
    """
    levels = scale.levels(values, mask)
    masked, broken = bool((levels == MASKED).any()), int((levels == NAN).sum())
    hatched, right = f"masked-{name}", layout.right + 24
    parts = [tag("defs", hatch(hatched)), masked_cells(layout, mask, hatched)] if masked else []
    parts += [cells(layout, levels, scale, values, said), over, axes(layout)]
    parts.append(legend(right, layout.top, f"scale-{name}", scale, hatched if masked else None, broken))
    size = (
        max(right + LEGEND_WIDTH, layout.titles_end + MARGIN, least_width(about, title)),
        max(layout.bottom, layout.top + legend_height(masked, broken)) + MARGIN,
    )
    return document(size, parts, title, about, facts, kind)


def cells(
    layout: Layout,
    levels: UInt8[np.ndarray, "row column"],
    scale: Scale,
    values: Float[np.ndarray, "row column"],
    said: Callable[[float], str],
) -> str:
    """A rectangle for each cell that is not masked, which says "row → column: 0.123" when pointed at.

    Past 2,500 cells they are one image. Written out, not by tag(): there are thousands.
    """
    if levels.size > LARGEST_DRAWN:
        size = layout.right - layout.left, layout.bottom - layout.top
        return pixels(levels, scale, layout.left, layout.top, size, class_="cells")
    rows, columns = ([isolated(shorten(text)) for text in side] for side in (layout.rows, layout.columns))
    cell = layout.cell
    size = f"{cell - (1 if cell > 12 else 0):.2f}"
    across, down = (
        [f"{start + cell * place:.2f}" for place in range(max(levels.shape))] for start in (layout.left, layout.top)
    )
    drawn = []
    for row, column in np.argwhere(levels != MASKED).tolist():
        value = float(values[row, column])
        number = said(value) if np.isfinite(value) else "not a number"
        drawn.append(
            f'<rect x="{across[column]}" y="{down[row]}" width="{size}" height="{size}" '
            f'fill="{scale.colours[levels[row, column]]}" data-cell="{row},{column}">'
            f"<title>{rows[row]} → {columns[column]}: {number}</title></rect>"
        )
    return tag("g", *drawn, class_="cells", shape_rendering="crispEdges")


def masked_cells(layout: Layout, mask: Bool[np.ndarray, "row column"], identifier: str) -> str:
    """One hatched rectangle for each run of masked keys."""
    drawn, cell = [], layout.cell
    for row, first, end in runs(~mask):
        place = {"x": layout.left + cell * first, "y": layout.top + cell * row}
        size = {"width": cell * (end - first), "height": cell}
        drawn.append(tag("rect", **place, **size, data_masked=f"{row},{first},{end}"))
    note = tag("title", "masked: the query may not attend here")
    return tag("g", note, *drawn, class_="masked", fill=f"url(#{identifier})", shape_rendering="crispEdges")


def axes(layout: Layout) -> str:
    """Labels of every row and column, or of every second or later one where they would touch, and what they are."""
    cell, font = layout.cell, layout.font
    step = max(1, int(np.ceil(_SMALLEST_STEP / cell)))
    parts = []
    for row in range(0, len(layout.rows), step):
        middle = layout.top + cell * (row + 0.5) + font * 0.35
        parts.append(label(layout.rows[row], layout.left - 6, middle, font, "end", data_query=row))
    for column in range(0, len(layout.columns), step):
        middle, text = layout.left + cell * (column + 0.5), layout.columns[column]
        if layout.upright:
            parts.append(label(text, middle + font * 0.35, layout.top - 6, font, upright=True, data_key=column))
        else:
            parts.append(label(text, middle, layout.top - 7, font, "middle", data_key=column))
    row_title, column_title = layout.titles
    if _TITLE * width(row_title) > layout.bottom - layout.top:
        row_title = row_title.split(":")[0]
    x, title = MARGIN + 10, {"font_size": 12, "font_weight": 600}
    turned = {"transform": f"rotate(-90 {x:.2f} {layout.top:.2f})", "text_anchor": "end"}
    parts.append(tag("text", f"← {row_title}", x=x, y=layout.top, **turned, **title))  # turned, the arrow points down
    parts.append(tag("text", f"{column_title} →", x=layout.left, y=HEADING + MARGIN + 10, **title))
    return tag("g", *parts, class_="axes")
