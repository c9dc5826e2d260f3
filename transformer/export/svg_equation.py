"""One head as Equation 1 in one SVG: its matrices in the order in which they are made, and one cell's arithmetic."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from transformer.export.about import About
from transformer.export.equation import COLUMNS, ROWS, Cell, Matrix, arithmetic, made_of, matrices, where
from transformer.export.head_files import head_facts
from transformer.export.markup import escape_sentence, tag, width
from transformer.export.palette import KIND_COLOURS
from transformer.export.svg import HEADING, LETTER, MARGIN, hatch, label, runs, text_width, wrapped
from transformer.export.svg_document import document, kind_title, least_width
from transformer.export.svg_scale import MASKED, Scale, differences_scale, pixels

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

_TALLEST, _LARGEST_CELL, _SMALLEST_CELL, _WIDEST_CELL = 420.0, 18.0, 2.0, 10.0  # pixels
_GAP, _SMALLEST_STEP, _LINE, _WIDEST_LINE = 26.0, 10.0, 19.0, 150


def equation_svg(parts: "HeadParts", cell: Cell, about: About) -> str:
    """Q, K, scores, mask, softmax, V and z from left to right, the chosen cell framed; below, how it comes about.

    Queries and keys go down, keys and dimensions go across. Weights are shown from 0 to 1, other numbers around 0, each
    matrix to its own largest; masked cells are hatched.
    """
    values = matrices(parts)
    n_rows = max(len(parts.queries), len(parts.keys))
    high = float(np.clip(_TALLEST / n_rows, _SMALLEST_CELL, _LARGEST_CELL))
    font = float(np.clip(high * 0.75, 8, 12))
    top = HEADING + MARGIN + 44
    hatched = f"masked-{parts.kind}-equation"
    x, drawn = MARGIN, [tag("defs", hatch(hatched))]
    for name, matrix in values.items():
        across = _cell_width(name, high, matrix.shape[1])
        labels = (parts.queries if ROWS[name] == "query" else parts.keys).labels
        left = x + text_width(labels, font) + 6
        size = across * matrix.shape[1], high * matrix.shape[0]
        drawn.append(_matrix(parts, name, matrix, (left, top), size, hatched))
        drawn.append(_labels(labels, left - 4, top, high, font))
        if name == cell.matrix:
            drawn.append(_frame(parts, cell, (left, top), (across, high)))
        x = max(left + size[0], left + 12 * LETTER * width(_under(parts, name, matrix))) + _GAP
    bottom = top + high * n_rows + 26
    made = arithmetic(parts, cell)
    lines = [
        f"{where(parts, cell)}:",
        *(f"{made.name if place == 0 else ' ' * 2} = {line}" for place, line in enumerate(made.lines)),
    ]
    steps, notes = ([part for line in each for part in wrapped(line, _WIDEST_LINE)] for each in (lines, made.notes))
    texts, n_strong = [*steps, *notes], len(steps)
    for place, text in enumerate(texts):
        strong = {"font_weight": 650} if place in (0, n_strong - 1) else {}
        pale = {"opacity": 0.8} if place >= n_strong else {}
        y = bottom + _LINE * place + 14
        drawn.append(tag("text", escape_sentence(text), x=MARGIN, y=y, font_size=12.5, **strong, **pale))
    title = kind_title(parts.kind, f"{parts.name} as Equation 1")
    widest = max(12.5 * LETTER * width(text) for text in texts) + 2 * MARGIN
    size = max(x - _GAP + MARGIN, widest, least_width(about, title)), bottom + _LINE * len(texts) + MARGIN
    facts = head_facts(parts, about) | {"cell": [cell.matrix, cell.row, cell.column]}
    return document(size, drawn, title, about, facts, parts.kind)


def _cell_width(name: Matrix, high: float, n_columns: int) -> float:
    """Square where keys go across; narrower where dimensions do, of which there are many."""
    if COLUMNS[name] == "key":
        return high
    return float(np.clip(160 / n_columns, 1.5, min(high, _WIDEST_CELL)))


def _matrix(
    parts: "HeadParts",
    name: Matrix,
    values: np.ndarray,
    corner: tuple[float, float],
    size: tuple[float, float],
    hatched: str,
) -> str:
    left, top = corner
    colour, box = KIND_COLOURS[parts.kind], {"x": left, "y": top, "width": size[0], "height": size[1]}
    columns = "keys →" if COLUMNS[name] == "key" else "dimensions →"
    drawn = [
        tag("title", f"{name}: {values.shape[0]} rows, {values.shape[1]} columns"),
        tag("text", name, x=left, y=top - 30, font_size=15, font_weight=650, fill=colour),
        tag("text", _under(parts, name, values), x=left, y=top - 15, font_size=12, opacity=0.8),
        tag("text", columns, x=left, y=top - 3, font_size=10, opacity=0.8),
    ]
    scale, allowed = _scale(name, values), np.ones(values.shape, bool)
    if name in ("mask", "softmax"):
        drawn.append(tag("rect", **box, fill=f"url(#{hatched})", class_="masked"))
        allowed = parts.mask
    if name == "mask":
        levels = np.zeros(values.shape, np.uint8)
        may = [tag("rect", **_run(run, corner, size, values.shape), fill="#ffffff") for run in runs(parts.mask)]
        drawn.append(tag("g", *may, class_="allowed"))
    else:
        levels = scale.levels(values, allowed)
    if (levels != MASKED).any():
        drawn.append(pixels(levels, scale, left, top, size))
    drawn.append(tag("rect", **box, fill="none", stroke="currentColor", stroke_opacity=0.4))
    return tag("g", *drawn, data_matrix=name)


def _scale(name: Matrix, values: np.ndarray) -> Scale:
    return Scale(0, 1.0) if name in ("mask", "softmax") else differences_scale(values, name)


def _under(parts: "HeadParts", name: Matrix, values: np.ndarray) -> str:
    """What the matrix is made of, and how far its colours reach."""
    if name in ("mask", "softmax"):
        return made_of(parts)[name]
    return f"{made_of(parts)[name]}, ±{_scale(name, values).high:.3g}"


def _run(
    run: tuple[int, int, int], corner: tuple[float, float], size: tuple[float, float], shape: tuple[int, ...]
) -> dict[str, float]:
    row, first, last = run
    across, high = size[0] / shape[1], size[1] / shape[0]
    place = {"x": corner[0] + across * first, "y": corner[1] + high * row}
    return {**place, "width": across * (last - first), "height": high}


def _labels(labels: Sequence[str], right: float, top: float, high: float, font: float) -> str:
    step = max(1, int(np.ceil(_SMALLEST_STEP / high)))
    places = range(0, len(labels), step)
    return tag("g", *(label(labels[at], right, top + high * (at + 0.5) + font * 0.35, font, "end") for at in places))


def _frame(parts: "HeadParts", cell: Cell, corner: tuple[float, float], size: tuple[float, float]) -> str:
    place = {"x": corner[0] + size[0] * cell.column, "y": corner[1] + size[1] * cell.row}
    box = {**place, "width": size[0], "height": size[1], "fill": "none"}
    outer = tag("rect", **box, stroke="#ffffff", stroke_width=4)
    return outer + tag("rect", **box, stroke="#111111", stroke_width=2, data_cell=f"{cell.row},{cell.column}")
