"""What a link asked for that is not there: Streamlit leaves it out without a word, so the page says it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def asked_for(keys: Sequence[str]) -> Mapping[str, list[str]]:
    """What the address said of these when a person came with it; {} on every later run of the page.

    st.query_params no longer holds what the sidebar's controls have already refused, so that Streamlit's own record of
    the address is read. Where a later version keeps it elsewhere, nothing is said of a link's nonsense.
    """
    if st.session_state.get("arrived"):
        return {}
    st.session_state.arrived = True
    asked: dict[str, list[str]] = {}
    context: Any = get_script_run_ctx()
    with suppress(AttributeError), context.session_state.query_params() as record:
        values = {key: record.get_initial_value(key) for key in keys}
        asked = {key: [value] if isinstance(value, str) else list(value) for key, value in values.items() if value}
    return asked


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
