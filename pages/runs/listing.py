"""All runs in a table; the rows that are ticked are shown."""

from datetime import datetime
from typing import Any

import streamlit as st

from transformer.training.runs import Run, list_runs
from ui.run_text import progress, time_left
from ui.run_theme import MOST_RUNS

EVERY = 2.0


def list_of(runs: list[Run]) -> None:
    live = any(run.live for run in runs)
    st.fragment(_table, run_every=EVERY if live else None)(tuple(run.name for run in runs))


def _table(names: tuple[str, ...]) -> None:
    runs = list_runs()
    if tuple(run.name for run in runs) != names:
        st.rerun()
    shown = st.session_state.get("runs", [])
    picked: Any = {"selection": {"rows": [names.index(name) for name in shown if name in names]}}
    # Rows are numbers: another list, or another choice from outside, begins anew.
    key = f"all_runs_{hash((names, tuple(shown)))}"
    st.dataframe(
        rows(runs), hide_index=True, height=min(640, 38 + 35 * len(runs)), key=key, selection_mode="multi-row",
        selection_default=picked, on_select=lambda: _show(key, names),
        column_config={"started": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm")},
        alt=f"{len(runs)} runs: name, state, steps, corpus, preset and when they were started.",
    )  # fmt: skip
    st.caption(f"{len(runs):,} runs. Tick up to {MOST_RUNS} to see them above.")
    if st.session_state.pop("runs_picked", False):
        st.rerun()


def rows(runs: list[Run]) -> dict[str, list]:
    """Columns of the table, a row a run."""
    return {
        "run": [run.name for run in runs],
        "state": [run.state for run in runs],
        "progress": [progress(run) for run in runs],
        "time left": [time_left(run) for run in runs],
        "corpus": [run.corpus for run in runs],
        "preset": [run.preset for run in runs],
        "device": [run.device for run in runs],
        "started": [datetime.fromtimestamp(run.created) if run.created else None for run in runs],
        "note": [run.message for run in runs],
    }


def _show(key: str, names: tuple[str, ...]) -> None:
    ticked = [names[row] for row in st.session_state[key].selection.rows if row < len(names)]
    st.session_state.runs = ticked[:MOST_RUNS]
    st.session_state.runs_picked = True
