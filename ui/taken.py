"""What a view gives away, whatever page it stands on: pictures, tables, arrays and a report, made when asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from transformer.analysis.trace import Trace
from transformer.export.about import About
from transformer.export.tables import Rows, encoded
from ui.export_state import described
from ui.take import Arrays, Facts, file_button, named_row, number_buttons, picture_buttons


@dataclass(frozen=True)
class Taken:
    """What a view gives away."""

    trace: Trace
    """Of the sentence and the target that it is about."""
    title: str
    """Of its report."""
    pictures: Mapping[str, Callable[[About, Facts], str]]
    """SVG files by what they show."""
    tables: Mapping[str, Callable[[], Rows]]
    """By what they hold."""
    arrays: Callable[[], Arrays]


@dataclass(frozen=True)
class Origin:
    """Where it comes from, as every file says."""

    about: About
    facts: Facts
    model: str
    untrained: bool = False


def take_views(taken: Taken, origin: Origin, name: str, key: str) -> None:
    """Buttons for all of it; `name` begins the files' names, `key` those of the buttons."""
    about, facts = origin.about, origin.facts
    st.markdown("**The pictures**" if len(taken.pictures) > 1 else "**The picture**")
    for place, (shown, draw) in enumerate(taken.pictures.items()):
        with named_row(shown):
            picture_buttons(draw(about, facts), f"{name}-{shown}", f"{key}_{place}")
    st.markdown("**The numbers**")
    number_buttons(taken.tables, taken.arrays, facts, name, key)
    st.markdown("**A report** for reading, one file that needs no network")
    file_button("HTML", partial(report, taken, origin), f"{name}-report", key)
    st.caption("Model, step, sentence and version stand inside every file.")


def report(taken: Taken, origin: Origin) -> bytes:
    """All of the pictures and tables in one HTML file."""
    from transformer.export.report_views import views_report

    config, evaluation = described(origin.model, origin.untrained)
    html = views_report(
        taken.trace, origin.about, origin.facts, taken.title,
        {shown: draw(origin.about, origin.facts) for shown, draw in taken.pictures.items()},
        {shown: rows() for shown, rows in taken.tables.items()},
        config=config, evaluation=evaluation,
    )  # fmt: skip
    return encoded(html)
