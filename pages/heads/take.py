"""Take it with you: the present view as files, each made when it is asked for, and as Python."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from pages.heads.single import attention_of
from pages.heads.view import View
from transformer.analysis.attention import Attention
from transformer.export.about import About
from transformer.export.as_code import as_code
from transformer.export.palette import head_name
from ui.export_state import report, view_about
from ui.sidebar import Request
from ui.take import file_button, file_stem, picture_buttons

PICTURES = ("all heads", "opened head")
NOTHING = "There is nothing here to take: show special tokens again, or type another sentence or target."
LINK = "The address bar holds this view: a copy of it shows the same in another browser."


def take_it_with_you(request: Request, view: View) -> None:
    """What the popover holds, once it is opened."""
    attention = attention_of(request, view)
    if 0 in attention.pattern.shape:
        st.info(NOTHING)
        return
    with st.spinner("Preparing …"):
        about = view_about(request, view.filters, view.untrained)
    place = view.place(attention)
    take_picture([(attention, about)], place, f"{about.model}-{view.kind}", svg_of)
    st.markdown("**The numbers**, all heads shown here")
    _numbers(attention, about, f"{about.model}-{view.kind}")
    st.markdown("**A report** for reading, one file that needs no network")
    make = partial(report, request, view.filters, view.kind, place, view.untrained)
    file_button("HTML", make, f"{about.model}-{view.kind}", "take")
    show_code(request, view, place)


def take_picture(
    views: Sequence[tuple[Attention, About]],
    place: tuple[int, int],
    name: str,
    draw: Callable[[Sequence[tuple[Attention, About]], tuple[int, int] | None], str],
) -> None:
    """The choice between all heads and the opened one, and the files of its picture."""
    st.markdown("**The picture**")
    chosen = st.segmented_control(
        "Picture of", PICTURES, default=PICTURES[0], required=True, key="picture_of", label_visibility="collapsed"
    )
    opened = place if chosen == PICTURES[1] else None
    if opened:
        attention = views[0][0]
        name += "-" + head_name(attention.layers[place[0]], attention.heads[place[1]]).replace("·", "-")
    with st.container(horizontal=True, key="pictures"):
        picture_buttons(draw(views, opened), name, "take")
    st.caption(f"Saved as `{file_stem(name)}`, with what it shows and of which model inside.")


def svg_of(views: Sequence[tuple[Attention, About]], head: tuple[int, int] | None) -> str:
    """All heads of the first view, or one of them."""
    from transformer.export.svg_grid import grid_svg
    from transformer.export.svg_head import head_svg

    attention, about = views[0]
    return grid_svg(attention, about) if head is None else head_svg(attention, *head, about)


def show_code(request: Request, view: View, place: tuple[int, int], second: str | None = None) -> None:
    st.markdown("**As code**: the same numbers from Python")
    code = as_code(
        request.model, request.sentence, request.target, view.kind, view.filters,
        untrained=view.untrained, opened=place, second=second,
    )  # fmt: skip
    st.code(code, language="python", wrap_lines=True)
    st.caption(LINK)


def _numbers(attention: Attention, about: About, name: str) -> None:
    from transformer.export.formats import view_csv, view_npz
    from transformer.export.trace_json import view_json

    with st.container(horizontal=True, key="numbers"):
        for kind, make in (("CSV", view_csv), ("NPZ", view_npz), ("JSON", view_json)):
            file_button(kind, partial(make, attention, about), name, "take")
