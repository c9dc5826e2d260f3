"""What a link asked for that is not there: Streamlit leaves it out without a word, so the page says it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.captions import left_out_line

_STREAMLITS = ("embed", "embed_options")
Asked = Mapping[str, Sequence[str]]


def asked_for() -> Asked:
    """What the address said when a person came with it; {} on every later run.

    st.query_params no longer holds what the sidebar's controls have already refused, so that Streamlit's own record of
    the address is read. Where a later version keeps it elsewhere, nothing is said of a link's nonsense.
    """
    if st.session_state.get("arrived"):
        st.session_state.left_out = []
        return {}
    st.session_state.arrived = True
    context: Any = get_script_run_ctx()
    with suppress(AttributeError), context.session_state.query_params() as record:
        return {key: list(values) for key, values in record._initial_query_params.items() if key not in _STREAMLITS}
    return {}


def ignored_line(asked: Asked, keys: Sequence[str], held: Mapping[Any, Any]) -> str:
    """What was left out of the link that a person came with, as HTML; said until the whole page runs again.

    keys: all parameters that the page knows. held: what they stand for now.
    """
    if "left_out" not in st.session_state:
        st.session_state.left_out = left_out(asked, held, keys)
        for key in set(asked) - set(keys):
            with suppress(KeyError):
                del st.query_params[key]
    return left_out_line(st.session_state.left_out)


def left_out(asked: Asked, held: Mapping[Any, Any], keys: Sequence[str]) -> list[str]:
    """Each parameter that its control did not take, as "layer=99", and then each that the page does not know."""
    refused = [
        f"{key}={value}"
        for key in keys
        for value in asked.get(key, ())
        if key in held and value != "" and not _taken(value, held[key])
    ]
    known = set(keys)
    return refused + [f"{key}={value}" if value else key for key in asked if key not in known for value in asked[key]]


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
