"""Head maps: all heads of one kind of attention at once, and one of them large, with its words."""

import streamlit as st

from pages.heads.bertviz import bertviz
from pages.heads.beside import two_sentences
from pages.heads.controls import KEYS, controls
from pages.heads.single import one_sentence
from pages.heads.table import table
from pages.heads.take import take_it_with_you
from pages.heads.take_two import take_both
from ui.captions import shown_line
from ui.link import link_line
from ui.markdown import plain
from ui.sidebar import NO_MODEL, Request
from ui.state import load, show_page

TWO = "Two sentences"
TABS = {"Heads": one_sentence, TWO: two_sentences, "Table": table, "BertViz": bertviz}

EXPLANATION = r"""
Information moves between words by **attention** (§3.2 of [the paper](https://arxiv.org/abs/1706.03762)). A head
compares the query vector of each word with the key vectors of all words, and mixes their value vectors by how well
they fit:

$$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V$$

A map shows the softmax: each row, one query, sums to 1. Several heads run side by side in every layer (§3.2.2), in
three places (§3.2.3):

- **encoder**: source tokens attend to source tokens.
- **decoder**: a target token being written attends to those before it; the later ones are masked (hatched).
- **cross**: a target token being written attends to the source.

Layers and heads count from 0. A weight says where a head looks, not what it does with what it sees.

The network starts from random weights; **untrained** shows its heads there, on the same sentence. What they show too
was not learned.
"""


def show() -> None:
    request: Request | None = st.session_state.request
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title("Head maps", anchor=False, width="content")
        with st.popover("What am I looking at?", type="tertiary", width="content"):
            st.markdown(EXPLANATION)
    st.markdown(
        "Each small map is one head: rows are **queries**, columns are **keys**, and the brighter, the more a query "
        "attends. Click one, or use the arrow keys, to open it."
    )
    if request is None:
        st.info(NO_MODEL)
        return
    heads(request)


@st.fragment
def heads(request: Request) -> None:
    """Controls and what they move. A click runs this part alone; the encoder waits for no translation."""
    view, take = controls(request.model)
    note = st.container(key="view_note", gap=None)
    try:
        with st.spinner(f"Loading {request.model} …"):
            load(request.model, view.untrained)
        shown = dict(zip(TABS, st.tabs(list(TABS), key="shown", bind="query-params"), strict=True))
        for name, tab in shown.items():
            if tab.open:
                with tab:
                    TABS[name](request, view)
        if take.open:
            with take:
                (take_both if shown[TWO].open else take_it_with_you)(request, view)
    except ValueError as error:
        st.warning(plain(error))
    said = link_line(KEYS, st.session_state) + shown_line(view.kind, view.filters, view.n_heads)
    if said:
        note.html(said)


show_page(show)
