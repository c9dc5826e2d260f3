"""Decoding, replayed: the tokens with their alternatives, the beam at each step, what it looks at, what it keeps."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.translating import forced, replay
from pages.translating.as_code import search_code, show_code
from pages.translating.export import hypothesis_rows, search_arrays, step_rows, token_rows
from pages.translating.layers import cross_layer
from pages.translating.panels import (
    beam,
    cache,
    cache_at,
    found,
    looks_at,
    said_search,
    said_step,
    search_svg,
    step_svg,
    tree,
)
from pages.translating.state import labels, score, target_trace
from pages.translating.view import View
from transformer.analysis.trace import Trace
from transformer.export.svg_document import framed
from transformer.export.svg_tokens import tokens_svg
from transformer.text.tokenizer import EOS
from ui.taken import Taken
from ui.translation_cache import cache_svg
from ui.translation_tokens import payload, translation_tokens

if TYPE_CHECKING:
    from transformer.decoding.score import TargetScore


def decoding(view: View) -> Taken:
    tokens, n_given = view.hypothesis.tokens, len(view.record.prefix)
    scored = score(view.model, view.sentence, tokens)
    at = replay.position(_decoded(view), view.record.n_positions, least_sure(scored, n_given))
    translation_tokens(
        payload(scored, labels(view.model, tokens), view.name, at, n_given),
        lambda place, rank: _pick(view, scored, place, rank),
        replay.go_to,
    )
    trace = target_trace(view.model, view.sentence, tokens, True)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        replay.slider(view.record.n_positions, at)
        layer = cross_layer(len(trace.cross.layers))
    left, right = st.columns((6, 5), gap="large")
    with left:
        beam(view, at)
        cache(view, at)
    with right:
        looks_at(view, trace, layer, at)
    tree(view, at)
    found(view)
    show_code(search_code(view))
    return taken(view, trace, scored, layer, at)


def taken(view: View, trace: Trace, scored: "TargetScore", layer: int | None, at: int) -> Taken:
    """The search, the tokens, and the step that is looked at."""
    tokens, given = labels(view.model, view.hypothesis.tokens), len(view.record.prefix)
    pictures = {
        "search tree": lambda about, facts: framed(
            search_svg(view, at), "All that the search kept", about, facts, said_search(view)
        ),
        "token probabilities": lambda about, facts: tokens_svg(
            scored, tokens, view.name, "The translation token by token", about, facts, given
        ),
        "cache": lambda about, facts: framed(
            cache_svg(cache_at(view, at)), f"The key–value cache at step {at + 1}", about, facts
        ),
    }
    if at < len(trace.target):
        pictures["cross-attention at this step"] = lambda about, facts: framed(
            step_svg(trace, layer, at), f"Cross-attention at step {at + 1}", about, facts, [said_step(trace, layer, at)]
        )
    tables = {
        "tokens": partial(token_rows, view),
        "hypotheses": partial(hypothesis_rows, view),
        "steps": partial(step_rows, view),
    }
    return Taken(trace, "How a translation was found", pictures, tables, partial(search_arrays, view))


def least_sure(scored: "TargetScore", n_given: int) -> int:
    """The token at which the model was least sure, among those that were not given."""
    searched = range(min(n_given, len(scored.tokens) - 1), len(scored.tokens))
    return max(searched, key=scored.entropies.__getitem__)


def _decoded(view: View, prefix: tuple[int, ...] | None = None) -> tuple:
    """What the step belongs to."""
    return view.model, view.sentence, view.record.prefix if prefix is None else prefix


def _pick(view: View, scored: "TargetScore", place: int, rank: int) -> None:
    """Go on from the opened hypothesis up to a place, and an alternative there; what is not offered is ignored."""
    if place >= len(scored.tokens) or rank >= len(scored.alternatives[place]):
        return
    piece = scored.alternatives[place][rank]
    if piece == EOS:
        return
    prefix = (*scored.tokens[:place], piece)
    forced.go_on_from(prefix)
    replay.go_to_after(_decoded(view, prefix), place)
    st.session_state.hypothesis = "1"
