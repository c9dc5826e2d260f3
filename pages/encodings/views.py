"""What the three tabs share: switches, how charts are shown, and what a view gives away."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import __version__
from transformer.export.tables import Rows
from ui.take import number_buttons

if TYPE_CHECKING:
    from streamlit.elements.lib.mutable_popover_container import PopoverContainer

CHART = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": "positional-encodings"}}
"""The camera above a chart saves it as SVG, as it stands."""
SIDES = ("encoder", "decoder")


@dataclass(frozen=True)
class Given:
    """What a view gives away. No sentence need stand behind it, so that there is no report as other pages give."""

    name: str
    """Begins its files' names."""
    facts: Mapping[str, Any]
    """What the numbers are of, as every file says."""
    tables: Mapping[str, Callable[[], Rows]]
    """By what they hold."""
    code: str
    """Python that gives the same numbers."""
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


def choose_view(views: Sequence[str], key: str) -> tuple[str, "PopoverContainer"]:
    """The switch, and what the view gives away beside it: the view chosen, and the popover for take_it_with_you.

    The first view until somebody chooses. The address bar holds it under `key`.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        chosen = st.segmented_control(
            "View", views, default=views[0], required=True, key=key, bind="query-params", label_visibility="collapsed"
        )
        take = st.popover("Take it with you", width="content", key="take", on_change="rerun")
    return chosen or views[0], take


def take_it_with_you(place: "PopoverContainer", given: Given | None) -> None:
    """What the popover holds, once it is opened; each file is made when it is asked for."""
    if not place.open:
        return
    with place:
        if given is None:
            st.info("There is nothing here to take: this view shows nothing yet.")
            return
        facts = {"program": "Roundtable", "version": __version__, **given.facts}
        st.markdown("**The numbers**")
        arrays = (lambda: given.arrays) if given.arrays else None
        number_buttons(given.tables, arrays, facts, given.name, "take")
        st.markdown("**The picture**: the camera at the top right of a chart saves it as SVG, as it stands")
        st.markdown("**As code**: the same numbers from Python")
        st.code(given.code, language="python", wrap_lines=True)
        st.caption("The address bar holds this view: a copy of it shows the same in another browser.")


def table_rows(table: np.ndarray, **first: np.ndarray) -> Rows:
    """One row a row of a table, one column a dimension; before them the one named, by default the position."""
    named = first or {"position": np.arange(len(table))}
    return column_rows(**named, **{f"d{dimension}": table[:, dimension] for dimension in range(table.shape[1])})


def column_rows(**columns: Sequence[Any] | np.ndarray) -> Rows:
    """Columns of the same length as rows."""
    lists = {name: np.asarray(values).tolist() for name, values in columns.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def choose_side(place: DeltaGenerator) -> str:
    """encoder or decoder."""
    chosen = place.segmented_control(
        "Attention", SIDES, default=SIDES[0], required=True, key="side", bind="query-params"
    )
    return chosen or SIDES[0]


def choose_number(place: DeltaGenerator, label: str, n: int, key: str) -> int:
    """Which of n heads or layers."""
    options = [str(at) for at in range(n)]
    chosen = place.segmented_control(label, options, default="0", required=True, key=key, bind="query-params")
    return int(chosen) if chosen in options else 0
