"""What can be taken away of two sentences: both in one picture, in one file of numbers, and in one piece of Python."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.heads.beside import second_of
from pages.heads.single import attention_of
from pages.heads.take import NOTHING, show_code, svg_of, take_picture
from pages.heads.view import View
from transformer.analysis.attention import Attention
from transformer.export.about import About
from ui.export_state import report, view_about
from ui.markdown import plain
from ui.sidebar import Request
from ui.take import file_button


def take_both(request: Request, view: View) -> None:
    """What the popover holds while two sentences are shown."""
    sides = request, second_of(request)
    try:
        attentions = [attention_of(side, view) for side in sides]
    except ValueError as error:
        st.info(plain(error))
        return
    if any(0 in attention.pattern.shape for attention in attentions):
        st.info(NOTHING)
        return
    with st.spinner("Preparing …"):
        abouts = [view_about(side, view.filters, view.untrained) for side in sides]
    views = list(zip(attentions, abouts, strict=True))
    place, name = view.place(attentions[0]), f"{abouts[0].model}-{view.kind}-two-sentences"
    take_picture(views, place, name, both_svg)
    st.markdown("**The numbers** of both sentences, all heads shown here")
    _numbers(views, name)
    st.markdown("**A report** of each, one file that needs no network")
    with st.container(horizontal=True):
        for number, side in enumerate(sides, 1):
            make = partial(report, side, view.filters, view.kind, place, view.untrained)
            file_button("HTML", make, f"{name}-{number}", f"take_{number}", f"HTML, sentence {number}")
    show_code(request, view, place, sides[1].sentence)


def both_svg(views: Sequence[tuple[Attention, About]], head: tuple[int, int] | None) -> str:
    """The same picture of each sentence, the first on the left."""
    from transformer.export.svg_document import beside

    title = f"{len(views)} sentences under {views[0][1].model}"
    sentences = [about.sentence for _, about in views]
    facts = [about.facts(attention) for attention, about in views]
    return beside([svg_of([each], head) for each in views], sentences, title, facts)


def _numbers(views: Sequence[tuple[Attention, About]], name: str) -> None:
    from transformer.export.formats import views_csv, views_npz
    from transformer.export.trace_json import views_json

    with st.container(horizontal=True, key="numbers"):
        for kind, make in (("CSV", views_csv), ("NPZ", views_npz), ("JSON", views_json)):
            file_button(kind, partial(make, views), name, "take")
