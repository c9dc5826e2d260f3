"""Which step of decoding is looked at: in the address bar, unless it is the one that a page opens with."""

import streamlit as st

from ui.link import hold

PARAMETER = "decoding_step"
_SLIDER, _STATE = "translation_step", "translation_at"


def position(of: object, n_positions: int, first_shown: int) -> int:
    """The target position being written, counted from 0, at most n_positions − 1.

    of: what is decoded; with another the replay stands at `first_shown` again.
    What the link says and no position is counts as nothing; held() shows it.
    """
    state = st.session_state.get(_STATE)
    if state is None:
        wanted = st.query_params.get(PARAMETER, "")
        number = int(wanted) - 1 if wanted.isascii() and wanted.isdecimal() and len(wanted) < 6 else -1
        state = {"of": of, "at": number if 0 <= number < n_positions else None}
    elif state["of"] != of:
        state = {"of": of, "at": None}
    st.session_state[_STATE] = state
    at = first_shown if state["at"] is None else min(state["at"], n_positions - 1)
    state["shown"] = at + 1
    hold(PARAMETER, "" if at == first_shown else str(at + 1))
    return at


def slider(n_positions: int, at: int) -> None:
    """Draw the slider; moving it changes the position of the next run."""
    if n_positions < 2:
        return
    st.session_state[_SLIDER] = at + 1
    st.slider(
        "Step: the token being written", 1, n_positions, key=_SLIDER, on_change=_moved,
        help="The arrow keys move it by one.",
    )  # fmt: skip


def go_to(at: int) -> None:
    """From the next run on."""
    st.session_state[_STATE]["at"] = at


def go_to_after(of: object, at: int) -> None:
    """The same, when what is decoded changes too."""
    st.session_state[_STATE] = {"of": of, "at": at}


def held() -> dict[str, int]:
    """The step as the address bar counts it, by its parameter; nothing where none has been shown."""
    shown = (st.session_state.get(_STATE) or {}).get("shown")
    return {} if shown is None else {PARAMETER: shown}


def _moved() -> None:
    go_to(st.session_state[_SLIDER] - 1)
