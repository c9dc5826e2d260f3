"""Take it with you: the present view as files, each made when it is asked for, and as Python."""

import re
from functools import partial

import streamlit as st

from pages.heads.single import attention_of
from pages.heads.view import View
from transformer.analysis.about import About
from transformer.analysis.as_code import as_code
from transformer.analysis.attention import Attention
from transformer.analysis.palette import head_name
from ui.export_state import report, view_about
from ui.png_button import png_button
from ui.sidebar import Request

PICTURES = ("all heads", "opened head")


def take_it_with_you(request: Request, view: View, *, opened: bool) -> None:
    """What the popover holds; nothing before it is opened."""
    if not opened:
        return
    attention = attention_of(request, view)
    if 0 in attention.pattern.shape:
        st.info("There is nothing here to take: show special tokens again, or type another sentence or target.")
        return
    with st.spinner("Preparing …"):
        about = view_about(request, view.filters, view.untrained)
    st.markdown("**The picture**")
    chosen = st.segmented_control(
        "Picture of", PICTURES, default=PICTURES[0], required=True, key="picture_of", label_visibility="collapsed"
    )
    layer, head = view.place(attention)
    name = f"{_plain(about.model)}-{view.kind}"
    one = head_name(attention.layers[layer], attention.heads[head]).replace("·", "-")
    if chosen == PICTURES[1]:
        _picture(attention, about, (layer, head), f"{name}-{one}")
    else:
        _picture(attention, about, None, name)
    st.markdown("**The numbers**, all heads shown here")
    _numbers(attention, about, name)
    st.markdown("**A report** for reading, one file that needs no network")
    _file(
        "HTML",
        partial(report, request, view.filters, view.kind, (layer, head), view.untrained),
        f"{name}.html",
        "text/html",
    )
    st.markdown("**As code**: the same numbers from Python")
    code = as_code(
        request.model, request.sentence, request.target, view.kind, view.filters,
        untrained=view.untrained, opened=(layer, head),
    )  # fmt: skip
    st.code(code, language="python", wrap_lines=True)
    st.caption("The address bar holds this view: a copy of it shows the same in another browser.")


def _picture(attention: Attention, about: About, head: tuple[int, int] | None, name: str) -> None:
    from transformer.analysis.svg_grid import grid_svg
    from transformer.analysis.svg_head import head_svg

    svg = grid_svg(attention, about) if head is None else head_svg(attention, *head, about)
    with st.container(horizontal=True, key="pictures"):
        _file("SVG", svg.encode(), f"{name}.svg", "image/svg+xml")
        with st.container(width=120):
            png_button("PNG", svg, f"{name}.png", key="png")
    st.caption(f"Saved as `{name}`, with what it shows and of which model inside.")


def _numbers(attention: Attention, about: About, name: str) -> None:
    from transformer.analysis.export import view_csv, view_npz
    from transformer.analysis.export_json import view_json

    with st.container(horizontal=True, key="numbers"):
        _file("CSV", partial(view_csv, attention), f"{name}.csv", "text/csv")
        _file("NPZ", partial(view_npz, attention, about), f"{name}.npz", "application/octet-stream")
        _file("JSON", partial(view_json, attention, about), f"{name}.json", "application/json")


def _file(label: str, data, file_name: str, mime: str) -> None:
    st.download_button(label, data, file_name, mime, key=f"take_{label.lower()}", on_click="ignore", width=120)


def _plain(name: str) -> str:
    """A name of letters, digits, points and hyphens, which every file system takes."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or "model"
