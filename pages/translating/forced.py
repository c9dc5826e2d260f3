"""The beginning that decoding goes on from: pieces that a person clicked, in the address bar as ids, with an undo."""

from collections.abc import Sequence

import streamlit as st

from ui.sidebar import Request

PARAMETER = "prefix"
_STATE = "translation_prefix"


def forced_prefix(request: Request, n_pieces: int, longest: int) -> tuple[tuple[int, ...], str]:
    """The ids that decoding begins with, and what was wrong with those in the link, if anything.

    They belong to one model and sentence: with another they are dropped. n_pieces: in the vocabulary. longest: the most
    ids that the model takes.
    """
    of = (request.model, request.sentence)
    state, problem = st.session_state.get(_STATE), ""
    if state is None:
        ids, problem = parse(st.query_params.get(PARAMETER, ""), n_pieces, longest)
        state = {"of": of, "history": [()] if ids else [], "ids": ids}
    elif state["of"] != of:
        state = {"of": of, "history": [], "ids": ()}
    st.session_state[_STATE] = state
    _write(state["ids"])
    return state["ids"], problem


def parse(text: str, n_pieces: int, longest: int) -> tuple[tuple[int, ...], str]:
    """Ids such as "17-230" and no problem, or no ids and a sentence that says what is wrong."""
    from transformer.text.tokenizer import EOS

    parts = text.split("-") if text else []
    if len(parts) > longest:
        return (), f"The link's {PARAMETER} was ignored: it has {len(parts):,} pieces; allowed are {longest:,}."
    for part in parts:
        if not (part.isascii() and part.isdecimal() and len(part) < 10 and EOS < int(part) < n_pieces):
            return (), (
                f"The link's {PARAMETER} was ignored: it holds {part[:40]!r}, which names no piece; allowed are "
                f"numbers from {EOS + 1} to {n_pieces - 1}, with '-' between them."
            )
    return tuple(map(int, parts)), ""


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


def _write(ids: Sequence[int]) -> None:
    shown = "-".join(map(str, ids))
    if shown != st.query_params.get(PARAMETER, ""):
        if shown:
            st.query_params[PARAMETER] = shown
        else:
            del st.query_params[PARAMETER]
