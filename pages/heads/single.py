"""One sentence: all heads as a grid, and one of them opened."""

import streamlit as st

from pages.heads.view import View
from pages.heads.views import VIEWS
from transformer.analysis.attention import Attention
from ui.captions import (
    NOT_EXPLANATION,
    near_uniform_line,
    opened_note,
    opened_title,
    translation_line,
    what_it_attends_to,
)
from ui.filtered_state import entropies, filtered_attention, opened_entropy
from ui.head_grid import column_width, head_grid
from ui.markdown import plain
from ui.sidebar import Request
from ui.state import trace

COLUMNS = (5, 6)  # the grid and the opened head
COLUMNS_OF_LONG = (2, 5)  # from LONG tokens on, so that there is room for their labels; but many heads need theirs
LONG, MANY = 40, 8


def one_sentence(request: Request, view: View) -> None:
    """The grid with the translation below it, and the opened head in one of its views."""
    attention = attention_of(request, view)
    if 0 in attention.mask.shape:
        st.info("Nothing is here but special tokens: show them again, or type another sentence or target.")
        return
    layer, head = view.place(attention)
    long = max(attention.mask.shape) >= LONG and len(attention.heads) <= MANY
    columns = COLUMNS_OF_LONG if long else COLUMNS
    left, right = st.columns(columns, gap="medium")
    with left:
        head_grid(attention, (layer, head), open_head)
    with right:
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.html(title_of(request, view, attention), width="content")
            name = opened_view()
        VIEWS[name](request, view, attention, column_width(columns, 1))
    with left:
        try:
            with st.spinner(f"{request.model} is translating …"):
                translation = trace(request.model, request.sentence, request.target, view.untrained).translation
            st.html(translation_line(translation, request.model, view.untrained, typed=request.target is not None))
        except ValueError as error:
            st.warning(plain(error))
        measured = entropies(request, view.kind, view.untrained)
        about_it = "" if view.untrained or view.filters.summary else what_it_attends_to(attention, layer, head)
        st.html(near_uniform_line(measured) + about_it + NOT_EXPLANATION)


def attention_of(request: Request, view: View) -> Attention:
    """What the controls leave of the attention of the sentence. Raises ValueError for what the model cannot take."""
    with st.spinner(f"{request.model} is reading …"):
        return filtered_attention(request, view.kind, view.untrained, view.filters)


def title_of(request: Request, view: View, attention: Attention) -> str:
    """Which head is open, and how it spreads before any filter; a summary of heads has no spread."""
    layer, head = view.place(attention)
    entropy = None
    if not view.filters.summary:
        names = attention.layers[layer], attention.heads[head]
        entropy = opened_entropy(request, view.kind, view.untrained, *names)
    title = opened_title(attention, layer, head, view.n_heads, view.untrained)
    return title + opened_note(attention, layer, head, entropy)


def opened_view() -> str:
    """Draw the switch between the views of the opened head; the one chosen."""
    names = list(VIEWS)
    chosen = st.segmented_control(
        "Opened head as", names, default=names[0], required=True, key="opened_view", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    return chosen or names[0]


def open_head(layer: str, head: str) -> None:
    """What a click into a grid does, before the page runs again."""
    st.session_state.layer = layer
    if head.isdigit():
        st.session_state.head = head
