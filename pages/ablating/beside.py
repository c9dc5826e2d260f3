"""Two models on one sentence, head by head: what each of them sees, and how far apart they are."""

from typing import cast

import numpy as np
import streamlit as st

from pages.ablating.choice import check_same_text, choose_other, said_model, what_changed
from transformer.ablations.variants import VARIANTS
from transformer.analysis.attention import Attention, Kind
from transformer.analysis.compare import LN_2, Match, best_matches, by_index, comparable, divergences
from transformer.analysis.trace import KINDS, Trace
from transformer.folders import runs_folder
from ui.compare_figures import apart_figure, difference_figure
from ui.figures import describe_head, head_figure
from ui.head_grid import column_width, head_grid
from ui.output_line import output_line
from ui.sidebar import NO_MODEL, Request
from ui.state import trace
from ui.theme import KIND_NAMES

CHART = {"displaylogo": False}
OWN, ONE = "each model’s own", "one for both"
BEST, PLACE = "most alike", "same place"
_MOST_LISTED = 8


def beside(request: Request | None) -> None:
    """The sidebar's model on the left, another on the right."""
    if request is None:
        st.info(NO_MODEL)
        return
    left, right = st.columns([2, 7], gap="medium")
    with left:
        other = choose_other(request.model)
    if other is None:
        st.info("There is one model here: train another, and it stands in this list.")
        return
    with right.container(horizontal=True, gap="medium"):
        kind = st.segmented_control(
            "Attention", KINDS, default="encoder", required=True, key="kind", bind="query-params", width="content"
        )  # fmt: skip
        target = st.segmented_control(
            "Target", (ONE, OWN), default=ONE, required=True, key="target_of", bind="query-params", width="content"
        )
        match = st.segmented_control(
            "Partner of each head", (BEST, PLACE), default=BEST, required=True, key="match", bind="query-params",
            width="content",
        )  # fmt: skip
    st.markdown(what_changed(request.model, other))
    try:
        check_same_text(request.model, other, request.sentence)
        with st.spinner(f"{said_model(request.model)} and {said_model(other)} are reading …"):
            written = trace(request.model, request.sentence, request.target)
            given = written.target_text if target == ONE else request.target
            traces = written, trace(other, request.sentence, given)
            floor = seeds_apart(request, cast(Kind, kind or "encoder"))
    except ValueError as error:
        st.warning(str(error))
        return
    _compare(request, other, cast(Kind, kind or "encoder"), traces, match == BEST, floor)


def _compare(
    request: Request, other: str, kind: Kind, traces: tuple[Trace, Trace], best: bool, floor: float | None
) -> None:
    models = request.model, other
    sides = zip(st.columns(2, gap="medium"), models, traces, reversed(traces), strict=True)
    for column, model, each, another in sides:
        role = "writes" if each.translation.generated else "reads as its target"
        both_write = each.translation.generated and another.translation.generated
        column.html(output_line(each, f"{said_model(model)} {role}", another if both_write else None))
    attentions = [each[kind] for each in traces]
    try:
        same, on_words = comparable(attentions)
    except ValueError as error:
        st.info(f"{error} Grids of both models stand beside each other all the same.")
        same, on_words = attentions, False
        pairs = None
    else:
        pairs = divergences(*same)
    matches = [] if pairs is None else best_matches(pairs)
    place = _opened(same[0])
    beside_it = _partner(place, same[1], matches if best else [])
    width = column_width((1, 1), 0)
    left, right = st.columns(2, gap="medium")
    with left:
        head_grid(same[0], place, _open)
    with right:
        head_grid(same[1], beside_it, lambda layer, head: _open_partner(layer, head, matches if best else []),
                  key="second_grid")  # fmt: skip
    columns = st.columns(2, gap="medium")
    for number, (column, attention, at, model) in enumerate(
        zip(columns, same, (place, beside_it), models, strict=True)
    ):
        with column:
            st.markdown(f"**{said_model(model)} · {KIND_NAMES[kind]} L{at[0]}·H{at[1]}**")
            figure, alt = head_figure(attention, *at, width), describe_head(attention, *at)
            st.plotly_chart(figure, width="content", key=f"opened_{number}", alt=alt, config=CHART)
    if on_words:
        st.caption("The tokenizers cut differently: both are compared on words.")
    if pairs is not None:
        _apart(same, pairs, matches, (place, beside_it), best)
        st.caption(_floor_line(matches, floor))


