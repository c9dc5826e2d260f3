"""What a link asked for that is not there: Streamlit leaves it out without a word, so the page says it."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def asked_for() -> Mapping[str, list[str]]:
    """The parameters of the address that a person came with, {} on every later run of the page."""
    if st.session_state.setdefault("arrived", False):
        return {}
    st.session_state.arrived = True
    context = get_script_run_ctx()
    return parse_qs(context.query_string, keep_blank_values=True) if context else {}


def left_out(asked: Mapping[str, Sequence[str]], state: Any, keys: Sequence[str]) -> list[str]:
    """Each parameter of a link that its control did not take, as "layer=99"."""
    return [
        f"{key}={value}"
        for key in keys
        for value in asked.get(key, ())
        if key in state and value != "" and not _taken(value, state[key])
    ]


def _taken(asked: str, held: Any) -> bool:
    if isinstance(held, list | tuple):
        return asked in map(str, held)
    if isinstance(held, bool):
        return asked.lower() == str(held).lower()
    if isinstance(held, int | float):
        try:
            return abs(float(asked) - held) < 1e-9
        except ValueError:
            return False
    return asked == str(held)
