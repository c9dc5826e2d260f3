"""Head maps: all heads of one kind of attention at once, and one of them large, with its words."""

import streamlit as st

from pages.heads.view import View
from pages.heads.views import VIEWS
from transformer.analysis.attention import Attention
from transformer.analysis.trace import KINDS
from ui.captions import opened_title, translation_line, what_it_attends_to
from ui.head_grid import head_grid, page_width
from ui.sidebar import NO_MODEL, Request
from ui.state import about, encoder_attention, load, show_page, trace

COLUMNS = (5, 6)  # the grid and the opened head
COLUMNS_OF_LONG = (2, 5)  # from LONG tokens on, so that there is room for their labels; but many heads need theirs
LONG, MANY = 40, 8
GAP = 32  # pixels between columns of gap="medium"
STACKED = 640  # pixels up to which Streamlit puts columns below each other

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
    else:
        heads(request)


@st.fragment
def heads(request: Request) -> None:
    """Controls, grid, opened head, translation. A click runs this part alone; the encoder waits for no translation."""
    view = controls(request.model)
    try:
        with st.spinner(f"Loading {request.model} …"):
            load(request.model)
        attention = as_viewed(attention_of(request, view.kind), view)
    except ValueError as error:
        st.warning(str(error))
        return
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
        st.html(opened_title(attention, layer, head, view.n_heads))
        width = page_width()
        if width > STACKED:
            width = (width - GAP) * columns[1] // sum(columns)
        VIEWS[opened_view()](request, view, attention, width)
    with left:
        try:
            with st.spinner(f"{request.model} is translating …"):
                translation = trace(request.model, request.sentence, request.target).translation
            st.html(translation_line(translation, request.model))
        except ValueError as error:
            st.warning(str(error))
        st.html(what_it_attends_to(attention, layer, head))


def controls(model: str) -> View:
    """The row of controls, each of them in the address bar. How many layers and heads there are says config.json."""
    shape = about(model).get("model") or {}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="controls"):
        kind = st.segmented_control(
            "Attention", KINDS, default="encoder", required=True, key="kind", bind="query-params",
            help="encoder: source to source; decoder: target to target so far; cross: target to source",
        )  # fmt: skip
        tokens = st.segmented_control(
            "Tokens", ("pieces", "words"), default="pieces", required=True, key="tokens", bind="query-params",
            help="Words merge their pieces: the sum over a word's keys, the mean over its queries.",
        )  # fmt: skip
        hide_special = st.toggle(
            "Hide special tokens", key="hide_special", bind="query-params",
            help="Leaves out `<s>` and `</s>`. Their share is not handed out again: rows then sum to less than 1.",
        )  # fmt: skip
        mean = st.toggle("Mean over heads", key="mean", bind="query-params")
        n_layers = shape.get("n_encoder_layers" if kind == "encoder" else "n_decoder_layers", 1)
        n_heads = shape.get("n_heads", 1)
        layer = st.selectbox("Layer", numbers(n_layers), key="layer", bind="query-params", width=76)
        head = st.selectbox("Head", numbers(n_heads), key="head", bind="query-params", width=76, disabled=mean)
    return View(kind, tokens == "words", hide_special, mean, layer, head, n_heads)


def opened_view() -> str:
    """Draw the switch between the views of the opened head; the one chosen."""
    names = list(VIEWS)
    chosen = st.segmented_control(
        "Opened head as", names, default=names[0], required=True, key="opened_view", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    return chosen or names[0]


def numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def attention_of(request: Request, kind: str) -> Attention:
    encoder = encoder_attention(request.model, request.sentence)
    if kind == "encoder":
        return encoder
    with st.spinner(f"{request.model} is translating …"):
        return trace(request.model, request.sentence, request.target)[kind]


def as_viewed(attention: Attention, view: View) -> Attention:
    if view.hide_special:
        attention = attention.without_special()
    if view.words:
        attention = attention.words()
    return attention.mean() if view.mean else attention


def open_head(layer: int, head: int) -> None:
    st.session_state.layer = str(layer)
    if not st.session_state.mean:
        st.session_state.head = str(head)


show_page(show)
