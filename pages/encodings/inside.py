"""In the model: what positions do to the scores, patterns and outputs of trained models, and how far they reach."""

from html import escape

import numpy as np
import streamlit as st

from pages.encodings.hand_built import hand_built
from pages.encodings.lengths import lengths
from pages.encodings.views import CHART, choose_view
from transformer.analysis.attention import Attention
from transformer.export.numbers import scientific
from ui.encoding_state import distances, divergences, order, parts
from ui.encoding_theme import ENCODING_NAMES
from ui.position_figures import (
    distance_figure,
    divergence_figure,
    order_figure,
    parts_figure,
    shares_figure,
)
from ui.sidebar import Request
from ui.state import about, encoder_attention, load, trace

VIEWS = (
    "A head built by hand",
    "Position or content",
    "Without positions",
    "By distance",
    "Order matters",
    "Past the training length",
)
SIDES = ("encoder", "decoder")
MOST_TOKENS = 60


@st.fragment
def inside(request: Request | None) -> None:
    """One view, its controls above it."""
    view = choose_view(VIEWS, "inside")
    if view == "Past the training length":
        lengths()
        return
    if request is None:
        st.info(
            "There is no trained model here yet; `roundtable train --name mine --corpus reverse` makes one in minutes."
        )
        return
    try:
        with st.spinner(f"Loading {request.model} …"):
            load(request.model)
        attention = encoder_attention(request.model, request.sentence)
        if view != "By distance" and len(attention.keys) > MOST_TOKENS:
            st.info(f"The sentence has {len(attention.keys)} tokens, and this view shows {MOST_TOKENS}: shorten it.")
        elif view == "Position or content":
            _position_or_content(request)
        elif view == "Without positions":
            _without_positions(request)
        elif view == "By distance":
            _by_distance(request)
        elif view == "Order matters":
            _order_matters(request, attention)
        else:
            hand_built(request, attention)
    except ValueError as error:
        st.warning(str(error))


def _position_or_content(request: Request) -> None:
    first, second = st.columns(2, gap="medium")
    side = (
        first.segmented_control("Attention", SIDES, default="encoder", required=True, key="side", bind="query-params")
        or "encoder"
    )
    if side == "decoder":
        with st.spinner(f"{request.model} is translating …"):
            found = parts(request, "decoder")
        read = trace(request.model, request.sentence, request.target).decoder.keys
        labels = read.labels if len(read) == len(found.mask) else tuple(map(str, range(len(found.mask))))
    else:
        found = parts(request, "encoder")
        labels = encoder_attention(request.model, request.sentence).keys.labels
    n_heads = len(found.total)
    head = int(
        second.segmented_control(
            "Head", [str(h) for h in range(n_heads)], default="0", required=True, key=f"part_head_{n_heads}"
        )
        or 0
    )
    shares = found.shares()
    st.markdown(
        f"Layer 0 is given words and their places, nothing else, so its scores fall apart exactly: "
        f"{_terms(found.parts)}. A head that goes by **position** is coloured, one that goes by **content** grey. "
        "Only differences between keys count; parts sum to 100 %."
    )
    left, right = st.columns((3, 5), gap="medium")
    left.plotly_chart(shares_figure(shares), key="shares", alt=_describe_shares(shares), config=CHART)
    figure = parts_figure(found.parts, head, found.mask, labels)
    right.plotly_chart(figure, key="parts", alt=f"The terms of head {head} and their sum.", config=CHART)


def _without_positions(request: Request) -> None:
    with st.spinner(f"{request.model} is translating …"):
        found = divergences(request)
    encoding = _encoding(request)
    if encoding == "none":
        st.info(f"{request.model} has no positions to take away.")
        return
    untrained = divergences(request, untrained=True)
    st.markdown(
        "The same weights, sentence and target, **once with positions and once without**: how far does each head's "
        "pattern move? 0 bits: not at all; 1: to other keys altogether. Without positions the model is where it "
        "never was in training, so what moves deeper down may also be confusion."
    )
    st.plotly_chart(divergence_figure(found), key="divergence", alt=_describe_divergences(found), config=CHART)
    means = ", ".join(
        f"{kind} {values.mean():.2f} (untrained {untrained[kind].mean():.2f})" for kind, values in found.items()
    )
    st.caption(f"Jensen–Shannon divergence, mean over queries. Mean over heads: {means}.")


