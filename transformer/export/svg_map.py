"""Target against source as an SVG map: weights, or the differences that something makes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from transformer.export.about import About
from transformer.export.markup import tag
from transformer.export.numbers import number
from transformer.export.svg_matrix import Layout, matrix_svg
from transformer.export.svg_scale import Scale, differences_scale


@dataclass(frozen=True)
class Map:
    """What one map shows. Rows are target tokens, columns source tokens."""

    values: Float[np.ndarray, "target source"]
    """Rows of NaN are left empty."""
    rows: Sequence[str]
    columns: Sequence[str]
    row_title: str
    column_title: str
    said: str
    """What a value is, for hovering: "weight"."""
    differences: bool = False
    """Diverging colours around 0, in nats, for values that are not weights."""
    marked: Collection[tuple[int, int]] = ()
    """Cells (row, column) with a frame."""
    current: int | None = None
    """Row with a frame."""


def map_svg(shown: Map, title: str, about: About, facts: Mapping[str, Any]) -> str:
    """The map with its words, its scale and its frames. Raises ValueError, in one sentence, where it has no cell."""
    n_rows, n_columns = shown.values.shape
    if not n_rows or not n_columns:
        raise ValueError(f"There is nothing to draw: the map has {n_rows} rows and {n_columns} columns.")
    scale = differences_scale(shown.values, "nats") if shown.differences else Scale(0, 1.0)
    layout = Layout.of(shown.rows, shown.columns, (shown.row_title, shown.column_title))
    return matrix_svg(
        shown.values, np.ones(shown.values.shape, bool), scale, layout, title, about, facts,
        said=lambda value: f"{shown.said} {number(value, 3)}", over=_frames(shown, layout),
    )  # fmt: skip


def _frames(shown: Map, layout: Layout) -> str:
    """A light line inside a dark one, which every colour of both palettes shows."""
    cell, inset = layout.cell, layout.cell * 0.12
    side = max(cell - 2 * inset - (1 if cell > 12 else 0), 1.0)
    frames = []
    for row, column in sorted(shown.marked):
        place = {"x": layout.left + cell * column + inset, "y": layout.top + cell * row + inset}
        box = {**place, "width": side, "height": side}
        frames.append(tag("rect", **box, stroke="#111111", stroke_width=3, data_frame=f"{row},{column}"))
        frames.append(tag("rect", **box, stroke="#ffffff", stroke_width=1.5))
    return tag("g", *frames, class_="frames", fill="none") if frames else ""
