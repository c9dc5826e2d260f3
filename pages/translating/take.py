"""Take it with you: what a tab of the page shows as pictures, numbers and one report, each made when asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from pages.translating.export import about_of, facts_of
from pages.translating.state import evaluation
from pages.translating.view import View
from transformer.analysis.about import About
from transformer.analysis.export_table import Rows, arrays_npz, encoded, table_csv, table_json
from transformer.analysis.trace import Trace
from ui.state import about as configuration
from ui.take import file_button, picture_buttons

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Taken:
    """What a tab gives away."""

    trace: Trace
    """Of the sentence and the target that it is about."""
    title: str
    """Of its report."""
    pictures: Mapping[str, Callable[[About, Facts], str]]
    """SVG files by what they show."""
    tables: Mapping[str, Callable[[], Rows]]
    """By what they hold."""
    arrays: Callable[[], Mapping[str, np.ndarray | Sequence[str]]]


def take_it_with_you(view: View, taken: Taken | None) -> None:
    """What the popover holds, once it is opened."""
    if taken is None:
        st.info("There is nothing here to take: this tab shows nothing of this sentence yet.")
        return
    about = about_of(view, taken.trace)
    facts = facts_of(view, about)
    st.markdown("**The pictures**")
    for place, (name, draw) in enumerate(taken.pictures.items()):
        with _row(name):
            picture_buttons(draw(about, facts), f"{view.model}-{name}", f"take_{place}")
    st.markdown("**The numbers**")
    for name, rows in taken.tables.items():
        file = f"{view.model}-{name}"
        with _row(name):
            file_button("CSV", lambda rows=rows: table_csv(rows(), facts), file, f"take_{name}")
            file_button("JSON", lambda name=name, rows=rows: table_json(name, rows(), facts), file, f"take_{name}")
    with _row("arrays"):
        file_button("NPZ", lambda: arrays_npz(taken.arrays(), facts), f"{view.model}-arrays", "take")
    st.markdown("**A report** for reading, one file that needs no network")
    file_button("HTML", partial(report, view.model, taken, about, facts), f"{view.model}-translation", "take")
    st.caption("Model, step, sentence and version stand inside every file.")


def report(model: str, taken: Taken, about: About, facts: Facts) -> bytes:
    """All of the tab's pictures and tables in one HTML file."""
    from transformer.analysis.report_views import views_report

    html = views_report(
        taken.trace, about, facts, taken.title,
        {name: draw(about, facts) for name, draw in taken.pictures.items()},
        {name: rows() for name, rows in taken.tables.items()},
        config=configuration(model), evaluation=evaluation(model),
    )  # fmt: skip
    return encoded(html)


def _row(name: str):
    """A row that begins with what its buttons save."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with row:
        st.markdown(name, width="stretch")
    return row
