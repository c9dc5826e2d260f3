"""Ablations: models that differ in one thing each, on numbers and on heads."""

import streamlit as st

from pages.ablating.beside import beside
from pages.ablating.minute import minute
from pages.ablating.table import table
from ui.link import link_line
from ui.sidebar import Request
from ui.state import show_page

KEYS = (
    *("model", "sentence", "target", "ablation", "beside", "kind", "target_of", "match"),
    *("opened_in", "layer", "head", "look", "curves_of"),
)
"""What a link to the page may say."""
TABS = ("Side by side", "Table 3", "In a minute")


def show() -> None:
    request: Request | None = st.session_state.request
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title("Ablations", anchor=False, width="content")
        with st.popover("What am I looking at?", type="tertiary", width="content"):
            explain()
    st.markdown(
        "**Change one thing, train again, and see what it was good for**: our small models beside the paper’s numbers, "
        "and two to four models head by head."
    )
    note = st.container(key="link_note", gap=None)
    tabs = st.tabs(TABS, key="ablation", bind="query-params")
    for tab, draw in zip(tabs, (lambda: beside(request), table, minute), strict=True):
        if tab.open:
            with tab:
                draw()
    if said := link_line(KEYS, st.session_state):
        note.html(said)


def explain() -> None:
    st.markdown(
        r"""
Table 3 of [the paper](https://arxiv.org/abs/1706.03762) changes its base model in one thing at a time: **A** the
number of heads, **B** the width of the keys, **C** depth and width, **D** dropout and label smoothing, **E** learned
positions. This page does the same with a model that trains in minutes, and adds what the paper says without an
ablation: the scale $1/\sqrt{d_k}$ of the scores, the warmup, the place of the normalization, attention itself.

- **Δ** is a variant's value less that of what it is measured against, the base where nothing else is said.
- Another seed changes a score too. A difference counts only if it is larger than the **margin** $t\, s\sqrt{1/n + 1/m}$
  that 19 of 20 further seeds of the base would stay within: $s$ is the standard deviation of the base's seeds, $t$
  Student's, $n$ and $m$ are the seeds on both sides.
- **holds**: ours and the paper's point the same way. **does not hold**: they point apart. **cannot tell**: ours is
  within the margin, the paper's is within its own rounding, or ours did not learn at all.
- *divided* rows start with $W_Q / \sqrt{d_k}$: unscaled scores that are the scaled ones at step 0. What is left of a
  difference is then not a matter of how it began.
- *rate* rows learn at half or a quarter of the rate, *pre* rows normalize before each sub-layer. Some make a change
  there that was made in the base too: is a difference a matter of the recipe? A finding is counted once, in the base.
- Side by side compares models head by head, each with the one in the sidebar. The **Jensen–Shannon divergence** of two
  patterns is 0 where they attend alike and ln 2 ≈ 0.69 where no query of theirs shares a key.
- The **noise floor** is what another seed alone makes: two models that differ in nothing else, on the same texts. A
  difference no larger than that says nothing.
"""
    )


show_page(show)
