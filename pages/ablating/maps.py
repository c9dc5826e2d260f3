"""The maps of Side by side: a grid a model, and the opened head of each with what sets it apart from the first."""

import numpy as np
import streamlit as st

from pages.ablating.shown import Shown, open_head
from transformer.export.markup import escape
from ui.compare_figures import Panel, opened_figure
from ui.figures import describe_head, head_figure
from ui.head_grid import column_width, head_grid
from ui.markdown import plain
from ui.theme import KIND_NAMES

CHART = {"displaylogo": False}
_LEAST, _LARGEST = 30, 150
"""Pixels across a small map: below the first, grids stand two in a row; ui/head_grid.js draws none larger."""
_LABELS, _GAP = 26, 8
"""Pixels that ui/head_grid.js leaves for the names of layers, and between two maps."""


def grids(shown: Shown) -> None:
    """All heads of every model on one scale, each as large; a click into one opens a head in all."""
    heads = [attention.pattern.shape[1] for attention in shown.attentions]
    page, n = column_width((1,), 0), len(shown.names)
    across = n if n == 2 or _cell(page, n, max(heads)) >= _LEAST else 2
    cell = min(_cell(page, across, max(heads)), _LARGEST)
    for start in range(0, n, across):
        for number, column in enumerate(st.columns(across, gap="medium" if across == 2 else "small"), start):
            if number < n:
                with column:
                    _grid(shown, number, int(_LABELS + heads[number] * (cell + _GAP)) + 1)


def _cell(page: int, across: int, n_heads: int) -> float:
    """Pixels that a small map has, with so many grids in a row of the page."""
    gap = 32 if across == 2 else 16
    return ((page - gap * (across - 1)) / across - _LABELS) / n_heads - _GAP


def _grid(shown: Shown, number: int, width: int) -> None:
    """One model's grid, so many pixels wide; pale where it has not the opened head."""
    name, place = shown.names[number], shown.places[number]
    which = "not here" if place is None else shown.head(number, place)
    title = f'{escape(name)} <span class="note">{which}</span>'
    st.html(f'<div class="opened {shown.kind}" style="font-size:1rem">{title}</div>')
    key = "head_grid" if number == 0 else f"grid_{number}"
    absent = f"absent_{number}" if place is None else f"present_{number}"
    if place is None:
        st.html(f"<style>.st-key-{absent} {{ opacity: .35; }}</style>")
    with st.container(key=absent, width=width):
        head_grid(shown.attentions[number], place, lambda *head: open_head(name, *head), key=key)


def opened_heads(shown: Shown) -> None:
    """The opened head of each model over the same tokens, and below each its difference from the first one's."""
    compares = [number for number, same in enumerate(shown.measured.aligned.compares) if same]
    first = shown.attentions[0]
    weights = [_weights(shown, number) for number in compares]
    lower = [_floor(shown), *(_difference(shown, number) for number in compares[1:])]
    figure = opened_figure(first, weights, lower if len(compares) > 1 else [], column_width((1,), 0))
    st.plotly_chart(figure, width="content", key="opened_heads", alt=_alt(shown, compares), config=CHART)
    if shown.measured.aligned.on_words:
        st.caption("The tokenizers cut differently: pieces are merged, and words are compared.")
    _elsewhere(shown, [number for number in range(len(shown.names)) if number not in compares])


def _weights(shown: Shown, number: int) -> Panel:
    attention, place = shown.attentions[number], shown.places[number]
    if place is None:
        return Panel(shown.names[number], None, said=shown.missing(number))
    return Panel(shown.names[number], attention.pattern[place], attention.mask, shown.head(number, place))


def _difference(shown: Shown, number: int) -> Panel:
    """A model's opened head less the first one's."""
    title = f"less {shown.names[0]}"
    place, of_first = shown.places[number], shown.places[0]
    if place is None or of_first is None:
        return Panel(title, None, said="There is no pair of heads to take the difference of.")
    one, other = shown.attentions[0], shown.attentions[number]
    difference = other.pattern[place] - one.pattern[of_first]
    divergence = shown.measured.pairs[number]
    assert divergence is not None
    said = f"{float(divergence[*of_first, *place]):.3f} nats apart"
    return Panel(title, difference, one.mask | other.mask, said)


def _floor(shown: Shown) -> Panel:
    """What another seed alone makes of the opened head."""
    title, seeds, places = "noise floor: another seed", shown.measured.seeds, shown.seed_places
    if seeds is None or shown.reading.seeds is None:
        return Panel(title, None, said=no_floor(shown))
    if places is None or not shown.measured.seeds_compare:
        one, other = shown.reading.seeds
        return Panel(title, None, said=f"{one} and {other} differ in their seed alone; this head cannot be compared.")
    one, other = seeds
    (place, partner), pairs = places, shown.measured.seed_pairs
    assert pairs is not None
    said = f"{float(pairs[*place, *partner]):.3f} nats · {shown.reading.seeds[1]}"
    return Panel(title, other.pattern[partner] - one.pattern[place], one.mask | other.mask, said)


def no_floor(shown: Shown) -> str:
    """Why there is no noise floor, and how to get one."""
    return (
        f"No model here differs from {shown.names[0]} in its seed alone, so that nothing says how much of a difference "
        "is chance. Train it again with another seed."
    )


def _elsewhere(shown: Shown, numbers: list[int]) -> None:
    """The opened heads of models whose tokens are others."""
    if not numbers:
        return
    names = ", ".join(shown.names[number] for number in numbers)
    st.info(
        f"The {shown.kind} patterns of {names} are over other tokens than those of {shown.names[0]}, so that they do "
        "not compare row by row: choose one target for all."
    )
    columns = st.columns(max(2, len(numbers)), gap="medium")
    width = column_width((1,) * max(2, len(numbers)), 0)
    for number, column in zip(numbers, columns, strict=False):
        place, attention = shown.places[number], shown.attentions[number]
        with column:
            if place is None:
                st.info(shown.missing(number))
                continue
            st.markdown(f"**{plain(shown.names[number])}** · {KIND_NAMES[shown.kind]} {shown.head(number, place)}")
            figure, alt = head_figure(attention, *place, width), describe_head(attention, *place)
            st.plotly_chart(figure, width="content", key=f"opened_{number}", alt=alt, config=CHART)


def _alt(shown: Shown, compares: list[int]) -> str:
    """The opened heads in words."""
    said = []
    for number in compares:
        place = shown.places[number]
        if place is None:
            said.append(shown.missing(number))
            continue
        text = f"{shown.names[number]}, {shown.head(number, place)}. {describe_head(shown.attentions[number], *place)}"
        of_first = shown.places[0]
        if number and of_first is not None:
            apart = shown.attentions[number].pattern[place] - shown.attentions[0].pattern[of_first]
            text += f" Its largest difference from {shown.names[0]} is {np.abs(apart).max(initial=0):.2f}."
        said.append(text)
    return " ".join(said)
