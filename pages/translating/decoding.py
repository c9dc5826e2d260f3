"""Decoding, replayed: the tokens with their alternatives, the beam at each step, what it looks at, what it keeps."""

from math import exp
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.translating import forced, replay
from pages.translating.as_code import search_code, show_code
from pages.translating.export import downloads, hypothesis_rows, step_rows, token_rows
from pages.translating.layers import cross_layer, layer_weights, said_layer
from pages.translating.state import labels, score, target_trace, text
from pages.translating.view import View
from transformer.analysis.markup import isolated, tag
from transformer.analysis.trace import Trace
from transformer.decoding.hypothesis import length_penalty
from transformer.text.tokenizer import EOS
from ui.state import load
from ui.translation_cache import CacheStep, cache_step, cache_svg
from ui.translation_lines import MOST_WORDS, Line, lines_svg
from ui.translation_maps import Map, describe_map, map_figure
from ui.translation_picture import picture
from ui.translation_scores import number, percent, table
from ui.translation_tokens import payload, translation_tokens
from ui.translation_tree import MOST_STEPS, tree_svg

if TYPE_CHECKING:
    from transformer.decoding.score import TargetScore

TREE_WIDTH, MAP_WIDTH = 1060, 420
FAINTEST = 0.02
CHART = {"displaylogo": False}


def decoding(view: View) -> None:
    tokens, n_given = view.hypothesis.tokens, len(view.record.prefix)
    scored = score(view.model, view.sentence, tokens)
    at = replay.position(_decoded(view), view.record.n_positions, least_sure(scored, n_given))
    translation_tokens(
        payload(scored, labels(view.model, tokens), view.name, at, n_given),
        lambda place, rank: _pick(view, place, scored.alternatives[place][rank]),
        replay.go_to,
    )
    trace = target_trace(view.model, view.sentence, tokens, True)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        replay.slider(view.record.n_positions, at)
        layer = cross_layer(len(trace.cross.layers))
    left, right = st.columns((6, 5), gap="large")
    with left:
        _beam(view, at)
        _cache(view, at)
    with right:
        _looks_at(view, trace, layer, at)
    _tree(view, at)
    _found(view)
    show_code(search_code(view))
    downloads(
        view,
        {
            "tokens": lambda: token_rows(view),
            "hypotheses": lambda: hypothesis_rows(view),
            "steps": lambda: step_rows(view),
        },
    )


def least_sure(scored: "TargetScore", n_given: int) -> int:
    """The token at which the model was least sure, among those that were not given."""
    searched = range(min(n_given, len(scored.tokens) - 1), len(scored.tokens))
    return max(searched, key=scored.entropies.__getitem__)


def _decoded(view: View, prefix: tuple[int, ...] | None = None) -> tuple:
    """What the step belongs to."""
    return view.model, view.sentence, view.record.prefix if prefix is None else prefix


def _pick(view: View, place: int, piece: int) -> None:
    """Go on from the opened hypothesis up to a place, and another piece there."""
    tokens = view.hypothesis.tokens
    if piece == EOS or EOS in tokens[:place]:
        return
    prefix = (*tokens[:place], piece)
    forced.go_on_from(prefix)
    replay.go_to_after(_decoded(view, prefix), place)
    st.session_state.hypothesis = "1"


def _beam(view: View, at: int) -> None:
    st.markdown(f"**The beam after step {at + 1}**")
    given = len(view.record.prefix)
    if at < given:
        st.caption("This token was given by you, so nothing was searched here.")
        return
    step, following = view.record.steps[at - given], view.record.steps[at - given + 1 : at - given + 2]
    path = view.record.path(view.hypothesis)
    rows = []
    for place, beam in enumerate(step.beams):
        children = sum(each.parent == place for later in following for each in later.beams)
        score = beam.log_prob / length_penalty(len(beam.tokens), view.record.alpha)
        if beam.ended:
            fate = f"ended, score {number(score, 3)}"
        elif following:
            fate = "went on" if children else "dropped"
        else:
            fate = "left open"
        rows.append((_so_far(view, beam.tokens), percent(exp(beam.token_log_probs[-1])), number(beam.log_prob), fate))
    marked = path[at - given] if at - given < len(path) else None
    st.html(table(("hypothesis so far", "token", "Σ log p", "then"), rows, marked))


def _so_far(view: View, tokens: tuple[int, ...]) -> str:
    """A beginning of a target, its last token bold."""
    before, last = text(view.model, tokens[:-1]), view.name(tokens[-1])
    starts_word = tokens[-1] == EOS or text(view.model, tokens).startswith(f"{before} ")
    return f"{isolated(before)}{' ' if before and starts_word else ''}{tag('b', isolated(last))}"


