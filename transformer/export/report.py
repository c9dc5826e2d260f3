"""One HTML file with a whole trace for reading: sentence, translation, maps of the three kinds, scores, config."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from transformer.analysis.attention import Attention, Kind
from transformer.analysis.trace import KINDS, Trace
from transformer.export.about import About
from transformer.export.markup import escape, isolated, shorten, tag
from transformer.export.palette import KIND_COLOURS, KIND_NAMES, head_name
from transformer.export.report_parts import configuration, figure, heading, page, scores, translation
from transformer.export.svg_grid import grid_svg
from transformer.export.svg_head import head_svg

_EXPLAINED = {
    "encoder": "Source tokens attend to source tokens, in both directions (§3.2.3).",
    "decoder": "The token being written attends to those before it; later ones are masked, hatched here (§3.2.3).",
    "cross": "The token being written attends to the source sentence (§3.2.3).",
}
_CAUTION = (
    "A weight says where a head looks, not what it does with what it sees, and not why the model wrote a word. "
    "Switching a head off and translating again is the test of what it is good for."
)


def report_html(
    trace: Trace,
    opened: Mapping[Kind, tuple[int, int]] | None = None,
    *,
    views: Mapping[Kind, Attention] | None = None,
    view: str = "",
    config: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
) -> str:
    """The report.

    opened: layer and head, as indices, to show large for a kind; elsewhere it is the head that chooses most decidedly.
    views: kinds that are shown otherwise than as traced, such as merged to words, and `view`, what was done, in words.
    config, evaluation: the contents of the checkpoint's config.json and evaluation.json, left out where None or empty.
    Raises ValueError, in one sentence, when there is no such layer or head.
    """
    about = About.of(trace, view)
    shown: dict[Kind, Attention] = {kind: (views or {}).get(kind, trace[kind]) for kind in KINDS}
    parts = [heading(trace, about), translation(trace)]
    parts += [_kind(shown[kind], (opened or {}).get(kind), about) for kind in KINDS]
    parts.append(tag("p", _CAUTION, class_="note"))
    parts += [scores(evaluation)] if evaluation else []
    parts += [configuration(config)] if config else []
    return page(f"{trace.source_text} · {trace.model}", about.facts(), parts)


def decided_head(attention: Attention) -> tuple[int, int]:
    """Layer and head whose queries choose most decidedly: largest weight on a token that is not special, on average.

    Rows that may see only one key don't count.
    """
    rows, words = attention.mask.sum(1) > 1, ~np.array(attention.keys.special, bool)
    weights = attention.pattern[:, :, rows] if rows.any() else attention.pattern
    weights = weights[..., words] if words.any() else weights
    decided = np.nan_to_num(weights, nan=0.0, posinf=0.0, neginf=0.0).max(-1).mean(-1)
    layer, head = np.unravel_index(np.argmax(decided), decided.shape)
    return int(layer), int(head)


def _kind(attention: Attention, opened: tuple[int, int] | None, about: About) -> str:
    dot = tag("span", class_="dot", style=f"background:{KIND_COLOURS[attention.kind]}")
    parts = [tag("h2", dot, KIND_NAMES[attention.kind]), tag("p", _EXPLAINED[attention.kind])]
    if 0 in attention.pattern.shape:
        return tag("section", *parts, tag("p", "Nothing is left to show in this view.", class_="note"))
    layer, head = opened or decided_head(attention)
    picture = head_svg(attention, layer, head, about)
    why = "" if opened else ", the head whose queries most decidedly choose one token"
    name = escape(head_name(attention.layers[layer], attention.heads[head]))
    parts.append(figure(grid_svg(attention, about), "All heads: brighter is more attention."))
    parts.append(figure(picture, f"{name}{why}. {_strongest(attention, layer, head)}"))
    return tag("section", *parts)


def _strongest(attention: Attention, layer: int, head: int) -> str:
    weights = np.where(
        attention.mask, np.nan_to_num(attention.pattern[layer, head], nan=0.0, posinf=0.0, neginf=0.0), 0
    )
    sides = attention.queries, attention.keys
    row, column = np.unravel_index(np.argmax(weights), weights.shape)
    query, key = (isolated(shorten(side.labels[at], 40)) for side, at in zip(sides, (row, column), strict=True))
    return f"The strongest weight is from query {query} to key {key}: {weights[row, column]:.3f}."
