"""The panels of decoding at one step: the beam, what the step looks at, what it keeps, and the whole search."""

from math import exp

import numpy as np
import streamlit as st

from pages.translating.layers import layer_weights, said_layer
from pages.translating.state import text
from pages.translating.view import View
from transformer.analysis.trace import Trace
from transformer.decoding.hypothesis import length_penalty
from transformer.export.markup import isolated, tag
from transformer.export.numbers import number, percent
from transformer.text.tokenizer import EOS
from ui.state import load
from ui.translation_cache import CacheStep, cache_step, cache_svg
from ui.translation_lines import MOST_WORDS, Line, lines_svg
from ui.translation_picture import picture
from ui.translation_scores import table
from ui.translation_tree import MOST_STEPS, tree_svg

TREE_WIDTH = 1040
FAINTEST = 0.02
"""Share of the largest weight under which no line is drawn."""
FEW = 24
"""Tokens on a side that are drawn of more than MOST_WORDS."""


def beam(view: View, at: int) -> None:
    """What was kept at a step, and what became of it."""
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


def looks_at(view: View, trace: Trace, layer: int | None, at: int) -> None:
    """Lines from the token being written to the source tokens."""
    st.markdown(f"**Cross-attention at step {at + 1}**")
    if at >= len(trace.target):
        st.caption(f"{_sentence_case(view.hypothesis_name)} had ended before: the search went on with others.")
        return
    picture(step_svg(trace, layer, at), "step_lines")
    st.caption(said_step(trace, layer, at))


def step_svg(trace: Trace, layer: int | None, at: int) -> str:
    """Those lines as SVG."""
    weights = layer_weights(trace.cross.pattern, layer)[at]
    targets, sources = drawn_tokens(weights, at, len(trace.target))
    target = [trace.target.labels[place] for place in targets]
    source = [trace.source.labels[place] for place in sources]
    largest, current = max(float(weights.max()), 1e-9), targets.index(at)
    lines = [
        Line(current, place, float(weights[key]) / largest, f"{target[current]} → {source[place]}: {weights[key]:.3f}")
        for place, key in enumerate(sources)
        if weights[key] >= FAINTEST * largest
    ]
    return lines_svg(
        target, source, lines, ("query: target", "key: source"), current=current,
        pale=range(current + 1, len(target)), numbers=[f"{weights[key]:.2f}" for key in sources], between=170,
    )  # fmt: skip


def said_step(trace: Trace, layer: int | None, at: int) -> str:
    """What the lines are, and which are left out."""
    sources = drawn_tokens(layer_weights(trace.cross.pattern, layer)[at], at, len(trace.target))[1]
    said = _sentence_case(said_layer(layer, *trace.cross.pattern.shape[:2]))
    n = len(trace.source)
    rest = f" The {len(sources)} largest weights of {n} are drawn." if len(sources) < n else ""
    return f"{said}. The darkest line is the largest weight of this step.{rest}"


def drawn_tokens(weights: np.ndarray, at: int, n_target: int) -> tuple[list[int], list[int]]:
    """Places of the target and source tokens that are drawn: all, or of very many those around the step, and those
    with the largest weights."""
    first = max(0, min(at - FEW // 2, n_target - FEW)) if n_target > MOST_WORDS else 0
    last = first + FEW if n_target > MOST_WORDS else n_target
    sources = range(len(weights)) if len(weights) <= MOST_WORDS else sorted(np.argsort(-weights)[:FEW].tolist())
    return list(range(first, last)), list(sources)


def cache(view: View, at: int) -> None:
    """What a step keeps and what it computes."""
    st.markdown(f"**The key–value cache at step {at + 1}**")
    step = cache_at(view, at)
    picture(cache_svg(step), "cache")
    if at < len(view.record.prefix):
        st.caption("The tokens that you gave are read together, in one pass.")
    st.html(table(("", "kept", "computed"), _cache_rows(step)))
    share = percent(step.numbers_computed / step.numbers_without)
    st.caption(
        f"Keys and values are {step.numbers_without:,} numbers: {step.n_layers} layers × {step.n_heads} heads × "
        f"({step.d_k} + {step.d_v}). Without a cache all would be computed at this step, with it {share}."
    )


def cache_at(view: View, at: int) -> CacheStep:
    given = len(view.record.prefix)
    rows = view.record.steps[max(0, at - given)].n_rows
    config = load(view.model).config.model
    return cache_step(config, len(view.record.source) + 1, given, max(at, given), len(view.hypothesis.tokens), rows)


def _cache_rows(step: CacheStep) -> list[tuple[str, str, str]]:
    kept, computed = (0, step.source) if step.source_computed else (step.source, 0)
    rows = "row" if step.rows == 1 else "rows"
    return [
        (f"target keys, {step.rows} {rows} each", f"{step.kept}", f"{step.computed}"),
        ("source keys, shared", f"{kept}", f"{computed}"),
        ("numbers", f"{step.numbers_kept:,}", f"{step.numbers_computed:,}"),
    ]


def tree(view: View, at: int) -> None:
    """The whole search."""
    st.markdown("**All that the search kept**")
    picture(search_svg(view, at), "tree")
    st.caption(" ".join(said_search(view)))


def search_svg(view: View, at: int) -> str:
    return tree_svg(view.record, view.record.path(view.hypothesis), at, view.name, TREE_WIDTH)


def said_search(view: View) -> list[str]:
    """How the tree is read, in sentences."""
    said = [
        "Each column is a step, the likeliest so far on top; a round box has ended, one without a line onward was "
        "dropped.",
        f"The strong line is {view.hypothesis_name}.",
    ]
    part = f"{MOST_STEPS} steps around the current one are drawn."
    return [*said, part] if len(view.record.steps) > MOST_STEPS else said


def found(view: View) -> None:
    """What the search found, with log-probability, length penalty and score."""
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