def _sentence_case(said: str) -> str:
    return said[0].upper() + said[1:]


def _looks_at(view: View, trace: Trace, layer: int | None, at: int) -> None:
    st.markdown(f"**Cross-attention at step {at + 1}**")
    if at >= len(trace.target):
        st.caption(f"{_sentence_case(view.hypothesis_name)} had ended before: the search went on with others.")
        return
    weights = layer_weights(trace.cross.pattern, layer)
    said = said_layer(layer, *trace.cross.pattern.shape[:2])
    if max(weights.shape) > MOST_WORDS:
        _as_map(trace, weights, at)
        return
    target, source = trace.target.labels, trace.source.labels
    largest = max(float(weights[at].max()), 1e-9)
    lines = [
        Line(at, key, float(weight) / largest, f"{target[at]} → {source[key]}: {weight:.3f}")
        for key, weight in enumerate(weights[at])
        if weight >= FAINTEST * largest
    ]
    numbers = [f"{weight:.2f}" for weight in weights[at]]
    later = range(at + 1, len(target))
    titles = ("query: target", "key: source")
    picture(
        lines_svg(target, source, lines, titles, current=at, pale=later, numbers=numbers, between=170), "step_lines"
    )
    st.caption(f"{said}. The darkest line is the largest weight of this step.")


def _as_map(trace: Trace, weights: np.ndarray, at: int) -> None:
    values = weights.copy()
    values[at + 1 :] = np.nan
    titles = "query: target token", "key: source token"
    shown = Map(values, trace.target.labels, trace.source.labels, *titles, "weight", current=at)
    st.plotly_chart(
        map_figure(shown, MAP_WIDTH), width="content", key="step_map", alt=describe_map(shown), config=CHART
    )
    st.caption(f"More than {MOST_WORDS} tokens are drawn as a map; rows are written so far.")


def _cache(view: View, at: int) -> None:
    st.markdown(f"**The key–value cache at step {at + 1}**")
    given = len(view.record.prefix)
    rows = view.record.steps[max(0, at - given)].n_rows
    config = load(view.model).config.model
    step = cache_step(config, len(view.record.source) + 1, given, max(at, given), len(view.hypothesis.tokens), rows)
    picture(cache_svg(step), "cache")
    if at < given:
        st.caption("The tokens that you gave are read together, in one pass.")
    st.html(table(("", "kept", "computed"), _cache_rows(step)))
    share = step.numbers_computed / step.numbers_without
    st.caption(
        f"Keys and values are {step.numbers_without:,} numbers: {step.n_layers} layers × {step.n_heads} heads × "
        f"({step.d_k} + {step.d_v}). Without a cache all would be computed at this step, with it {share:.0%}."
    )


def _cache_rows(step: CacheStep) -> list[tuple[str, str, str]]:
    kept, computed = (0, step.source) if step.source_computed else (step.source, 0)
    rows = "row" if step.rows == 1 else "rows"
    return [
        (f"target keys, {step.rows} {rows} each", f"{step.kept}", f"{step.computed}"),
        ("source keys, shared", f"{kept}", f"{computed}"),
        ("numbers", f"{step.numbers_kept:,}", f"{step.numbers_computed:,}"),
    ]


def _tree(view: View, at: int) -> None:
    st.markdown("**All that the search kept**")
    picture(tree_svg(view.record, view.record.path(view.hypothesis), at, view.name, TREE_WIDTH), "tree")
    part = f" {MOST_STEPS} steps around the current one are drawn." if len(view.record.steps) > MOST_STEPS else ""
    st.caption(
        "Each column is a step, the likeliest so far on top; a round box has ended, one without a line onward was "
        f"dropped. The strong line is {view.hypothesis_name}.{part}"
    )


def _found(view: View) -> None:
    rows = []
    for place, hypothesis in enumerate(view.record.found):
        shown = text(view.model, hypothesis.tokens)
        ended = "" if hypothesis.tokens[-1] == EOS else " (cut off at the longest length)"
        rows.append(
            (
                f"{place + 1}. {isolated(shown) if shown.strip() else '(nothing)'}{ended}",
                str(len(hypothesis.tokens)),
                number(hypothesis.log_prob, 3),
                number(view.record.penalty(hypothesis), 3),
                number(hypothesis.score, 3),
            )
        )
    heads = ("hypothesis", "tokens", "log-probability", "÷ length penalty", "= score")
    st.html(table(heads, rows, view.chosen))
