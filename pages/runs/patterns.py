"""How heads form: a run's probe sentence at every recorded step, as a film, and the entropy of its heads."""

import streamlit as st

from pages.runs import film_place
from pages.runs.choose import choose_probe, choose_run
from transformer.analysis.trace import KINDS
from transformer.training.runs import Run
from ui.film import film
from ui.markdown import plain
from ui.probe_state import entropies, probes_of
from ui.training_figures import entropy_chart

EVERY = 2.0
"""Seconds between two looks at what a run has recorded."""


def patterns(runs: list[Run]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="controls"):
        kind = st.segmented_control(
            "Attention", KINDS, default="encoder", required=True, key="kind", bind="query-params",
            help="encoder: source to source; decoder: target to target so far; cross: target to source",
        )  # fmt: skip
        run = choose_run(runs)
        index, n_probes = choose_probe(run)
    st.fragment(_film, run_every=EVERY if run.live else None)(run.name, index, n_probes, kind or "encoder", run.live)


def _film(name: str, index: int, n_probes: int, kind: str, live: bool) -> None:
    try:
        probes = probes_of(name)
    except ValueError as error:
        st.warning(plain(error))
        return
    if len(probes) != n_probes:
        st.rerun()  # the run has begun to record, and there may be a choice
    if not probes:
        st.info(
            "Nothing is recorded yet: the first patterns come before the first step."
            if live
            else "This run recorded no patterns: it was started without a probe sentence, or theirs were too long."
        )
        return
    probe = probes[index]
    newest = probe.traces[-1][kind]
    step, *selected = film_place.standing(probe.steps, len(newest.layers), len(newest.heads))
    film(probe, kind, selected, step, film_place.rest)
    st.echarts_chart(
        entropy_chart(probe.steps, entropies(name, index, kind)),
        height=320,
        key="chart_entropy",
        alt=f"Relative entropy of every head of {kind} attention over steps.",
    )
    st.caption(
        "Entropy says how widely a head spreads its attention: 1 is even over all tokens it may see, 0 is one token. "
        "Mean over the sentence's queries. Step 0 is the model before training: what differs from it was learned."
    )
