"""Translation: decoding as it happens, what else could have been written, and which source word stands behind which."""

from pathlib import Path

import streamlit as st

from pages.translating import forced, replay
from pages.translating.alignment import alignment
from pages.translating.comparing import comparing
from pages.translating.decoding import decoding
from pages.translating.deleting import deleting
from pages.translating.take import take_it_with_you
from pages.translating.view import controls
from ui.link import link_line
from ui.markdown import plain
from ui.sidebar import NO_MODEL, Request
from ui.state import load, show_page

TABS = ("Decoding", "Alignment", "Without a word", "Compare")
KEYS = (
    *("model", "sentence", "target", "beam", "alpha", "hypothesis", "translation_tab", "cross_layer", "align_layer"),
    *("align_head", "align_rows", "align_by", "align_threshold", "second_target"),
    *(forced.PARAMETER, replay.PARAMETER),
)
"""What a link to this page may say."""
STYLE = Path(__file__).parents[1] / "ui" / "translation_style.css"

EXPLANATION = r"""
The decoder writes one token at a time (§3.1 of [the paper](https://arxiv.org/abs/1706.03762)): from the source and
from what it has written so far it computes a probability for every piece of the vocabulary. **Greedy** search takes the
likeliest each time. **Beam search** keeps several hypotheses and ranks those that have ended by

$$\text{score} = \frac{\log p(y \mid x)}{\left(\frac{5 + |y|}{6}\right)^{\alpha}}$$

(§6.1; Wu et al. 2016): without the length penalty short translations would win, since every further token lowers the
sum. Probabilities are shown with their entropy H in nats: e^H is the number of equally likely pieces that would leave
the model as unsure.

**Cross-attention** says which source tokens a step looks at. Read as an alignment it says which word stands behind
which; the alignment error rate (Och & Ney 2003) is 0 where that is what people say, too. What a step looks at is not
what it needs: *Without a word* deletes each source word and scores the same translation again.
"""


def show() -> None:
    request: Request | None = st.session_state.request
    st.html(STYLE)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title("Translation", anchor=False, width="content")
        with st.popover("What am I looking at?", type="tertiary", width="content"):
            st.markdown(EXPLANATION)
    st.markdown(
        "The model writes one token at a time. **Each card is a token**: how likely it was, and what else could have "
        "stood there. Click an alternative, and decoding goes on from it."
    )
    if request is None:
        st.info(NO_MODEL)
    else:
        translation(request)


@st.fragment
def translation(request: Request) -> None:
    """Controls, the translation, and one of the tabs. A click runs this part alone."""
    try:
        with st.spinner(f"Loading {request.model} …"):
            load(request.model)
        view, take = controls(request)
    except ValueError as error:
        st.warning(plain(error))
        return
    note = st.container(key="view_note", gap=None)
    tabs = st.tabs(TABS, key="translation_tab", bind="query-params")
    for tab, content in zip(tabs, (decoding, alignment, deleting, comparing), strict=True):
        if tab.open:
            try:
                with tab:
                    taken = content(view)
                if take.open:
                    with take:
                        take_it_with_you(view, taken)
            except ValueError as error:
                tab.warning(plain(error))
    if said := link_line(KEYS, {**st.session_state, **forced.held(), **replay.held()}):
        note.html(said)


show_page(show)
