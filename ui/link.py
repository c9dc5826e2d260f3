"""What a link says beside its controls: what of it is not there, what waits, and what no control holds."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from ui.captions import left_out_line, waiting_line

Asked = Mapping[str, Sequence[str]]


def remember_link() -> None:
    """Keep what the address says when a person comes with it; for app.py, before a control is drawn that refuses it."""
    first = "asked" not in st.session_state
    st.session_state.asked = {key: st.query_params.get_all(key) for key in st.query_params} if first else {}
    st.session_state.left_out = []


def link_line(keys: Sequence[str], held: Mapping[Any, Any]) -> str:
    """What was left out of the link that a person came with, and what waits for a control that is not drawn, as HTML.

    Streamlit leaves out without a word what a control does not take. Said until the whole page runs again.
    keys: all parameters that the page knows. held: what they stand for now, of those that are drawn.
    """
    asked, said = st.session_state.asked, st.session_state.left_out
    settled = {key: asked.pop(key) for key in list(asked) if key in held or key not in keys}
    said += left_out(settled, held, keys)
    for key in set(settled) - set(keys):
        with suppress(KeyError):
            del st.query_params[key]
    waiting = [f"{key}={value}" for key in keys for value in asked.get(key, ()) if value]
    return left_out_line(said) + waiting_line(waiting)


def hold(parameter: str, value: str) -> None:
    """Put into the address what no control holds; an empty value takes the parameter out."""
    if value == st.query_params.get(parameter, ""):
        return
    if value:
        st.query_params[parameter] = value
    else:
        del st.query_params[parameter]


def left_out(asked: Asked, held: Mapping[Any, Any], keys: Sequence[str]) -> list[str]:
    """Each parameter that its control did not take, as "layer=99", and then each that the page does not know."""
    refused = [
        f"{key}={value}" for key in keys for value in asked.get(key, ()) if value != "" and not _taken(value, held[key])
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
