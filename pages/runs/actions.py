"""What can be done with a run: go on, look at its heads, rename it, delete it."""

import streamlit as st

from transformer.folders import CheckpointError
from transformer.training import runs
from transformer.training.runs import Run
from ui.go_to import go_to
from ui.markdown import plain


def resume(name: str) -> None:
    try:
        runs.resume(name)
    except (ValueError, OSError) as error:
        st.toast(plain(error))


def open_on_head_maps(run: Run) -> None:
    """A button that shows the run's model on the page Head maps, on its first probe sentence."""
    st.button("Open on Head maps", key=f"open_{run.name}", on_click=_open, args=(run,))


@st.dialog("Rename a run")
def ask_to_rename(name: str) -> None:
    st.text_input("New name", name, max_chars=60, key=f"new_name_{name}")
    with st.container(horizontal=True):
        renamed = st.button("Rename", key="rename_now", on_click=_rename, args=(name,))
        kept = st.button("Leave it", key="rename_not")
    _close_or_say(renamed, kept)


@st.dialog("Delete a run")
def ask_to_delete(name: str) -> None:
    st.markdown(f"Delete **{plain(name)}** with its weights, curves and recorded patterns? This cannot be undone.")
    with st.container(horizontal=True):
        deleted = st.button("Delete for good", key="delete_now", on_click=_delete, args=(name,))
        kept = st.button("Keep it", key="delete_not")
    _close_or_say(deleted, kept)


def _close_or_say(done: bool, left: bool) -> None:
    """Close the dialog, unless what was asked for failed: then say why."""
    failure = st.session_state.pop("action_failure", None)
    if failure is not None:
        st.warning(plain(failure))
    elif done or left:
        st.rerun()


def _rename(name: str) -> None:
    new = st.session_state[f"new_name_{name}"].strip()
    if new == name:
        return
    try:
        runs.rename(name, new)
    except CheckpointError as error:
        st.session_state.action_failure = str(error)
        return
    if "runs" in st.session_state:
        st.session_state.runs = [new if shown == name else shown for shown in st.session_state.runs]


def _delete(name: str) -> None:
    try:
        runs.delete(name)
    except CheckpointError as error:
        st.session_state.action_failure = str(error)


def _open(run: Run) -> None:
    go_to("Head maps")
    st.session_state.model = run.name
    try:
        request = run.request
    except ValueError:
        return
    if request is not None and request.probes:
        source, _, target = request.probes[0].partition("\t")
        st.session_state.sentence, st.session_state.target = source, target
