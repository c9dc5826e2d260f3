"""The run that is being trained, in the sidebar of every page: how far it is, and a button that stops it."""

import streamlit as st

from transformer.training import runs
from transformer.training.runs import Run
from ui.go_to import is_going
from ui.markdown import plain
from ui.run_text import progress, share, time_left

EVERY = 1.0
"""Seconds between two looks at a run."""


def active_runs() -> None:
    """Draw what has a process now. Buttons stand outside the part that is drawn anew every second: see below."""
    live = [run for run in runs.list_runs() if run.live]
    if not live:
        return
    training = [run for run in live if run.state != "queued"] or live[-1:]
    for run in training:
        st.fragment(_progress, run_every=EVERY)(run.name, run.state)
        # In a fragment that runs by itself a click after the server was started again would be lost.
        st.button(
            "Stop training" if run.state != "stopping" else "Stopping …", key=f"stop_{run.name}", width="stretch",
            on_click=stop, args=(run.name,), disabled=run.state == "stopping",
        )  # fmt: skip
    waiting = len(live) - len(training)
    if waiting:
        st.caption(f"{waiting} {'waits' if waiting == 1 else 'wait'} for the device.")


def stop(name: str) -> None:
    """Ask a run to save and end; one that is gone needs no asking."""
    try:
        runs.stop(name, wait=False)
    except ValueError as error:
        st.toast(plain(error))


def look(name: str) -> Run | None:
    """A run as it is now; None where somebody deleted or renamed it."""
    try:
        return runs.get_run(name)
    except ValueError:
        return None


def _progress(name: str, drawn: str) -> None:
    run = look(name)
    if run is None or run.state != drawn or is_going():
        st.rerun()  # the whole page: its buttons and lists depend on the state
    left = time_left(run) or run.message or run.state
    st.progress(share(run), f"**{plain(run.name)}** · {progress(run)}  \n{plain(left)}")
