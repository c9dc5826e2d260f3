"""What can be done with a run: go on, look at its heads, rename it, delete it."""

import streamlit as st

from transformer.folders import CheckpointError
from transformer.training import runs
from transformer.training.runs import Run
from ui.go_to import go_to
from ui.run_text import plain

HEAD_MAPS = "pages/head_maps.py"


def resume(name: str) -> None:
    try:
        runs.resume(name)
    except (ValueError, OSError) as error:
        st.toast(plain(str(error)))


def open_on_head_maps(run: Run) -> None:
    """A button that shows the run's model on the page Head maps, on its first probe sentence."""
    if st.button("Open on Head maps", key=f"open_{run.name}", on_click=_choose, args=(run,)):
        go_to(HEAD_MAPS)


@st.dialog("Rename a run")
def ask_to_rename(name: str) -> None:
    new = st.text_input("New name", name, max_chars=60, key=f"new_name_{name}").strip()
    if st.button("Rename", disabled=new == name):
        try:
            runs.rename(name, new)
        except CheckpointError as error:
            st.warning(plain(str(error)))
            return
        st.session_state.renamed = (name, new)
        st.rerun()


@st.dialog("Delete a run")
def ask_to_delete(name: str) -> None:
    st.markdown(f"Delete **{plain(name)}** with its weights, curves and recorded patterns? This cannot be undone.")
    with st.container(horizontal=True):
        if st.button("Delete for good"):
            try:
                runs.delete(name)
            except CheckpointError as error:
                st.warning(plain(str(error)))
                return
            st.rerun()
        if st.button("Keep it"):
            st.rerun()


def follow_rename() -> None:
    """Show a renamed run under its new name; before any widget is drawn."""
    old, new = st.session_state.pop("renamed", (None, None))
    if new and "runs" in st.session_state:
        st.session_state.runs = [new if name == old else name for name in st.session_state.runs]


def _choose(run: Run) -> None:
    st.session_state.model = run.name
    try:
        request = run.request
    except ValueError:
        return
    if request is not None and request.probes:
        source, _, target = request.probes[0].partition("\t")
        st.session_state.sentence, st.session_state.target = source, target
