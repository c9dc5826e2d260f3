"""What one query and one key say to each other by dimension, and the query's whole row, as one SVG."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer.export.about import About
from transformer.export.equation import divided_by, token
from transformer.export.head_files import head_facts
from transformer.export.markup import escape_sentence, isolated, shorten, tag, width
from transformer.export.numbers import exact
from transformer.export.palette import DIFFERENCES, KIND_COLOURS
from transformer.export.svg import HEADING, LETTER, MARGIN, label, text_width
from transformer.export.svg_document import document, kind_title, least_width
from transformer.export.svg_scale import Scale, differences_scale, pixels

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

MOST_KEYS = 40
RAISES, LOWERS = DIFFERENCES[8], DIFFERENCES[2]
"""Colours of bars above and below 0, those of the diverging palette."""
_ACROSS, _STRIPE, _STEP, _SUM, _SCORE = 520.0, 24.0, 32.0, 170.0, 40.0  # pixels
_ROW, _BARS, _WEIGHTS, _FONT = 20.0, 170.0, 130.0, 12.0


def neurons_svg(parts: "HeadParts", query: int, key: int, about: About) -> str:
    """Above q, k, q∘k and their running sum for the pair; below the query's products, scores and weights for each key.

    Red raises the score, blue lowers it. Of more than 40 keys those of most weight are drawn, and the chosen one.
    """
    kept = kept_keys(parts, query, key)
    labels = [shorten(parts.keys.labels[at], 14) for at in kept]
    left = MARGIN + max(text_width(labels, _FONT), 84.0) + 10
    top = HEADING + MARGIN + 26
    drawn = [
        tag("text", escape_sentence(_pair(parts, query, key)), x=MARGIN, y=top - 14, font_size=13, font_weight=600)
    ]
    drawn += _stripes(parts, query, key, left, top)
    drawn += _sum(parts, query, key, left, top + 3 * _STEP + 6)
    below = top + 3 * _STEP + _SUM + 86
    drawn += _rows(parts, query, key, kept, labels, left, below)
    bottom = below + _ROW * len(kept) + 22
    notes = [f"Below: {token(parts, 'query', query)} against every key. Red raises a score, blue lowers it."]
    if len(kept) < len(parts.keys):
        notes.append(f"Of {len(parts.keys)} keys the {len(kept)} of most weight, and the chosen one, are drawn.")
    for place, said in enumerate(notes):
        drawn.append(tag("text", escape_sentence(said), x=MARGIN, y=bottom + 17 * place, font_size=12, opacity=0.8))
    title = kind_title(parts.kind, f"{parts.name} by dimension")
    widest = max(12 * LETTER * width(said) for said in [*notes, _pair(parts, query, key)]) * 1.1 + 2 * MARGIN
    size = max(left + _ACROSS + 3 * _SCORE + MARGIN, widest, least_width(about, title)), bottom + 17 * len(notes)
    facts = head_facts(parts, about) | {"query": query, "key": key}
    return document((size[0], size[1] + MARGIN), drawn, title, about, facts, parts.kind)


def kept_keys(parts: "HeadParts", query: int, key: int) -> np.ndarray:
    """The keys of a row that are drawn, in their order: all, or of many the chosen one and those of most weight."""
    n = len(parts.keys)
    if n <= MOST_KEYS:
        return np.arange(n)
    order = np.argsort(-parts.pattern[query], kind="stable")
    return np.sort(np.concatenate([[key], order[order != key][: MOST_KEYS - 1]]))


def _pair(parts: "HeadParts", query: int, key: int) -> str:
    weight = exact(float(parts.pattern[query, key])) if parts.mask[query, key] else "masked"
    score = exact(float(parts.scores[query, key]))
    return f"{token(parts, 'query', query)} and {token(parts, 'key', key)}: score {score}, weight {weight}"


def _products(parts: "HeadParts") -> str:
    """What stands in the sum, as the paper writes it."""
    by = divided_by(parts)
    return "q∘k" + (f" / {by}" if by else "")


def _stripes(parts: "HeadParts", query: int, key: int, left: float, top: float) -> list[str]:
    q, k = parts.q[query].astype(np.float64), parts.k[key].astype(np.float64)
    both, product = differences_scale(np.stack([q, k]), ""), q * k
    drawn = []
    for place, (name, values, scale) in enumerate(
        (("q", q, both), ("k", k, both), ("q∘k", product, differences_scale(product, "")))
    ):
        y = top + _STEP * place
        drawn.append(tag("text", name, x=left - 10, y=y + 17, font_size=14, text_anchor="end"))
        drawn.append(_stripe(values[None], scale, left, y, (_ACROSS, _STRIPE), name))
        drawn.append(tag("text", f"±{scale.high:.3g}", x=left + _ACROSS + 8, y=y + 16, font_size=11, opacity=0.8))
    return drawn


def _stripe(values: np.ndarray, scale: Scale, left: float, top: float, size: tuple[float, float], name: str) -> str:
    return pixels(scale.levels(values, np.ones(values.shape, bool)), scale, left, top, size, data_values=name)


def _sum(parts: "HeadParts", query: int, key: int, left: float, top: float) -> list[str]:
    """q∘k/√d_k, each bar beginning where the last one ended; then the bias of the positions, and the score."""
    terms = parts.q[query].astype(np.float64) * parts.k[key].astype(np.float64) * parts.scale
    each = _ACROSS / len(terms)
    bars = [(left + each * at, each, term) for at, term in enumerate(terms.tolist())]
    x = left + _ACROSS + 14
    heads = [(left + _ACROSS / 2, "dimension of the head, from 0 on the left")]
    if parts.bias is not None:
        bars.append((x, _SCORE - 10, float(parts.bias[query, key])))
        heads.append((x + _SCORE / 2 - 5, "bias"))
        x += _SCORE
    ends = np.cumsum([term for _, _, term in bars])
    known = ends[np.isfinite(ends)]
    low, high = min(0.0, float(known.min(initial=0))), max(0.0, float(known.max(initial=0)))
    unit = _SUM / (high - low or 1.0)

    def level(value: float) -> float:
        return top + 14 + unit * (high - value)

    drawn, start = [], 0.0
    for (at, across, term), end in zip(bars, ends.tolist(), strict=True):
        drawn.append(_bar(at, level(start), across, level(end), RAISES if term >= 0 else LOWERS))
        start = end
    drawn.append(_bar(x, level(0.0), _SCORE - 10, level(start), KIND_COLOURS[parts.kind], score=exact(start)))
    zero, faint = level(0.0), {"stroke": "currentColor", "stroke_opacity": 0.5}
    drawn.append(tag("line", x1=left, y1=zero, x2=x + _SCORE, y2=zero, **faint))
    if np.isfinite(start):
        y = level(start)
        drawn.append(tag("line", x1=left + _ACROSS, y1=y, x2=x, y2=y, stroke_dasharray="2 3", **faint))
    heads.append((x + _SCORE / 2 - 5, "score"))
    above = level(start) - 6 if start >= 0 else level(start) + 14
    said = above if np.isfinite(start) else zero - 6
    drawn.append(
        tag("text", exact(start), x=x + _SCORE / 2 - 5, y=said, font_size=13, font_weight=650, text_anchor="middle")
    )
    for line, text in enumerate(("running", "sum of", _products(parts))):
        y = top + 14 + _SUM / 2 + 16 * (line - 1)
        drawn.append(tag("text", text, x=left - 10, y=y, font_size=12, text_anchor="end"))
    y = top + 14 + _SUM + 30
    drawn += [tag("text", said, x=at, y=y, font_size=11, text_anchor="middle", opacity=0.8) for at, said in heads]
    return drawn


def _bar(x: float, one: float, across: float, other: float, colour: str, **named: str) -> str:
    """Between two levels; a level that is no number has no bar."""
    if not (np.isfinite(one) and np.isfinite(other)):
        return ""
    data = {f"data_{name}": value for name, value in named.items()}
    return tag("rect", x=x, y=min(one, other), width=across, height=abs(one - other), fill=colour, **data)


def _rows(
    parts: "HeadParts",
    query: int,
    key: int,
    kept: np.ndarray,
    labels: Sequence[str],
    left: float,
    top: float,
) -> list[str]:
    """The query against every key: products by dimension, the score before softmax, the weight after it."""
    allowed = parts.mask[query, kept]
    q, k = parts.q[query].astype(np.float64), parts.k[kept].astype(np.float64)
    terms, scores, weights = q * k * parts.scale, parts.scores[query, kept], parts.pattern[query, kept]
    across = _ACROSS - _BARS - _WEIGHTS - 40 + 2 * _SCORE
    bars = left + across + 20
    shares = bars + _BARS + 20
    known = scores[np.isfinite(scores)]
    low, high = min(0.0, float(known.min(initial=0))), max(0.0, float(known.max(initial=0)))
    unit = (_BARS - 44) / (high - low or 1.0)
    zero = bars + 4 + unit * -low
    with_bias = " with bias" if parts.bias is not None else ""
    drawn = [
        tag("text", said, x=x, y=top - 10, font_size=12, font_weight=600)
        for said, x in ((f"{_products(parts)} by dimension", left), (f"score{with_bias}", bars), ("softmax", shares))
    ]
    at = int(np.flatnonzero(kept == key)[0])
    band = {"x": MARGIN, "width": shares + _WEIGHTS - MARGIN, "height": _ROW, "fill": "#808080", "fill_opacity": 0.16}
    drawn.append(tag("rect", y=top + _ROW * at, **band))
    scale = differences_scale(terms, "")
    drawn.append(_stripe(terms, scale, left, top, (across, _ROW * len(kept)), "terms"))
    line = {"stroke": "currentColor", "stroke_opacity": 0.5}
    drawn.append(tag("line", x1=zero, y1=top, x2=zero, y2=top + _ROW * len(kept), **line))
    for place, (number, score, weight) in enumerate(zip(kept.tolist(), scores.tolist(), weights.tolist(), strict=True)):
        y = top + _ROW * place
        strong: dict[str, Any] = {"font_weight": 700} if place == at else {}
        drawn.append(label(labels[place], left - 8, y + 14, _FONT, "end", data_key=number, **strong))
        if np.isfinite(score):
            pale = None if allowed[place] else 0.35
            end, colour = zero + unit * score, RAISES if score >= 0 else LOWERS
            box = {"x": min(zero, end), "y": y + 4, "width": abs(end - zero), "height": _ROW - 8}
            drawn.append(tag("rect", **box, fill=colour, opacity=pale, data_score=number))
        drawn.append(tag("text", exact(score), x=bars + _BARS - 2, y=y + 14, font_size=11, text_anchor="end"))
        drawn += _weight(weight, bool(allowed[place]), shares, y, number)
    return [*drawn, tag("title", f"Keys of {isolated(shorten(parts.queries.labels[query]))}")]


def _weight(weight: float, allowed: bool, x: float, y: float, number: int) -> list[str]:
    if not allowed:
        return [tag("text", "masked", x=x, y=y + 14, font_size=11, opacity=0.8)]
    said = tag("text", exact(weight), x=x + _WEIGHTS - 4, y=y + 14, font_size=11, text_anchor="end")
    if not np.isfinite(weight):
        return [said]
    scale, most = Scale(0, 1.0), _WEIGHTS - 52
    colour = scale.colours[scale.levels(np.array(weight), np.array(True))]
    box = {"x": x, "y": y + 4, "width": most * min(weight, 1.0), "height": _ROW - 8, "fill": colour}
    return [tag("rect", **box, stroke="#808080", stroke_width=0.75, data_weight=number), said]
