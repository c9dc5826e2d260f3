"""Several models on one sentence, head by head: how differently they attend, and which heads do the same."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from transformer.analysis.attention import Attention
from transformer.analysis.measures import distributions, entropies

LN_2 = float(np.log(2))


@dataclass(frozen=True)
class Aligned:
    """What several models attend to on one sentence, over the same tokens wherever that can be."""

    attentions: tuple[Attention, ...]
    compares: tuple[bool, ...]
    """For each model, whether its tokens are the first one's; the first one's are."""
    on_words: bool
    """Whether pieces were merged to words, because the tokenizers cut differently."""


def aligned(attentions: Sequence[Attention]) -> Aligned:
    """The attentions over the first one's tokens, merged to words where a tokenizer cuts differently.

    Where a model's words are others too, as with another target, it stays as it is and compares with none.
    """
    first = attentions[0]
    alike = tuple(_same_tokens(first, one) for one in attentions)
    if all(alike):
        return Aligned(tuple(attentions), alike, False)
    words = tuple(one.words() for one in attentions)
    on_words = tuple(_same_tokens(words[0], one) for one in words)
    if sum(on_words) > sum(alike):
        kept = tuple(word if same else one for one, word, same in zip(attentions, words, on_words, strict=True))
        return Aligned(kept, on_words, True)
    return Aligned(tuple(attentions), alike, False)


def divergences(one: Attention, other: Attention) -> Float64[np.ndarray, "layer head other_layer other_head"]:
    """Jensen–Shannon divergence of every head of one model from every head of another, in nats, mean over queries.

    H(½p + ½q) − ½H(p) − ½H(q) of two rows p and q (Lin 1991): 0 where two heads attend alike, ln 2 where no query of
    theirs shares a key; symmetric. A query that one of the two lets attend to nothing counts in none. Raises ValueError
    where queries and keys are not as many.
    """
    if one.pattern.shape[2:] != other.pattern.shape[2:]:
        shapes = " and ".join(f"{a.pattern.shape[2]} × {a.pattern.shape[3]}" for a in (one, other))
        raise ValueError(f"Patterns of {shapes} queries and keys do not compare cell by cell.")
    rows, other_rows = (distributions(each).reshape(-1, *each.pattern.shape[2:]) for each in (one, other))
    own, others = entropies(rows), entropies(other_rows)
    seen, other_seen = np.asarray(rows.any(-1)), np.asarray(other_rows.any(-1))
    result = np.empty((len(rows), len(other_rows)))
    for head, row in enumerate(rows):
        between = entropies((other_rows + row) / 2) - (others + own[head]) / 2
        both = other_seen & seen[head]
        count = both.sum(-1)
        total = (between * both).sum(-1)
        result[head] = np.divide(total, count, out=np.full(len(other_rows), np.nan), where=count > 0)
    return np.clip(result, 0, LN_2).reshape(*one.pattern.shape[:2], *other.pattern.shape[:2])


def by_index(all_pairs: Float64[np.ndarray, "layer head other_layer other_head"]) -> Float64[np.ndarray, "layer head"]:
    """Each head's divergence from the head at its own place; NaN where the other model has none there."""
    n_layers, n_heads, other_layers, other_heads = all_pairs.shape
    result = np.full((n_layers, n_heads), np.nan)
    layers, heads = min(n_layers, other_layers), min(n_heads, other_heads)
    layer, head = np.indices((layers, heads))
    result[:layers, :heads] = all_pairs[layer, head, layer, head]
    return result


@dataclass(frozen=True)
class Match:
    """Two heads, each as (layer, head), and how differently they attend, in nats; NaN where it is not known."""

    one: tuple[int, int]
    other: tuple[int, int]
    divergence: float


def best_matches(all_pairs: Float64[np.ndarray, "layer head other_layer other_head"]) -> list[Match]:
    """Every head of the smaller model with a head of its own in the other, so that divergences sum to the least.

    Heads have no order in common between models that were trained apart, and a layer's work may lie in another. Found
    exactly (Kuhn 1955); a divergence that is no number counts as ln 2. In the order of the first model's heads.
    """
    n_layers, n_heads, other_layers, other_heads = all_pairs.shape
    pairs = all_pairs.reshape(n_layers * n_heads, other_layers * other_heads)
    return [
        Match(divmod(row, n_heads), divmod(column, other_heads), float(pairs[row, column]))
        for row, column in assignment(np.nan_to_num(pairs, nan=LN_2))
    ]


