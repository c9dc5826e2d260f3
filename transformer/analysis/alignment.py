"""Word alignment read off cross-attention: which source word stands behind which target word.

Row t of cross-attention is the step that reads target token t − 1 and writes token t, so a target word has two sets of
rows: those that write it, and those that read it one step later. Written rows are what the maps show and what Garg et
al. (2019) aligned by; Kobayashi et al. (2020) and Chen et al. (2020) found read rows, which already know the word, to
align better in the lower layers. Neither is right for all layers, so both are offered here, and
transformer/analysis/alignment_error.py measures both.
"""

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from transformer.analysis.attention import Attention

Link = tuple[int, int]
"""A source word and a target word, both counted from 0."""
Rows = Literal["written", "read"]
Direction = Literal["target", "source", "intersection", "union"]


def word_weights(cross: Attention, rows: Rows = "written") -> Float[np.ndarray, "layer head target source"]:
    """How much each target word attends to each source word, special tokens left out and their share not handed out.

    A source word's pieces are summed, a target word's rows averaged: the rows that write its pieces, or those that read
    them. Raises ValueError unless it is given cross-attention by pieces, which knows what its rows read.
    """
    if rows not in get_args(Rows):
        raise ValueError(f"rows is {rows!r}; allowed is {' | '.join(get_args(Rows))}.")
    if cross.kind != "cross" or cross.read is None:
        raise ValueError(f"This {cross.kind} view aligns no words; allowed is cross-attention by pieces.")
    if rows == "read":
        cross = replace(cross, queries=cross.read, read=None)
    return cross.words().without_special().pattern


def word_links(
    weights: Float[np.ndarray, "target source"], direction: Direction = "target", threshold: float | None = None
) -> frozenset[Link]:
    """The pairs of words that weights align: (source, target), both counted from 0.

    direction: "target" links each target word to the source word of its largest weight, "source" each source word to
    the target word that gives it most; "intersection" keeps what both say, "union" what either says. A threshold stands
    in place of all that: it links every pair of at least that weight, and a word may stay alone.
    """
    if direction not in get_args(Direction):
        raise ValueError(f"direction is {direction!r}; allowed is {' | '.join(get_args(Direction))}.")
    if threshold is not None:
        return frozenset((source, target) for target, source in np.argwhere(weights >= threshold).tolist())
    if not weights.size:
        return frozenset()
    by_target = frozenset((source, target) for target, source in enumerate(weights.argmax(1).tolist()))
    by_source = frozenset((source, target) for source, target in enumerate(weights.argmax(0).tolist()))
    if direction in ("target", "source"):
        return by_target if direction == "target" else by_source
    return by_target & by_source if direction == "intersection" else by_target | by_source
