"""One head as an SVG heat map: queries down on the left, keys across on top."""

import numpy as np
from jaxtyping import Bool, UInt8

from transformer.analysis.about import About
from transformer.analysis.attention import Attention
from transformer.analysis.markup import isolated, shorten, tag, width
from transformer.analysis.palette import AXIS_TITLES, head_name
from transformer.analysis.svg import (
    COLOURS,
    HEADING,
    LEGEND_WIDTH,
    MARGIN,
    MASKED,
    NAN,
    check_drawable,
    check_index,
    document,
    hatch,
    label,
    least_width,
    legend,
    legend_height,
    levels,
    pixels,
    scale_top,
    text_width,
)

LARGEST_DRAWN = 2500  # cells; more are one image
_WIDEST, _LARGEST_CELL, _SMALLEST_CELL, _SMALLEST_STEP = 720.0, 34.0, 2.0, 11.0  # pixels
_TITLE = 7.4  # pixels a letter of an axis title


def head_svg(attention: Attention, layer: int, head: int, about: About) -> str:
    """One head (by index) as a heat map with its words, the scale of weights, and hatched masked cells.

    Pointing at a cell says "query → key: 0.123". Past 2,500 cells the map is one image inside the picture.
    Raises ValueError, in one sentence, when there is no such head or nothing to draw.
    """
    check_drawable(attention)
    check_index(attention, layer, [head])
    n_query, n_key = attention.mask.shape
    top = scale_top(attention)
    values = levels(attention, top)[layer, head]
    weights = attention.pattern[layer, head]
    cell = float(np.clip(_WIDEST / max(n_query, n_key), _SMALLEST_CELL, _LARGEST_CELL))
    font = float(np.clip(cell * 0.6, 9, 14))
    queries, keys = attention.queries.labels, attention.keys.labels
    upright = text_width(keys, font) > cell - 4
    left = MARGIN + 22 + text_width(queries, font) + 8
    upper = HEADING + MARGIN + 26 + (text_width(keys, font) if upright else font) + 8
    masked, broken = bool((values == MASKED).any()), int((values == NAN).sum())
    name = head_name(attention.layers[layer], attention.heads[head])
    identifier = f"{attention.kind}-{layer}-{head}"
    right = left + cell * n_key + 24
    parts = [tag("defs", hatch(f"masked-{identifier}"))] if masked else []
    if masked:
        parts.append(_masked(attention.mask, left, upper, cell, f"masked-{identifier}"))
    if n_query * n_key <= LARGEST_DRAWN:
        parts.append(_cells(attention, values, weights, left, upper, cell))
    else:
        parts.append(pixels(values, left, upper, (cell * n_key, cell * n_query), class_="cells"))
    parts.append(_axes(attention, left, upper, cell, font, upright))
    parts.append(legend(right, upper, f"scale-{identifier}", top, f"masked-{identifier}" if masked else None, broken))
    size = (
        max(
            right + LEGEND_WIDTH,
            left + _TITLE * width(AXIS_TITLES[attention.kind][1] + " →") + MARGIN,
            least_width(about, attention, name),
        ),
        max(upper + cell * n_query, upper + legend_height(masked, broken)) + MARGIN,
    )
    facts = about.facts(attention, (attention.layers[layer],), (attention.heads[head],))
    return document(size, parts, attention, about, name, facts)


def _cells(
    attention: Attention,
    values: UInt8[np.ndarray, "query key"],
    weights: np.ndarray,
    left: float,
    top: float,
    cell: float,
) -> str:
    """A rectangle for each cell that is not masked. Written out, not by tag(): there are thousands."""
    queries, keys = (
        [isolated(shorten(text, 22)) for text in side.labels] for side in (attention.queries, attention.keys)
    )
    size = f"{cell - (1 if cell > 12 else 0):.2f}"
    across, down = ([f"{start + cell * place:.2f}" for place in range(max(values.shape))] for start in (left, top))
    cells = []
    for row, column in np.argwhere(values != MASKED).tolist():
        weight = weights[row, column]
        said = f"{weight:.3f}" if np.isfinite(weight) else "not a number"
        cells.append(
            f'<rect x="{across[column]}" y="{down[row]}" width="{size}" height="{size}" '
            f'fill="{COLOURS[values[row, column]]}" data-cell="{row},{column}">'
            f"<title>{queries[row]} → {keys[column]}: {said}</title></rect>"
        )
    return tag("g", *cells, class_="cells", shape_rendering="crispEdges")


def _masked(mask: Bool[np.ndarray, "query key"], left: float, top: float, cell: float, identifier: str) -> str:
    """One rectangle for each run of masked keys."""
    runs = []
    for row, allowed in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate([[True], allowed, [True]])))
        for first, last in edges.reshape(-1, 2).tolist():
            place = {"x": left + cell * first, "y": top + cell * row, "width": cell * (last - first), "height": cell}
            runs.append(tag("rect", **place, data_masked=f"{row},{first},{last}"))
    note = tag("title", "masked: the query may not attend here")
    return tag("g", note, *runs, class_="masked", fill=f"url(#{identifier})", shape_rendering="crispEdges")


def _axes(attention: Attention, left: float, top: float, cell: float, font: float, upright: bool) -> str:
    """Labels of every query and key, or of every second or later one where they would touch, and what the axes are."""
    n_query, n_key = attention.mask.shape
    step = max(1, int(np.ceil(_SMALLEST_STEP / cell)))
    parts = []
    for row in range(0, n_query, step):
        middle = top + cell * (row + 0.5) + font * 0.35
        parts.append(label(attention.queries.labels[row], left - 6, middle, font, "end", data_query=row))
    for column in range(0, n_key, step):
        middle, text = left + cell * (column + 0.5), attention.keys.labels[column]
        if upright:
            parts.append(label(text, middle + font * 0.35, top - 6, font, upright=True, data_key=column))
        else:
            parts.append(label(text, middle, top - 7, font, "middle", data_key=column))
    query_title, key_title = AXIS_TITLES[attention.kind]
    if _TITLE * width(query_title) > cell * n_query:
        query_title = query_title.split(":")[0]
    x, title = MARGIN + 10, {"font_size": 12, "font_weight": 600}
    turned = {"transform": f"rotate(-90 {x:.2f} {top:.2f})", "text_anchor": "end"}
    parts.append(tag("text", f"← {query_title}", x=x, y=top, **turned, **title))  # turned, the arrow points down
    parts.append(tag("text", f"{key_title} →", x=left, y=HEADING + MARGIN + 10, **title))
    return tag("g", *parts, class_="axes")
