"""Positional encodings: the waves of §3.5, what training makes of learned ones, and what both do inside a model."""

import streamlit as st

from pages.encodings.beside import beside
from pages.encodings.inside import inside
from pages.encodings.waves import WIDTHS, waves
from ui.encoding_state import n_tokens
from ui.link import link_line
from ui.sidebar import Request
from ui.state import show_page

TABS = ("Waves", "Learned beside fixed", "In the model")
KEYS = (
    *("model", "sentence", "target", "tab", "waves", "d_model", "base", "positions", "position", "k"),
    *(f"pairs_{width}" for width in WIDTHS),
    *("beside_view", "learned", "when", "beside_positions", "query_at", "key_at", "together", "alibi_heads"),
    *("inside", "sharpness", "side", "part_head", "at_layer", "task", "measured_by"),
)
"""What a link to this page may say."""


def show() -> None:
    request: Request | None = st.session_state.request
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title("Positional encodings", anchor=False, width="content")
        with st.popover("What am I looking at?", type="tertiary", width="content"):
            explain()
    st.markdown(
        "Attention by itself takes no notice of word order. The paper adds to each word **a vector that says where "
        "it stands**."
    )
    note = st.container(key="link_note", gap=None)
    tabs = st.tabs(TABS, key="tab", bind="query-params")
    if tabs[0].open:
        with tabs[0]:
            waves(n_tokens(request))
    if tabs[1].open:
        with tabs[1]:
            beside()
    if tabs[2].open:
        with tabs[2]:
            inside(request)
    if said := link_line(KEYS, st.session_state):
        note.html(said)


def explain() -> None:
    st.markdown(
        r"""
Self-attention compares every word with every other and takes no notice of where they stand: shuffle the words, and an
encoder's outputs shuffle along. So [the paper](https://arxiv.org/abs/1706.03762) (§3.5) adds a vector to each word
before the first layer of encoder and decoder, of the same width d_model as the word's own,

$$PE_{(pos,\,2i)} = \sin\!\left(\frac{pos}{10000^{2i/d_{model}}}\right) \qquad
PE_{(pos,\,2i+1)} = \cos\!\left(\frac{pos}{10000^{2i/d_{model}}}\right)$$

- **Sinusoidal** positions are fixed waves, the lengths of which grow from 2π to almost 10000 · 2π by one factor from
  pair to pair. For any k, PE(pos + k) is PE(pos) turned by one and the same rotation Mₖ: the paper hoped that a model
  would thereby easily learn to attend by relative position.
- **Learned** positions are one trained vector for each position, up to a last one. In the paper they did as well
  (Table 3, row E).
- **RoPE** ([Su et al. 2021](https://arxiv.org/abs/2104.09864)) adds nothing; it turns queries and keys by their
  positions.
- **ALiBi** ([Press et al. 2021](https://arxiv.org/abs/2108.12409)) takes a penalty off each score that grows with
  distance.

The paper chose sinusoids "because it may allow the model to extrapolate to sequence lengths longer than the ones
encountered during training". It never tested that; the last view of *In the model* does.
"""
    )


show_page(show)
