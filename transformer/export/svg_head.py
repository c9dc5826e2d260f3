"""One head as an SVG heat map: queries down on the left, keys across on top."""

from transformer.analysis.attention import Attention
from transformer.export.about import About
from transformer.export.markup import tag
from transformer.export.palette import AXIS_TITLES, head_name
from transformer.export.svg import MARGIN, check_drawable, check_index, hatch
from transformer.export.svg_document import document, kind_title, least_width
from transformer.export.svg_matrix import Layout, axes, cells, masked_cells
from transformer.export.svg_scale import LEGEND_WIDTH, MASKED, NAN, legend, legend_height, levels, weights_scale


def head_svg(attention: Attention, layer: int, head: int, about: About) -> str:
    """One head (by index) as a heat map with its words, the scale of weights, and hatched masked cells.

    Pointing at a cell says "query → key: 0.123". Past 2,500 cells the map is one image inside the picture.
    Raises ValueError, in one sentence, when there is no such head or nothing to draw.
    """
    check_drawable(attention)
    check_index(attention, layer, [head])
    scale = weights_scale(attention)
    values = levels(attention, scale)[layer, head]
    layout = Layout.of(attention.queries.labels, attention.keys.labels, AXIS_TITLES[attention.kind])
    masked, broken = bool((values == MASKED).any()), int((values == NAN).sum())
    identifier = f"{attention.kind}-{layer}-{head}"
    hatched = f"masked-{identifier}" if masked else None
    right = layout.right + 24
    parts = [tag("defs", hatch(hatched)), masked_cells(layout, attention.mask, hatched)] if hatched else []
    parts.append(cells(layout, values, scale, attention.pattern[layer, head]))
    parts.append(axes(layout))
    parts.append(legend(right, layout.top, f"scale-{identifier}", scale, hatched, broken))
    names = attention.layers[layer], attention.heads[head]
    title = kind_title(attention.kind, head_name(*names))
    size = (
        max(right + LEGEND_WIDTH, layout.titles_end + MARGIN, least_width(about, title)),
        max(layout.bottom, layout.top + legend_height(masked, broken)) + MARGIN,
    )
    return document(size, parts, title, about, about.facts(attention, names[:1], names[1:]), attention.kind)
