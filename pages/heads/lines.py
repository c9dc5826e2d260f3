"""The opened head, and any others of its layer, as lines between words from the chosen queries."""

import streamlit as st

from pages.heads.pair import numbered, place_of
from pages.heads.take_head import take_lines
from pages.heads.view import View
from transformer.analysis.attention import Attention
from transformer.export.about import About
from ui.lines import chosen_lines, lines_picture
from ui.markdown import plain
from ui.sidebar import Request
from ui.state import about


def lines(request: Request, view: View, attention: Attention, width: int) -> None:
    """Queries and heads to choose, and the picture; a word that is clicked is chosen too."""
    layer, opened = view.place(attention)
    options = numbered(attention.queries.labels)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        queries = st.multiselect(
            "From queries", options, key="line_queries", bind="query-params", placeholder="all of them",
            help="Click words on the left of the picture, or choose here.",
        )  # fmt: skip
        names: list[str] = []
        if len(attention.heads) > 1:
            names = st.pills(
                f"Heads of layer {attention.layers[layer]}", attention.heads, selection_mode="multi", key="line_heads",
                bind="query-params", width="content", help="None chosen: the opened head.",
            )  # fmt: skip
    heads = [attention.heads.index(name) for name in names if name in attention.heads] or [opened]
    try:
        drawn = chosen_lines(attention, layer, sorted(heads), sorted(map(place_of, queries)))
    except ValueError as error:
        st.info(plain(error))
        return
    left, right = st.columns((3, 1), gap="small")
    left.html(
        '<div class="note">From a query on the left to the keys that it attends to. Click a word on the left for its '
        f"lines alone, and more words to add theirs. {drawn.note}</div>"
    )
    with right:
        take_lines(request, view, drawn)
    step = about(request.model).get("step", 0)
    made = About(request.model, 0 if view.untrained else step, request.sentence, request.target, str(view.filters))
    lines_picture(drawn, made, lambda query: toggle(options[query]))


def toggle(option: str) -> None:
    """What a click on a word does, before the page runs again: chosen or no longer chosen."""
    chosen = list(st.session_state.get("line_queries") or [])
    st.session_state.line_queries = (
        [each for each in chosen if each != option] if option in chosen else [*chosen, option]
    )
