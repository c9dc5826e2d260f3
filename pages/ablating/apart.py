"""How far apart the heads of several models are: a map of layers and heads for each, and the heads in order."""

import numpy as np
import streamlit as st

from pages.ablating.maps import CHART, no_floor
from pages.ablating.shown import Place, Shown, open_head
from transformer.analysis.compare import LN_2
from ui.apart_figure import Apart, apart_figure
from ui.head_grid import column_width

_MOST_LISTED = 10


def how_far_apart(shown: Shown) -> None:
    """Divergence of each head of the first model from its partner in each other, beside what another seed makes."""
    panels = [
        Apart(f"{shown.names[number]}", apart, _mean(apart)) for number, apart in enumerate(shown.apart)
        if apart is not None
    ]  # fmt: skip
    if not panels:
        return
    first = shown.names[0]
    st.markdown("**How far apart**: Jensen–Shannon divergence of each head of the first model from its partner")
    floor = shown.seeds_apart
    if floor is not None and shown.reading.seeds is not None:
        one, other = shown.reading.seeds
        panels.append(Apart(f"noise floor: {other}", floor, f"{_mean(floor)}, from {one}", opens=one == first))
    figure = apart_figure(panels, shown.places[0], column_width((1,), 0))
    st.plotly_chart(
        figure, width="content", key="apart", config=CHART, on_select=lambda: _clicked(first), selection_mode="points",
        alt="; ".join(f"{panel.title}: {panel.said}" for panel in panels),
    )  # fmt: skip
    _pills(shown)
    st.caption(_in_words(shown, panels, floor))


def _mean(apart: np.ndarray) -> str:
    return f"mean {np.nanmean(apart):.3f} nats" if np.isfinite(apart).any() else "no partners"


def _pills(shown: Shown) -> None:
    """The heads that are farthest apart; a click opens one."""
    names = {_name(place): place for place, _ in shown.ranked[:_MOST_LISTED]}
    values = {_name(place): value for place, value in shown.ranked}
    here = shown.places[0]
    st.session_state.ranked = _name(here) if here is not None and _name(here) in names else None
    st.pills(
        f"Farthest apart, {min(_MOST_LISTED, len(shown.ranked))} of {len(shown.ranked)} heads; a click opens one",
        list(names), key="ranked", format_func=lambda name: f"{name}  {values[name]:.2f}",
        on_change=lambda: _picked(shown.names[0], names),
    )  # fmt: skip


def _picked(model: str, names: dict[str, Place]) -> None:
    place = names.get(st.session_state.ranked or "")
    if place is not None:
        open_head(model, str(place[0]), str(place[1]))


def _clicked(model: str) -> None:
    """Open the head of a cell. A second click on the same cell takes the selection back, and opens it again too."""
    points = st.session_state.apart.selection.points
    if points:
        layer, head = points[0]["customdata"][:2]
        st.session_state.last_cell = str(int(layer)), str(int(head))
    if "last_cell" in st.session_state:
        open_head(model, *st.session_state.last_cell)


def _name(place: Place) -> str:
    return f"L{place[0]}·H{place[1]}"


def _in_words(shown: Shown, panels: list[Apart], floor: np.ndarray | None) -> str:
    """How to read the numbers, and how many of them exceed what another seed makes."""
    said = [f"In nats: 0 where two heads attend alike, ln 2 = {LN_2:.2f} where no query of theirs shares a key."]
    if floor is None or not np.isfinite(floor).any():
        return " ".join([*said, no_floor(shown)])
    most = float(np.nanmax(floor))
    counted = []
    for panel in panels[:-1]:
        known = panel.values[np.isfinite(panel.values)]
        counted.append(f"{panel.title}: {int((known > most).sum())} of {known.size} heads")
    assert shown.reading.seeds is not None
    one, other = shown.reading.seeds
    said.append(f"{one} and {other} differ in their seed alone, and no head of theirs is more than {most:.2f} apart.")
    said.append(f"Farther apart than that: {'; '.join(counted)}.")
    return " ".join(said)
