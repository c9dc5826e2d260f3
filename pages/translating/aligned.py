"""A word alignment as numbers and lines: what is aligned, its table rows, its arrays, its picture."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from pages.translating.layers import AlignBy
from transformer.analysis.alignment import Link, word_links, word_weights
from transformer.analysis.attention import Attention
from transformer.export.tables import Rows
from ui.translation_lines import Line, lines_svg


@dataclass(frozen=True)
class Alignment:
    """What the tab shows."""

    targets: tuple[str, ...]
    sources: tuple[str, ...]
    weights: Float[np.ndarray, "target source"]
    links: frozenset[Link]


def aligned(cross: Attention, how: AlignBy) -> Alignment:
    """Words, weights and links of a trace's cross-attention."""
    every = word_weights(cross, how.rows)
    weights = every.mean((0, 1))
    if how.layer is not None:
        weights = every[how.layer].mean(0) if how.head is None else every[how.layer, how.head]
    read = cross if how.rows == "written" or cross.read is None else replace(cross, queries=cross.read, read=None)
    words = read.words().without_special()
    links = word_links(weights, how.direction, how.threshold)
    return Alignment(words.queries.labels, words.keys.labels, weights, links)


def alignment_svg(shown: Alignment) -> str:
    """A line for each link."""
    largest = max((float(shown.weights[target, source]) for source, target in shown.links), default=1.0) or 1.0
    lines = []
    for source, target in sorted(shown.links):
        weight = float(shown.weights[target, source])
        said = f"{shown.targets[target]} → {shown.sources[source]}: {weight:.3f}"
        lines.append(Line(target, source, 0.25 + 0.75 * weight / largest, said))
    return lines_svg(shown.targets, shown.sources, lines, ("query: target", "key: source"), between=190)


def link_rows(shown: Alignment) -> Rows:
    """The links, both words counted from 0."""
    return [_row(shown, target, source) for source, target in sorted(shown.links, key=lambda link: (link[1], link[0]))]


def weight_rows(shown: Alignment) -> Rows:
    """Every cell of the matrix."""
    return [
        _row(shown, target, source) | {"linked": (source, target) in shown.links}
        for target, source in np.ndindex(*shown.weights.shape)
    ]


def alignment_arrays(shown: Alignment) -> dict[str, Any]:
    """Weights (target, source), the words at their sides, and the links as two equally long arrays of positions."""
    links = np.array(sorted((target, source) for source, target in shown.links), int).reshape(-1, 2)
    return {
        "weights": shown.weights,
        "targets": shown.targets,
        "sources": shown.sources,
        "link_targets": links[:, 0],
        "link_sources": links[:, 1],
    }


def _row(shown: Alignment, target: int, source: int) -> dict[str, Any]:
    return {
        "target_position": target,
        "target": shown.targets[target],
        "source_position": source,
        "source": shown.sources[source],
        "weight": float(shown.weights[target, source]),
    }
