"""The beginning that decoding goes on from: pieces that a person clicked, in the address bar as ids, with an undo."""

from collections.abc import Sequence

import streamlit as st

from ui.link import hold
from ui.sidebar import Request

PARAMETER = "prefix"
_STATE = "translation_prefix"


def forced_prefix(request: Request, n_pieces: int, longest: int) -> tuple[int, ...]:
    """The ids that decoding begins with, at first those in the link.

    They belong to one model and sentence: with another they are dropped. n_pieces: in the vocabulary. longest: the most
    ids that the model takes.
    """
    of = (request.model, request.sentence)
    state = st.session_state.get(_STATE)
    if state is None:
        ids = parse(st.query_params.get(PARAMETER, ""), n_pieces, longest)
        state = {"of": of, "history": [()] if ids else [], "ids": ids}
    elif state["of"] != of:
        state = {"of": of, "history": [], "ids": ()}
    st.session_state[_STATE] = state
    hold(PARAMETER, _written(state["ids"]))
    return state["ids"]


def parse(text: str, n_pieces: int, longest: int) -> tuple[int, ...]:
    """Ids such as "17-230"; none where one of them names no piece, or there are more than the model takes."""
    from transformer.text.tokenizer import EOS

    parts = text.split("-")
    numbers = all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts)
    ids = tuple(map(int, parts)) if numbers else ()
    return ids if len(ids) <= longest and all(EOS < piece < n_pieces for piece in ids) else ()


def held() -> dict[str, str]:
    """The ids as the address bar writes them, by their parameter; nothing before the first search."""
    return {PARAMETER: _written(st.session_state[_STATE]["ids"])} if _STATE in st.session_state else {}


def go_on_from(ids: Sequence[int]) -> None:
    """From the next run on, decode from these ids; undo comes back to those before."""
    state = st.session_state[_STATE]
    state["history"] = [*state["history"], state["ids"]][-100:]
    state["ids"] = tuple(ids)


def undo() -> None:
    state = st.session_state[_STATE]
    state["ids"] = state["history"].pop() if state["history"] else ()


def start_over() -> None:
    go_on_from(())


def can_undo() -> bool:
    return bool(st.session_state[_STATE]["history"])


def _written(ids: Sequence[int]) -> str:
    return "-".join(map(str, ids))
