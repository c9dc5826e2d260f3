"""One head as an SVG heat map: queries down on the left, keys across on top."""

from transformer.analysis.attention import Attention
from transformer.export.about import About
from transformer.export.palette import AXIS_TITLES, head_name
from transformer.export.svg import check_drawable, check_index
from transformer.export.svg_document import kind_title
from transformer.export.svg_matrix import Layout, matrix_svg
from transformer.export.svg_scale import weights_scale


def head_svg(attention: Attention, layer: int, head: int, about: About) -> str:
    """One head (by index) as a heat map with its words, the scale of weights, and hatched masked cells.

    Pointing at a cell says "query → key: 0.123". Past 2,500 cells the map is one image inside the picture.
    Raises ValueError, in one sentence, when there is no such head or nothing to draw.
    """
    check_drawable(attention)
    check_index(attention, layer, [head])
    names = attention.layers[layer], attention.heads[head]
    return matrix_svg(
        attention.pattern[layer, head], attention.mask, weights_scale(attention),
        Layout.of(attention.queries.labels, attention.keys.labels, AXIS_TITLES[attention.kind]),
        kind_title(attention.kind, head_name(*names)), about, about.facts(attention, names[:1], names[1:]),
        attention.kind, name=f"{attention.kind}-{layer}-{head}",
    )  # fmt: skip
