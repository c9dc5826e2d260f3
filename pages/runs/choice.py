"""Which runs the page shows, how each of them is doing, and what can be done with it."""

from html import escape

import streamlit as st

from pages.runs.actions import ask_to_delete, ask_to_rename, open_on_head_maps, resume
from transformer.training.runs import Run
from ui.active_run import EVERY, look, stop
from ui.run_text import share, status_line
from ui.run_theme import MOST_RUNS


def choose_runs(runs: list[Run]) -> list[Run]:
    """The runs to show, from the address bar or this session; at first the one that trains, or the newest."""
    names = [run.name for run in runs]
    first = next((run.name for run in runs if run.state == "running"), names[0])
    if st.session_state.get("runs"):
        # A run may have been deleted since.
        here = [name for name in st.session_state.runs if name in names]
        st.session_state.runs = here[:MOST_RUNS] or [first]
    elif "runs" not in st.session_state and "runs" not in st.query_params:
        st.session_state.runs = [first]
    chosen = st.multiselect(
        "Runs", names, key="runs", bind="query-params", max_selections=MOST_RUNS, placeholder="Choose runs to look at",
    )  # fmt: skip
    found = {run.name: run for run in runs}
    return [found[name] for name in chosen]


def run_row(run: Run, colour: str) -> None:
    """One run's state, live, and its buttons."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"row_{run.name}"):
        with st.container():
            # Buttons stay outside of what is drawn anew every second.
            st.fragment(_state, run_every=EVERY if run.live else None)(run.name, (run.state, run.loadable), colour)
        if run.live:
            st.button(
                "Stop training", key=f"page_stop_{run.name}", on_click=stop, args=(run.name,),
                disabled=run.state == "stopping",
            )  # fmt: skip
        if run.resumable:
            st.button("Resume", key=f"resume_{run.name}", on_click=resume, args=(run.name,))
        if run.loadable:
            open_on_head_maps(run)
        if not run.live:
            with st.popover("More", key=f"more_{run.name}"):
                if st.button("Rename …", key=f"rename_{run.name}", width="stretch"):
                    ask_to_rename(run.name)
                if st.button("Delete …", key=f"delete_{run.name}", width="stretch"):
                    ask_to_delete(run.name)


def _state(name: str, drawn: tuple[str, bool], colour: str) -> None:
    run = look(name)
    if run is None or (run.state, run.loadable) != drawn:
        st.rerun()  # the whole page: the buttons depend on it
    st.html(run_html(run, colour))


def run_html(run: Run, colour: str) -> str:
    """Name, state and a bar of how far it is."""
    bar = f'<div class="bar"><div style="width: {100 * share(run):.1f}%; background: {colour}"></div></div>'
    return (
        f'<div class="run {run.state}"><span class="dot" style="background: {colour}"></span>'
        f'<strong>{escape(run.name)}</strong> <span class="note">{escape(status_line(run))}</span>{bar}</div>'
    )
