"""Of the runs on the page, the one a view is about, and of its probe sentences one; only asked where there are more."""

import streamlit as st

from transformer.export.markup import shorten
from transformer.training.runs import Run
from ui.probe_state import probes_of


def choose_run(runs: list[Run]) -> Run:
    if len(runs) == 1:
        return runs[0]
    names = [run.name for run in runs]
    name = st.selectbox("Run", names, key="run", bind="query-params", width=240)
    return runs[names.index(name)]


def choose_probe(run: Run) -> tuple[int, int]:
    """The index of the probe to show, 0 where there is no choice, and how many there are."""
    try:
        sources = [probe.source for probe in probes_of(run.name)]
    except ValueError:
        sources = []
    if len(sources) < 2:
        return 0, len(sources)
    options = [f"{place} {shorten(source, 60)}" for place, source in enumerate(sources)]
    chosen = st.selectbox("Probe sentence", options, key="probe", bind="query-params", width=420)
    return options.index(chosen), len(sources)
