"""Two to four models on one sentence: what each of them sees, head by head, and how far apart they are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ablating.apart import how_far_apart
from pages.ablating.choice import choose_others, of_the_same_kind, what_changed
from pages.ablating.maps import grids, opened_heads
from pages.ablating.shown import Shown
from pages.ablating.take import take_it_with_you
from transformer.analysis.attention import Kind
from transformer.analysis.trace import KINDS
from ui.compare_outputs import Line, Output, outputs_html
from ui.compare_state import configs_of, known_models, measure, read
from ui.markdown import plain
from ui.sidebar import NO_MODEL, Request

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from transformer.analysis.attention import Attention

OWN, ONE = "each its own", "one for all"
BEST, PLACE = "most alike", "same place"


@st.fragment
def beside(request: Request | None) -> None:
    """The sidebar's model first, the others after it. A click runs this part alone."""
    if request is None:
        st.info(NO_MODEL)
        return
    top = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with top:
        known = known_models()
        others = choose_others(request.model, known)
        take = st.popover("Take it with you", width="content", key="take_comparison", on_change="rerun")
    if others is None:
        st.info("There is one model here: train another, and it stands in this list.")
        return
    controls = st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="controls")
    with controls:
        kind: Kind = st.segmented_control(  # pyright: ignore[reportAssignmentType]
            "Attention", KINDS, default="encoder", required=True, key="kind", bind="query-params", width="content"
        )  # fmt: skip
        target = st.segmented_control(
            "Target", (ONE, OWN), default=ONE, required=True, key="target_of", bind="query-params", width="content",
            help="one for all: the sidebar’s target or, where it has none, what the first model writes. Rows of "
            "decoder and cross then compare.",
        )  # fmt: skip
        match = st.segmented_control(
            "Partner of a head", (BEST, PLACE), default=BEST, required=True, key="match", bind="query-params",
            width="content", help="Heads have no order in common between models that were trained apart. most alike: "
            "each model’s heads are assigned to the first one’s so that divergences sum to the least. same place: by "
            "layer and head.",
        )  # fmt: skip
    shown = _read(request, known, others, kind, target == ONE, match == BEST, controls)
    if shown is not None:
        grids(shown)
        opened_heads(shown)
        st.html(_outputs(shown))
        how_far_apart(shown)
        with take:
            take_it_with_you(shown, opened=bool(take.open))


def _read(
    request: Request,
    known: Mapping[str, str],
    others: Mapping[str, str],
    kind: Kind,
    one_target: bool,
    matched: bool,
    controls: "DeltaGenerator",
) -> Shown | None:
    """What all of them make of the sentence, with what could not be said above it; None where there is nothing."""
    if not others:
        st.info("Choose one to three models to stand beside it.")
        return None
    same, refused = of_the_same_kind(request.model, others)
    configs = configs_of(known)
    models = {request.model: request.model, **same}
    try:
        from transformer.ablations.seeds import seed_pair

        seeds = {name: known[name] for name in seed_pair(list(models), configs) or ()}
        arguments = models, request.sentence, request.target, one_target, seeds
        with st.spinner(f"{', '.join(models)} are reading …"):
            reading = read(*arguments)
            measured = measure(*arguments, kind)
    except ValueError as error:
        st.warning(plain(error))
        return None
    for sentence in (*refused, *reading.refused):
        st.warning(plain(sentence))
    if len(reading.names) < 2:
        return None
    with controls:
        opened = _opened(reading.names, measured.aligned.attentions)
    kept = {name: models[name] for name in reading.names}
    return Shown(request, kept, configs, kind, one_target, matched, reading, measured, opened)


def _opened(names: Sequence[str], attentions: "Sequence[Attention]") -> tuple[int, tuple[int, int]]:
    """Draw which head is open, and in which model it was opened."""
    chosen = st.selectbox("Opened in", names, key="opened_in", bind="query-params", width=140)
    number = names.index(chosen) if chosen in names else 0
    n_layers, n_heads = attentions[number].pattern.shape[:2]
    layer = st.selectbox("Layer", [str(at) for at in range(n_layers)], key="layer", bind="query-params", width=76)
    head = st.selectbox("Head", [str(at) for at in range(n_heads)], key="head", bind="query-params", width=76)
    return number, (int(layer or 0), int(head or 0))


def _outputs(shown: Shown) -> str:
    """Who is compared, what changed in each against the first, and what each writes."""
    reading = shown.reading
    words = len({trace.source.pieces for trace in reading.traces}) > 1
    first = shown.configs.get(shown.names[0])
    lines = [
        Line(
            name,
            f"what changed: {what_changed(first, shown.configs.get(name))}" if number else "",
            Output.of(trace, words=words),
            None if own is None else Output.of(own, words=words),
        )
        for number, (name, trace, own) in enumerate(zip(shown.names, reading.traces, reading.own, strict=True))
    ]
    return outputs_html(lines)
