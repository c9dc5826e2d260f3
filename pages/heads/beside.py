"""Two sentences on the same model, with the same controls: two grids, two opened heads."""

from dataclasses import replace

import streamlit as st

from pages.heads.opened_map import draw_map
from pages.heads.single import attention_of, open_head, title_of
from pages.heads.view import View
from transformer.analysis.attention import Attention
from ui.captions import translation_line
from ui.head_grid import column_width, head_grid
from ui.markdown import plain
from ui.sidebar import Request, examples
from ui.state import trace


def two_sentences(request: Request, view: View) -> None:
    """The sidebar's sentence on the left, a second one on the right; the model writes the second one's target."""
    st.text_input(
        "Second sentence", examples(request.model)[1], key="second", bind="query-params", autocomplete="off",
        help="Read by the same model; the model writes its translation, whatever target the sidebar has.",
    )  # fmt: skip
    sides = (request, second_of(request))
    shown: list[Attention | None] = []
    columns = st.columns(2, gap="medium")
    for place, (side, column) in enumerate(zip(sides, columns, strict=True)):
        with column:
            shown.append(_grid(side, view, place))
    # Below both grids, so that the opened heads stand at the same height.
    for place, (side, column, attention) in enumerate(zip(sides, st.columns(2, gap="medium"), shown, strict=True)):
        if attention is not None:
            with column:
                layer, head = view.place(attention)
                st.html(title_of(side, view, attention))
                draw_map(attention, layer, head, column_width((1, 1), place), key=f"opened_{place}")


def second_of(request: Request) -> Request:
    """What is asked for on the right; an empty sentence where nothing is typed there."""
    return replace(request, sentence=st.session_state.get("second") or "", target=None)


def _grid(request: Request, view: View, place: int) -> Attention | None:
    """A sentence's grid below its translation; its attention, None where there is nothing to open."""
    try:
        attention = attention_of(request, view)
        if 0 in attention.mask.shape:
            st.info("Nothing is here but special tokens: show them again, or type another sentence.")
            return None
        head_grid(attention, view.place(attention), open_head, key="head_grid" if place == 0 else "second_grid")
        with st.spinner(f"{request.model} is translating …"):
            translation = trace(request.model, request.sentence, request.target, view.untrained).translation
        st.html(translation_line(translation, request.model, view.untrained, typed=request.target is not None))
    except ValueError as error:
        st.warning(plain(error))
        return None
    return attention
