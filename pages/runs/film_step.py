"""Which step the film stands at: in the address bar, unless it is the newest."""

from collections.abc import Sequence

import streamlit as st

from ui.link import hold

PARAMETER = "training_step"
_STATE, _SHOWN = "film_step", "film_shown"


def standing(steps: Sequence[int]) -> int | None:
    """The step that the film was left at or a link asks for; None for the newest, and where there is no such step."""
    if _STATE not in st.session_state:
        wanted = st.query_params.get(PARAMETER, "")
        number = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) < 10 else None
        st.session_state[_STATE] = number
    step = st.session_state[_STATE]
    if step not in steps[:-1]:
        step = st.session_state[_STATE] = None
    st.session_state[_SHOWN] = steps[-1] if step is None else step
    hold(PARAMETER, "" if step is None else str(step))
    return step


def held() -> dict[str, int]:
    """The step that the film shows, by its parameter; nothing where there was no film."""
    return {PARAMETER: st.session_state[_SHOWN]} if _SHOWN in st.session_state else {}


def rest(step: int | None) -> None:
    """From the next run on."""
    st.session_state[_STATE] = step
