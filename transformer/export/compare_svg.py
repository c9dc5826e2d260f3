"""Several models beside each other as one SVG: all heads, the opened head with its differences, or the divergences."""

from collections.abc import Sequence

import numpy as np

from transformer.analysis.attention import Attention
from transformer.analysis.compare import LN_2, apart_from
from transformer.export.compare_files import Comparison, Model
from transformer.export.markup import tag
from transformer.export.palette import AXIS_TITLES, DIFFERENCES, head_name
from transformer.export.svg_document import framed, kind_title, renamed, size_of
from transformer.export.svg_grid import grid_svg
from transformer.export.svg_head import head_svg
from transformer.export.svg_matrix import Layout, matrix_svg
from transformer.export.svg_scale import Scale


def grids_svg(comparison: Comparison) -> str:
    """A grid of all heads for each model, two in a row."""
    pictures = [grid_svg(one.attention, one.about) for one in comparison.models]
    return _framed(comparison, [pictures[at : at + 2] for at in range(0, len(pictures), 2)], "models beside each other")


def opened_svg(comparison: Comparison, *, upright: bool = False) -> str:
    """The opened head of each model that has one, and below each, or upright beside it, how it differs from the first.

    With the first stands the noise floor, where there is one. Raises ValueError where no model has the head.
    """
    first, pairs = comparison.models[0], []
    for number, one in enumerate(comparison.models):
        if one.place is None:
            continue
        difference = None
        if number == 0 and comparison.seeds is not None and all(seed.place is not None for seed in comparison.seeds):
            difference = difference_svg(*comparison.seeds, noise=True)
        elif number and first.place is not None and one.pairs is not None:
            difference = difference_svg(first, one)
        pairs.append((head_svg(one.attention, *one.place, one.about), difference))
    if not pairs:
        raise ValueError("No model has the opened head; open another one.")
    return _framed(comparison, pairs if upright else list(zip(*pairs, strict=True)), "opened head")


def divergences_svg(comparison: Comparison) -> str:
    """How far each head of the first model is from its partner in each other, and the noise floor."""
    shown = [(one, False) for one in comparison.models[1:] if one.pairs is not None]
    if comparison.seeds is not None:
        shown.append((comparison.seeds[1], True))
    if not shown:
        raise ValueError("These models are over other tokens and do not compare: choose one target for all.")
    pictures = [divergence_svg(one, noise=noise) for one, noise in shown]
    return _framed(comparison, [pictures[at : at + 2] for at in range(0, len(pictures), 2)], "how far apart heads are")


def difference_svg(one: Model, other: Model, *, noise: bool = False) -> str:
    """The second model's opened head less the first's, from −1 to 1, over the same tokens."""
    assert one.place is not None
    assert other.place is not None
    attention = one.attention
    values = other.attention.pattern[other.place] - attention.pattern[one.place]
    mask = attention.mask | other.attention.mask
    name = f"{_name(other.attention, other.place)} less {one.about.model} {_name(attention, one.place)}"
    return matrix_svg(
        values, mask, Scale(-1, 1, "Δ weight", DIFFERENCES),
        Layout.of(attention.queries.labels, attention.keys.labels, AXIS_TITLES[attention.kind]),
        f"{'noise floor, another seed: ' if noise else ''}{name}", other.about, other.about.facts(attention),
        attention.kind, said=lambda value: f"{value:+.3f}".replace("-", "−"),
    )  # fmt: skip


def divergence_svg(one: Model, *, noise: bool = False) -> str:
    """Divergence of each head of what the model is compared with, from 0 to ln 2."""
    assert one.pairs is not None
    values = apart_from(one.pairs, one.matches)
    rows, columns = ([f"{letter}{at}" for at in range(n)] for letter, n in zip("LH", values.shape, strict=True))
    title = "noise floor, another seed" if noise else "Jensen–Shannon divergence"
    layout, scale = Layout.of(rows, columns, ("layer", "head")), Scale(0, LN_2, "nats")
    facts = one.about.facts(one.attention)
    return matrix_svg(values, np.isfinite(values), scale, layout, title, one.about, facts, one.attention.kind)


def _framed(comparison: Comparison, rows: Sequence[Sequence[str | None]], name: str) -> str:
    """Pictures in rows and columns below one heading, with what changed in each model beneath them."""
    sizes = [[(0.0, 0.0) if picture is None else size_of(picture) for picture in row] for row in rows]
    columns = [max(row[at][0] for row in sizes if at < len(row)) for at in range(max(map(len, sizes)))]
    y, placed = 0.0, []
    for row, pictures in enumerate(rows):
        for column, picture in enumerate(pictures):
            if picture is not None:
                inside = renamed(picture, f"r{row}c{column}-")
                placed.append(inside.replace("<svg", f'<svg x="{sum(columns[:column]):g}" y="{y:g}"', 1))
        y += max(high for _, high in sizes[row])
    first = comparison.models[0]
    notes = [f"{one.about.model}: {one.changed}" for one in comparison.models[1:] if one.changed]
    if comparison.seeds is not None:
        one, other = comparison.seeds
        notes.append(f"noise floor: {other.about.model} and {one.about.model} differ in their seed alone")
    whole = tag("svg", *placed, width=round(sum(columns)), height=round(y))
    title = kind_title(first.attention.kind, name)
    return framed(whole, title, first.about, comparison.facts, notes, first.attention.kind)


def _name(attention: Attention, place: tuple[int, int]) -> str:
    return head_name(attention.layers[place[0]], attention.heads[place[1]])
