"""What can be taken away of a view of the opened head: its files and its Python, made when they are asked for."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.heads.view import View
from transformer.analysis.about import About
from transformer.analysis.as_code import as_code
from transformer.analysis.head_files import head_code, head_npz, pair_csv
from transformer.analysis.svg_lines import lines_svg
from ui.export_state import view_about
from ui.lines import Lines
from ui.png_button import png_button
from ui.sidebar import Request

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

SHOWN = {"Q": "q", "K": "k", "V": "v", "softmax": "pattern"}
"""Names of matrices in HeadParts, where they are others than on the page."""


def take_parts(request: Request, view: View, parts: "HeadParts", pair: tuple[int, int] | None, shown: str) -> None:
    """The head's matrices, a pair's dimensions where there is a pair, and the Python whose last line is `shown`."""
    take = st.popover("Take this view", width="content", key="take_view", on_change="rerun")
    if not take.open:
        return
    with take:
        name = f"{request.model}-{parts.kind}-L{parts.layer}-H{parts.head}"
        with st.container(horizontal=True):
            about = _about(request, view)
            _file("NPZ", partial(head_npz, parts, about), f"{name}.npz", "application/octet-stream")
            if pair is not None:
                _file("CSV", partial(pair_csv, parts, *pair), f"{name}-{pair[0]}-{pair[1]}.csv", "text/csv")
        place = parts.kind, parts.layer, parts.head
        st.markdown("**As code**: the same numbers from Python")
        code = head_code(request.model, request.sentence, request.target, place, shown, untrained=view.untrained)
        st.code(code, language="python", wrap_lines=True)


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
            _file("SVG", svg.encode(), f"{name}.svg", "image/svg+xml")
            with st.container(width=120):
                png_button("PNG", svg, f"{name}.png", key="png_view")
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


def _file(label: str, data, file_name: str, mime: str) -> None:
    st.download_button(label, data, file_name, mime, key=f"view_{label.lower()}", on_click="ignore", width=120)
