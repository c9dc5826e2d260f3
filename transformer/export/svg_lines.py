"""Heads of one layer as lines between words in one SVG, as in the paper's Figures 3 to 5."""

from collections.abc import Sequence

import numpy as np

from transformer.analysis.attention import Attention
from transformer.export.about import About
from transformer.export.markup import isolated, shorten, tag
from transformer.export.palette import AXIS_TITLES, HEAD_COLOURS, head_name
from transformer.export.svg import HEADING, MARGIN, check_drawable, check_index, label, text_width
from transformer.export.svg_document import document, kind_title, least_width
from transformer.export.svg_scale import weights_scale

LEAST_DRAWN = 0.01  # share of the largest possible weight
MOST_LINES = 5000
_FONT, _PITCH, _BETWEEN = 14.0, 24.0, 260.0  # pixels
_DASHES = (None, "7 3", "2 3")


def lines_svg(
    attention: Attention, layer: int, heads: Sequence[int], about: About, queries: Sequence[int] | None = None
) -> str:
    """Lines from queries on the left to keys on the right, as opaque as their weight, coloured by head.

    Any heads of one layer (indices), from all queries or the chosen ones (indices). Weights under 0.01 are not drawn,
    and of more than 5,000 lines only the strongest; the picture says so. Raises ValueError, in one sentence, when
    there is no such head or query or nothing to draw.
    """
    check_drawable(attention)
    check_index(attention, layer, heads)
    n_query, n_key = attention.mask.shape
    if not heads:
        raise ValueError("Choose a head to draw; no head was given.")
    for query in queries or ():
        if not 0 <= query < n_query:
            raise ValueError(f"There is no query {query}; there are queries 0 to {n_query - 1}.")
    heads = list(dict.fromkeys(heads))
    chosen = np.zeros(n_query, bool)
    chosen[list(range(n_query) if queries is None else queries)] = True
    largest = weights_scale(attention).high
    lines, note = _strongest(attention, layer, heads, chosen, largest)
    sides = attention.queries.labels, attention.keys.labels
    left = MARGIN + max(text_width(sides[0], _FONT), 150) + 10
    right = left + _BETWEEN
    legend, legend_height = _legend(attention, heads, HEADING + MARGIN, right)
    top = HEADING + MARGIN + legend_height + 46
    parts = [legend, _lines(attention, lines, heads, largest, (left, right, top))]
    for place, text in enumerate(sides[0]):
        pale, y = (None if chosen[place] else 0.45), top + _PITCH * place + _FONT * 0.35
        parts.append(label(text, left - 8, y, _FONT, "end", opacity=pale, data_query=place))
    for place, text in enumerate(sides[1]):
        parts.append(label(text, right + 8, top + _PITCH * place + _FONT * 0.35, _FONT, data_key=place))
    query_title, key_title = (title.split(":")[0] for title in AXIS_TITLES[attention.kind])
    bold = {"font_size": 12, "font_weight": 600}
    parts.append(tag("text", f"{query_title} →", x=left - 8, y=top - 24, text_anchor="end", **bold))
    parts.append(tag("text", f"→ {key_title}", x=right + 8, y=top - 24, **bold))
    bottom = top + _PITCH * max(n_query, n_key)
    parts.append(tag("text", note, x=MARGIN, y=bottom + 4, font_size=11, opacity=0.75))
    names = [attention.heads[head] for head in heads]
    name = (
        head_name(attention.layers[layer], names[0])
        if len(heads) == 1
        else f"L{attention.layers[layer]}, {len(heads)} heads"
    )
    title = kind_title(attention.kind, name)
    width = max(right + max(text_width(sides[1], _FONT), 60) + 8 + MARGIN, least_width(about, title), 480.0)
    facts = about.facts(attention, (attention.layers[layer],), tuple(names))
    return document((width, bottom + MARGIN), parts, title, about, facts, attention.kind)


def _strongest(
    attention: Attention, layer: int, heads: Sequence[int], chosen: np.ndarray, top: float
) -> tuple[list[tuple[int, int, int, float]], str]:
    """Lines as (position in heads, query, key, opacity), the faintest first so that strong ones lie above them."""
    weights = np.where(attention.mask & chosen[:, None], attention.pattern[layer, list(heads)], 0)
    broken = int((~np.isfinite(weights)).sum())
    shares = np.clip(np.nan_to_num(weights / top, nan=0.0, posinf=0.0, neginf=0.0), 0, 1)
    drawn = np.argwhere(shares >= LEAST_DRAWN)
    opacities = shares[tuple(drawn.T)]
    order = np.argsort(opacities, kind="stable")
    note = f"A line is as opaque as its weight; weights under {LEAST_DRAWN * top:.2g} are not drawn."
    if len(order) > MOST_LINES:
        note = f"A line is as opaque as its weight; the {MOST_LINES:,} strongest of {len(order):,} lines are drawn."
        order = order[-MOST_LINES:]
    if broken:
        note += f" {broken:,} weights are not numbers and have no line."
    return [(*drawn[at].tolist(), float(opacities[at])) for at in order], note


def _lines(
    attention: Attention,
    lines: Sequence[tuple[int, int, int, float]],
    heads: Sequence[int],
    largest: float,
    place: tuple[float, float, float],
) -> str:
    left, right, top = place
    queries, keys = ([isolated(shorten(text)) for text in side.labels] for side in (attention.queries, attention.keys))
    names = [isolated(attention.heads[head]) for head in heads]
    # Lines of several heads between the same two words lie beside each other.
    beside = min(2.4, 12 / len(heads))
    drawn: list[list[str]] = [[] for _ in heads]
    for position, query, key, opacity in lines:
        shift = top + beside * (position - (len(heads) - 1) / 2)
        drawn[position].append(  # written out, not by tag(): there are thousands
            f'<line x1="{left:.2f}" y1="{shift + _PITCH * query:.2f}" x2="{right:.2f}" y2="{shift + _PITCH * key:.2f}" '
            f'stroke-opacity="{opacity:.3f}" data-line="{heads[position]},{query},{key}">'
            f"<title>{queries[query]} → {keys[key]}: {opacity * largest:.3f}, head {names[position]}</title></line>"
        )
    groups = (tag("g", *each, **_stroke(head)) for head, each in zip(heads, drawn, strict=True))
    return tag("g", *groups, class_="lines", stroke_width=2)


def _legend(attention: Attention, heads: Sequence[int], top: float, right: float) -> tuple[str, float]:
    """Names of the heads beside their lines, in rows, and how high they are together."""
    parts, x, y = [], MARGIN, top + 8
    for head in heads:
        name = attention.heads[head]
        shown = shorten(f"H{name}" if name.isdigit() else name, 12)
        needed = 28 + text_width([shown], 12) + 14
        if x + needed > right + 100 and x > MARGIN:
            x, y = MARGIN, y + 20
        parts.append(tag("line", x1=x, y1=y - 4, x2=x + 22, y2=y - 4, stroke_width=3, **_stroke(head)))
        parts.append(label(shown, x + 28, y, 12))
        x += needed
    return tag("g", *parts, class_="legend"), y - top


def _stroke(head: int) -> dict[str, str | None]:
    """Colours come round again after eight heads, dashed."""
    turn, colour = divmod(head, len(HEAD_COLOURS))
    return {"stroke": HEAD_COLOURS[colour], "stroke_dasharray": _DASHES[turn % len(_DASHES)]}
