"""Training: every run, its curves while it learns, what it makes of its probe sentences, and how heads form."""

import streamlit as st

from pages.runs import film_place
from pages.runs.choice import choose_runs, run_row
from pages.runs.curves import curves
from pages.runs.listing import list_of
from pages.runs.patterns import patterns
from pages.runs.translations import translations
from transformer.training.runs import Run, list_runs
from ui.link import link_line
from ui.run_metrics import lines_of
from ui.run_theme import RUN_COLOURS
from ui.sidebar import Request
from ui.state import show_page

EXPLANATION = r"""
A model learns by guessing each next token of the target, given the source and the target so far. Its **loss** is how
little it expected the right one, $-\ln p$, in nats, mean over target tokens; $e$ to the loss is the **perplexity**:
among how many tokens it is as good as undecided.

- **Training and validation** loss are both measured without label smoothing, so that they compare; training's has
  dropout on. Where validation rises while training falls, the model learns its examples by heart.
- The **objective** is what training lowers: with label smoothing (§5.4 of
  [the paper](https://arxiv.org/abs/1706.03762)) it cannot reach 0.
- The **learning rate** rises over the warmup and falls with the root of the step (§5.3).
- The **gradient norm** is the length of the gradient before each step, mean over those since the last point.

A run is a process of its own: it goes on when this page is closed, and stops when you say so. Stopping saves first.
"""
TABS = ("Curves", "Patterns over training", "Translations", "All runs")
KEYS = (
    *("model", "sentence", "target", "runs", "training_tab", "smoothing", "kind", "run", "probe"),
    *film_place.PARAMETERS,
)
"""What a link to this page may say."""
NOTHING = "There is no run yet: open “Train a model” in the sidebar and press “Train”."


def show() -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title("Training", anchor=False, width="content")
        with st.popover("What am I looking at?", type="tertiary", width="content"):
            st.markdown(EXPLANATION)
    st.markdown(
        "Watch models learn: **the lower a curve, the better** a model expects the next token. Start one with "
        "“Train a model” in the sidebar."
    )
    note = st.container(key="link_note", gap=None)
    runs = list_runs()
    if runs:
        follow(runs)
    else:
        st.info(NOTHING)
        how_it_learned(st.session_state.request)
    if said := link_line(KEYS, {**st.session_state, **film_place.held()}):
        note.html(said)


def follow(runs: list[Run]) -> None:
    """The chosen runs, and what one of the tabs shows of them."""
    chosen = choose_runs(runs)
    for run, colour in zip(chosen, RUN_COLOURS, strict=False):
        run_row(run, colour)
    if not chosen:
        st.info("Choose at least one run.")
        return
    tabs = st.tabs(TABS, key="training_tab", bind="query-params")
    views = (
        lambda: curves([run.name for run in chosen], any(run.live for run in chosen)),
        lambda: patterns(chosen),
        lambda: translations(chosen),
        lambda: list_of(runs),
    )
    for tab, draw in zip(tabs, views, strict=True):
        if tab.open:
            with tab:
                draw()


def how_it_learned(request: Request | None) -> None:
    """The curves of the sidebar's model, where it kept them."""
    if request is not None and lines_of(request.model):
        st.markdown(f"This is how **{request.model}** learned:")
        curves([request.model], live=False)


show_page(show)
