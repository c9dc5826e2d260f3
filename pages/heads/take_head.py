"""What can be taken away of a view of the opened head: its files and its Python, made when they are asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.heads.view import View
from transformer.analysis.about import About
from transformer.analysis.as_code import as_code
from transformer.analysis.export_table import Rows, table_csv
from transformer.analysis.head_files import head_code, head_facts, head_npz
from transformer.analysis.svg_lines import lines_svg
from ui.export_state import view_about
from ui.lines import Lines
from ui.sidebar import Request
from ui.take import file_button, picture_buttons

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

SHOWN = {"Q": "q", "K": "k", "V": "v", "softmax": "pattern"}
"""Names of matrices in HeadParts, where they are others than on the page."""


@dataclass(frozen=True)
class Taken:
    """What a view of one head gives away beside the head's matrices."""

    name: str
    """Of the view and what is chosen in it, for the files' names."""
    draw: Callable[[About], str]
    """Its picture as SVG."""
    tables: Mapping[str, Callable[[], Rows]]
    """What is offered as CSV, by what it holds."""
    shown: str
    """The last line of its Python, after "head."."""


def take_parts(request: Request, view: View, parts: "HeadParts", taken: Taken) -> None:
    """The view's picture, its tables, the head's matrices, and the Python whose last line is what is shown."""
    take = st.popover("Take this view", width="content", key="take_view", on_change="rerun")
    if not take.open:
        return
    with take:
        name = f"{request.model}-{parts.kind}-L{parts.layer}-H{parts.head}"
        about = _about(request, view)
        with st.container(horizontal=True):
            picture_buttons(taken.draw(about), f"{name}-{taken.name}", "view")
            file_button("NPZ", partial(head_npz, parts, about), name, "view")
        with st.container(horizontal=True):
            for place, (said, rows) in enumerate(taken.tables.items()):
                make = partial(_csv, rows, parts, about)
                file_button("CSV", make, f"{name}-{taken.name}-{said}", f"view_{place}", f"CSV, {said}")
        place = parts.kind, parts.layer, parts.head
        st.markdown("**As code**: the same numbers from Python")
        code = head_code(request.model, request.sentence, request.target, place, taken.shown, untrained=view.untrained)
        st.code(code, language="python", wrap_lines=True)


def _csv(rows: Callable[[], Rows], parts: "HeadParts", about: About) -> bytes:
    return table_csv(rows(), head_facts(parts, about))


def take_lines(request: Request, view: View, lines: Lines) -> None:
    """The picture of lines as it stands there, and the Python that draws the same."""
    take = st.popover("Take this view", width="content", key="take_view", on_change="rerun")
    if not take.open:
        return
    with take:
        svg = lines_svg(lines.attention, lines.layer, lines.heads, _about(request, view), lines.queries)
        heads = "-".join(f"H{lines.attention.heads[head]}" for head in lines.heads)
        name = f"{request.model}-{view.kind}-L{lines.attention.layers[lines.layer]}-{heads}-lines"
        with st.container(horizontal=True):
            picture_buttons(svg, name, "view")
        st.markdown("**As code**: the same weights from Python")
        opened = lines.layer, lines.heads[0]
        code = as_code(
            request.model, request.sentence, request.target, view.kind, view.filters,
            untrained=view.untrained, opened=opened,
        )  # fmt: skip
        st.code(code, language="python", wrap_lines=True)


def _about(request: Request, view: View) -> About:
    with st.spinner("Preparing …"):
        return view_about(request, view.filters, view.untrained)
