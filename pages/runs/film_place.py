"""Where the film stands, in the address bar: its step, unless it is the newest, and the head that is open."""

from collections.abc import Sequence

import streamlit as st

from ui.link import hold

STEP, LAYER, HEAD = "training_step", "training_layer", "training_head"
PARAMETERS = (STEP, LAYER, HEAD)
_WANTED, _SHOWN = "film_wanted", "film_shown"


def standing(steps: Sequence[int], n_layers: int, n_heads: int) -> tuple[int | None, int, int]:
    """Step, layer and head that the film was left at or a link asks for.

    The step is None for the newest. What is not there is the newest step, the last layer, the first head.
    """
    if _WANTED not in st.session_state:
        st.session_state[_WANTED] = tuple(_number(parameter) for parameter in PARAMETERS)
    step, layer, head = st.session_state[_WANTED]
    step = step if step in steps[:-1] else None
    first = n_layers - 1, 0
    layer = layer if layer in range(n_layers) else first[0]
    head = head if head in range(n_heads) else first[1]
    st.session_state[_WANTED] = step, layer, head
    st.session_state[_SHOWN] = {STEP: steps[-1] if step is None else step, LAYER: layer, HEAD: head}
    hold(STEP, "" if step is None else str(step))
    for parameter, value in ((LAYER, layer), (HEAD, head)):
        hold(parameter, "" if (layer, head) == first else str(value))
    return step, layer, head


def held() -> dict[str, int]:
    """What the film shows, by its parameters; nothing where there was no film."""
    return st.session_state.get(_SHOWN, {})


def rest(step: int | None, layer: int, head: int) -> None:
    """From the next run on."""
    st.session_state[_WANTED] = step, layer, head


def _number(parameter: str) -> int | None:
    said = st.query_params.get(parameter, "")
    return int(said) if said.isascii() and said.isdecimal() and len(said) < 10 else None
