"""The one row of controls of Head maps; what is seldom needed stands under Filters. All of it is in the address bar."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.heads.view import View
from transformer.analysis.attention import Kind
from transformer.analysis.filters import Filters
from transformer.analysis.trace import KINDS
from ui.state import about

if TYPE_CHECKING:
    from streamlit.elements.lib.mutable_popover_container import PopoverContainer

EACH, SUMMARIES = "each head", ("each head", "mean", "max", "rollout")
WEIGHTINGS = {"attention": "weight", "norm": "norm"}
KEYS = (
    *("model", "sentence", "target", "kind", "weights", "summary", "tokens", "hide_special", "renormalize"),
    *("weighting", "layers", "heads", "threshold", "top_k", "layer", "head", "shown", "second", "bertviz"),
    *("opened_view", "query", "key", "matrix", "dimension", "line_queries", "line_heads"),
)
"""What a link to this page may say."""


def controls(model: str) -> tuple[View, "PopoverContainer"]:
    """The row of controls, and at its end the popover for what can be taken away, still empty.

    How many layers and heads there are says config.json, without loading the model.
    """
    shape = about(model).get("model") or {}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="controls"):
        kind: Kind = st.segmented_control(  # pyright: ignore[reportAssignmentType]
            "Attention", KINDS, default="encoder", required=True, key="kind", bind="query-params",
            help="encoder: source to source; decoder: target to target so far; cross: target to source",
        )  # fmt: skip
        weights = st.segmented_control(
            "Weights", ("trained", "untrained"), default="trained", required=True, key="weights", bind="query-params",
            help="untrained: the same network, sentence and target before the first step of training. What it shows "
            "too was not learned.",
        )  # fmt: skip
        summary = st.selectbox(
            "Heads", SUMMARIES, key="summary", bind="query-params", width=118,
            help="Every head by itself, or one map a layer: the mean over heads, the largest weight of any head, or "
            "rollout, attention carried through all layers.",
        )  # fmt: skip
        n_layers = shape.get("n_encoder_layers" if kind == "encoder" else "n_decoder_layers", 1)
        n_heads = shape.get("n_heads", 1)
        with st.popover("Filters", width="content", key="filters"):
            filters = _filters(None if summary == EACH else summary, n_layers, n_heads)
        layer = st.selectbox(
            "Layer", filters.layers or _numbers(n_layers), key="layer", bind="query-params", width=76
        )  # fmt: skip
        head = st.selectbox(
            "Head", filters.heads or _numbers(n_heads), key="head", bind="query-params", width=76,
            disabled=summary != EACH,
        )  # fmt: skip
        take = st.popover("Take it with you", width="content", key="take", on_change="rerun")
    return View(kind, filters, layer, head, n_heads, weights == "untrained"), take


def _filters(summary: str | None, n_layers: int, n_heads: int) -> Filters:
    tokens = st.segmented_control(
        "Tokens", ("pieces", "words"), default="pieces", required=True, key="tokens", bind="query-params",
        help="Words merge their pieces: the sum over a word's keys, the mean over its queries.",
    )  # fmt: skip
    hide_special = st.toggle(
        "Hide special tokens", key="hide_special", bind="query-params",
        help="Leaves out `<s>` and `</s>`. Rows then sum to less than 1.",
    )  # fmt: skip
    renormalize = st.toggle(
        "Make rows sum to 1 again", key="renormalize", bind="query-params", disabled=not hide_special,
        help="Divides each row by what is left of it without special tokens.",
    )  # fmt: skip
    weighting = st.segmented_control(
        "Cells show", tuple(WEIGHTINGS), default="attention", required=True, key="weighting", bind="query-params",
        help="attention: the weight. norm: the weight times the length of the vector that it weighs, value times "
        "output matrix of the head, as a share of the row (Kobayashi et al. 2020). A key with much weight and a short "
        "vector gives little.",
    )  # fmt: skip
    threshold = st.slider(
        "Smallest weight shown", 0.0, 1.0, 0.0, 0.01, key="threshold", bind="query-params",
        help="Smaller weights are set to 0.",
    )  # fmt: skip
    top_k = st.number_input(
        "Largest weights of a row", 0, 512, 0, key="top_k", bind="query-params",
        help="How many keys are kept for each query; the others are set to 0. With 0 all are kept.",
    )  # fmt: skip
    layers, heads = (
        st.pills(
            f"{what} shown", _numbers(count), selection_mode="multi", key=key, bind="query-params",
            help="None chosen: all.",
        )
        for what, count, key in (("Layers", n_layers, "layers"), ("Heads", n_heads, "heads"))
    )  # fmt: skip
    return Filters(
        weighting="norm" if weighting == "norm" else "weight",
        heads=_some(heads, n_heads),
        hide_special=hide_special,
        renormalize=hide_special and renormalize,
        words=tokens == "words",
        summary=summary,  # pyright: ignore[reportArgumentType]
        layers=_some(layers, n_layers),
        threshold=round(threshold, 2),
        top_k=int(top_k),
    )


def _some(chosen: list[str] | None, count: int) -> tuple[str, ...]:
    """Names in their order; none where all of them are chosen."""
    names = tuple(sorted(chosen or (), key=int))
    return () if len(names) == count else names


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]