def _apart(
    attentions: list[Attention],
    pairs: np.ndarray,
    matches: list[Match],
    opened: tuple[tuple[int, int], ...],
    best: bool,
) -> None:
    """The difference of the two opened heads, and how far every head is from its partner."""
    (one, other), (place, beside_it) = attentions, opened
    apart = by_index(pairs)
    if best:
        apart = np.full(one.pattern.shape[:2], np.nan)
        for match in matches:
            apart[match.one] = match.divergence
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Right less left**, of the two opened heads")
        difference = other.pattern[beside_it] - one.pattern[place]
        st.plotly_chart(
            difference_figure(one, difference), key="difference", config=CHART,
            alt=f"Difference of two heads; the largest is {np.abs(difference).max():.2f}.",
        )  # fmt: skip
    with right:
        st.markdown("**How far apart**: Jensen–Shannon divergence of each head from its partner")
        st.plotly_chart(
            apart_figure(apart, one), key="apart", config=CHART, alt="Divergence of each head from its partner."
        )
        known = sorted((float(apart[at]), at) for at in np.ndindex(apart.shape) if np.isfinite(apart[at]))[::-1]
        listed = ", ".join(f"L{layer}·H{head} {value:.2f}" for value, (layer, head) in known[:_MOST_LISTED])
        st.caption(
            f"In nats: 0 alike, ln 2 = {LN_2:.2f} no key shared. Farthest apart: {listed}. Heads have no order in "
            "common between models that were trained apart: matched by what they attend to, their sum is "
            f"{sum(match.divergence for match in matches):.2f}; taken by place, {np.nansum(by_index(pairs)):.2f}."
        )


def _floor_line(matches: list[Match], floor: float | None) -> str:
    """How far apart the two are, beside what another seed alone makes."""
    mean = sum(match.divergence for match in matches) / len(matches)
    said = f"Matched, the heads of these two are {mean:.3f} nats apart on average."
    if floor is None:
        return f"{said} What another seed alone makes is shown here once the base has its second one."
    return f"{said} Those of the base’s first two seeds, which differ in nothing else, are {floor:.3f} apart."


def seeds_apart(request: Request, kind: Kind) -> float | None:
    """The mean divergence of the matched heads of the base's two seeds on the same texts; None where they are not."""
    base, second = VARIANTS["base"].folder(1), str(runs_folder() / VARIANTS["base"].folder(2))
    try:
        first = trace(base, request.sentence, request.target)
        pairs = divergences(first[kind], trace(second, request.sentence, first.target_text)[kind])
    except ValueError:
        return None
    found = best_matches(pairs)
    return sum(match.divergence for match in found) / len(found)


def _opened(attention: Attention) -> tuple[int, int]:
    """Where the opened head stands; the first where the session has none that is here."""
    layer, head = st.session_state.get("layer", "0"), st.session_state.get("head", "0")
    return (
        attention.layers.index(layer) if layer in attention.layers else 0,
        attention.heads.index(head) if head in attention.heads else 0,
    )


def _partner(place: tuple[int, int], other: Attention, matches: list[Match]) -> tuple[int, int]:
    """The head of the other model beside an opened one."""
    for match in matches:
        if match.one == place:
            return match.other
    n_layers, n_heads = other.pattern.shape[:2]
    return min(place[0], n_layers - 1), min(place[1], n_heads - 1)


def _open(layer: str, head: str) -> None:
    st.session_state.layer, st.session_state.head = layer, head


def _open_partner(layer: str, head: str, matches: list[Match]) -> None:
    """A click into the second grid opens the first model's head that stands beside it."""
    for match in matches:
        if match.other == (int(layer), int(head)):
            _open(str(match.one[0]), str(match.one[1]))
            return
    _open(layer, head)