def _by_distance(request: Request) -> None:
    with st.spinner(f"Averaging {request.model}'s attention over sentences …"):
        sample = distances(request.model)
    first, second = st.columns(2, gap="medium")
    side = (
        first.segmented_control("Attention", SIDES, default="encoder", required=True, key="side", bind="query-params")
        or "encoder"
    )
    measured = sample.measured[side]
    layers = [str(layer) for layer in range(len(measured.weight))]
    layer = int(
        second.segmented_control("Layer", layers, default="0", required=True, key=f"distance_layer_{len(layers)}") or 0
    )
    weights = np.nan_to_num(measured.weight[layer])
    head, at = np.unravel_index(np.argmax(weights), weights.shape)
    st.markdown(
        f"How much weight each head gives to the token d places on, over {sample.source}. **A peak is a head that "
        f"goes by position**: here H{head} gives {weights[head, at]:.0%} to the token at {measured.distances[at]:+d}, "
        f"where an even head would give {measured.even[at]:.0%}."
    )
    figure = distance_figure(measured, layer)
    st.plotly_chart(figure, key="distance", alt=f"Attention by distance, {side} layer {layer}.", config=CHART)


def _order_matters(request: Request, attention: Attention) -> None:
    seed = int(st.session_state.get("shuffle", 0))
    shown = order(request, seed)
    encoding = _encoding(request)
    before = " ".join(attention.keys.labels)
    st.button("Shuffle again", on_click=_shuffle, key="shuffle_again")
    st.html(
        f'<div class="note">as it was</div><div dir="auto">{escape(before)}</div>'
        f'<div class="note">shuffled</div><div dir="auto"><b>{escape(" ".join(shown.shuffled))}</b></div>'
    )
    st.markdown(
        "Each word's encoder output in the shuffled sentence, against its output in the sentence as it was. "
        f"**Without positions the outputs shuffle along**, to {scientific(shown.bare.encoder_largest)}; "
        + (
            f"with them ({ENCODING_NAMES[encoding]}) they change. "
            if encoding != "none"
            else "and this model was trained so. "
        )
        + f"The decoder's causal mask gives it order all the same: without positions its last output still moves by "
        f"{shown.bare.decoder:.0%} when what it has read is shuffled"
        + (f" (with them {shown.given.decoder:.0%})." if encoding != "none" else ".")
    )
    given = None if encoding == "none" else shown.given.encoder
    figure = order_figure(shown.bare.encoder, given, shown.shuffled, encoding)
    alt = "Change of each token's output when the sentence is shuffled."
    st.plotly_chart(figure, key="order", alt=alt, config=CHART)


def _encoding(request: Request) -> str:
    return about(request.model)["model"]["positions"]


def _terms(found: dict[str, np.ndarray]) -> str:
    if len(found) == 4:
        return "(content + position) · (content + position), four terms"
    if "rotation" in found:
        return "content · content, and what RoPE's rotation changes in it"
    if "bias" in found:
        return "content · content, and ALiBi's bias"
    return "content · content alone, since this model has no positions"


def _describe_shares(shares: dict[str, np.ndarray]) -> str:
    heads = range(len(next(iter(shares.values()))))
    return "; ".join(
        f"head {h}: " + ", ".join(f"{name} {values[h]:.0%}" for name, values in shares.items()) for h in heads
    )


def _describe_divergences(found: dict[str, np.ndarray]) -> str:
    return "; ".join(f"{kind}: {values.min():.2f} to {values.max():.2f} bits" for kind, values in found.items())


def _shuffle() -> None:
    st.session_state.shuffle = st.session_state.get("shuffle", 0) + 1
