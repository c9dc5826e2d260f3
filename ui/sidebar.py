"""The sidebar of every page: which model, which sentence, which target. All three stand in the address bar."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from transformer import list_checkpoints
from transformer.text.algorithmic import TASKS
from ui.active_run import active_runs
from ui.go_to import arrive
from ui.markdown import plain
from ui.state import about
from ui.train_form import train_form

if TYPE_CHECKING:
    from streamlit.navigation.page import Page

NO_MODEL = "There is no trained model here yet; `roundtable train --name mine --corpus reverse` makes one in minutes."
FIRST_CHOICE = "everyday-en-de"
LETTERS = (
    "a b c d e f g h",
    "r o u n d t a b l e",
    "a a b a a",
)
ENGLISH = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "I know the woman who bought the house.",
    "Where is the nearest train station?",
    "The law will never be perfect, but its application should be just.",
)


@dataclass(frozen=True)
class Request:
    """What the sidebar asks for."""

    model: str
    sentence: str
    target: str | None
    """None for the model's own translation."""


def sidebar(page: "Page") -> Request | None:
    """Draw the sidebar of a page. None when there is no model to choose."""
    with st.sidebar:
        request = _request()
        train_form("" if request is None else request.sentence, LETTERS[0])
        arrive(page)
        active_runs()
    return request


def _request() -> Request | None:
    models = list_checkpoints()
    if not models:
        return None
    first = models.index(FIRST_CHOICE) if FIRST_CHOICE in models else 0
    model = st.selectbox("Model", models, index=first, key="model", bind="query-params", on_change=_fit_sentence)
    st.caption(plain(describe(model)))
    sentence = st.text_area(
        "Sentence",
        examples(model)[0],
        key="sentence",
        height="content",
        bind="query-params",
        help="Ctrl + Enter (⌘ + Enter) shows its heads.",
    )
    st.menu_button("Examples", examples(model), key="example", on_click=_take_example, width="stretch")
    target = st.text_area(
        "Target",
        key="target",
        height="content",
        bind="query-params",
        placeholder="the model's own translation",
        help="Leave it empty to see the model write, or type a translation to see the model read it.",
    )
    return Request(model, sentence, target if target.strip() else None)


def examples(model: str) -> tuple[str, ...]:
    """Sentences of the kind that a model was trained on, the one to start with first."""
    corpus = (about(model).get("corpus") or {}).get("name", "")
    return LETTERS if corpus in TASKS else ENGLISH


def describe(model: str) -> str:
    """A checkpoint's size and training in one line, empty if its config.json cannot be read."""
    config = about(model)
    if not {"model", "corpus"} <= config.keys():
        return ""
    shape, corpus, step = config["model"], config["corpus"].get("name", "its corpus"), config.get("step", 0)
    layers = f"{shape['n_encoder_layers']} + {shape['n_decoder_layers']} layers of {shape['n_heads']} heads"
    return f"{layers}, d_model {shape['d_model']}, {step:,} steps on {corpus}"


def _take_example() -> None:
    if st.session_state.example is not None:
        st.session_state.sentence = st.session_state.example
        st.session_state.target = ""


def _fit_sentence() -> None:
    """For another model an example gives way to one of that model's; what somebody typed stays."""
    if st.session_state.sentence in ENGLISH + LETTERS:
        st.session_state.sentence = examples(st.session_state.model)[0]
        st.session_state.target = ""