def apart_from(
    all_pairs: Float64[np.ndarray, "layer head other_layer other_head"], matches: Sequence[Match] | None
) -> Float64[np.ndarray, "layer head"]:
    """Each head's divergence from its match, or without matches from the head at its place; NaN where it has none."""
    if matches is None:
        return by_index(all_pairs)
    result = np.full(all_pairs.shape[:2], np.nan)
    for match in matches:
        result[match.one] = match.divergence
    return result


def partners(
    opened: tuple[int, tuple[int, int]],
    shapes: Sequence[tuple[int, int]],
    matches: Sequence[Sequence[Match] | None],
) -> list[tuple[int, int] | None]:
    """The head of every model that stands beside an opened one, None for a model that has none.

    opened: the model's number, and (layer, head) in it. shapes: layers and heads of each model. matches: of the first
    model with each; None, as for the first itself, where heads are taken by their place.
    """
    model, place = opened
    of_first: tuple[int, int] | None = place
    own = matches[model]
    if own is not None:
        of_first = next((match.one for match in own if match.other == place), None)
    found: list[tuple[int, int] | None] = []
    for number, ((n_layers, n_heads), with_it) in enumerate(zip(shapes, matches, strict=True)):
        at = of_first
        if number == model:
            at = place
        elif with_it is not None and of_first is not None:
            at = next((match.other for match in with_it if match.one == of_first), None)
        found.append(at if at is not None and at[0] < n_layers and at[1] < n_heads else None)
    return found


def ranked(apart: Sequence[Float64[np.ndarray, "layer head"]]) -> list[tuple[tuple[int, int], float]]:
    """Heads of the first model, farthest apart first: (layer, head) and the mean over the models that have a partner.

    A head without any partner is left out. Heads that are as far apart stay in their order.
    """
    stacked = np.stack(apart)
    known = np.isfinite(stacked)
    count = known.sum(0)
    total = np.where(known, stacked, 0).sum(0)
    found = [((int(layer), int(head)), float(total[layer, head] / count[layer, head]))
             for layer, head in zip(*np.nonzero(count), strict=True)]  # fmt: skip
    return sorted(found, key=lambda one: -one[1])


def assignment(cost: Float64[np.ndarray, "row column"]) -> list[tuple[int, int]]:
    """Pairs of a row and a column, none taken twice and as many as the shorter side has, whose costs sum to the least.

    The Hungarian method with potentials, in rows · columns · shorter side steps; sorted by row.
    """
    if cost.shape[0] > cost.shape[1]:
        return sorted((row, column) for column, row in assignment(cost.T))
    n_rows, n_columns = cost.shape
    of_row, of_column = np.zeros(n_rows), np.zeros(n_columns)
    owner = np.full(n_columns, -1)
    for new in range(n_rows):
        # The shortest path, by cost less potentials, from the new row to a column that nobody has.
        distance, before = np.full(n_columns, np.inf), np.full(n_columns, -1)
        visited = np.zeros(n_columns, bool)
        row, column, reached = new, -1, 0.0
        while True:
            through = reached + cost[row] - of_row[row] - of_column
            shorter = ~visited & (through < distance)
            distance[shorter], before[shorter] = through[shorter], column
            column = int(np.where(visited, np.inf, distance).argmin())
            reached = distance[column]
            visited[column] = True
            if owner[column] < 0:
                break
            row = int(owner[column])
        inner = visited.copy()
        inner[column] = False
        of_row[new] += reached
        of_row[owner[inner]] += reached - distance[inner]
        of_column[inner] -= reached - distance[inner]
        while column >= 0:
            previous = int(before[column])
            owner[column] = new if previous < 0 else owner[previous]
            column = previous
    return sorted((int(row), column) for column, row in enumerate(owner) if row >= 0)


def _same_tokens(one: Attention, other: Attention) -> bool:
    return (one.queries.labels, one.keys.labels) == (other.queries.labels, other.keys.labels)
