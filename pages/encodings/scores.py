"""What a head goes by: the terms of layer 0's scores, and attention by distance in every layer."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.encodings.views import CHART, Given, column_rows
from transformer.analysis.attention import Attention
from transformer.analysis.distance import ByDistance
from ui.encoding_state import distances, parts
from ui.position_figures import distance_figure, parts_figure, shares_figure
from ui.sidebar import Request
from ui.state import trace

SIDES = ("encoder", "decoder")


def position_or_content(request: Request, attention: Attention) -> Given:
    first, second = st.columns(2, gap="medium")
    side = _side(first)
    labels = attention.keys.labels
    if side == "decoder":
        with st.spinner(f"{request.model} is translating …"):
            found = parts(request, "decoder")
        read = trace(request.model, request.sentence, request.target).decoder.keys
        labels = read.labels if len(read) == len(found.mask) else tuple(map(str, range(len(found.mask))))
    else:
        found = parts(request, "encoder")
    head = _numbered(second, "Head", len(found.total), "part_head")
    shares = found.shares()
    st.markdown(
        f"Layer 0 is given words and their places, nothing else, so its scores fall apart exactly: "
        f"{_terms(found.parts)}. A head that goes by **position** is coloured, one that goes by **content** grey; its "
        "parts sum to 100 %. Maps: scores before softmax, query down and key across, each row less its mean, since "
        "only differences between keys count."
    )
    left, right = st.columns((1, 2), gap="medium")
    left.plotly_chart(shares_figure(shares), key="shares", alt=_describe_shares(shares), config=CHART)
    figure = parts_figure(found.parts, head, found.mask, labels)
    right.plotly_chart(figure, key="parts", alt=f"The terms of head {head} and their sum.", config=CHART)
    heads = np.arange(len(found.total))
    return Given(
        f"{request.model}-{side}-score-parts",
        {"model": request.model, "sentence": request.sentence, "kind": side, "layer": 0, "tokens": list(labels)},
        {"shares": lambda: column_rows(head=heads, **shares)},
        "from transformer import load_checkpoint\n"
        "from transformer.analysis.score_parts import score_parts\n\n"
        f"checkpoint = load_checkpoint({request.model!r})\n"
        + _ids(request, side)
        + f"found = score_parts(checkpoint.model, ids, {side!r})\nfound.shares(), found.parts  # (head, query, key)",
        found.parts,
    )


def by_distance(request: Request) -> Given:
    with st.spinner(f"Averaging {request.model}'s attention over sentences …"):
        sample = distances(request.model)
    first, second = st.columns(2, gap="medium")
    side = _side(first)
    measured = sample.measured[side]
    layer = _numbered(second, "Layer", len(measured.weight), "at_layer")
    st.markdown(
        f"How much weight each head gives to the token d places on, over {sample.source}. **A peak away from 0 is a "
        f"head that goes by position**; at 0 a token attends to itself, which content alone can do. "
        f"{_peak(measured, layer)}"
    )
    figure = distance_figure(measured, layer)
    st.plotly_chart(figure, key="distance", alt=f"Attention by distance, {side} layer {layer}.", config=CHART)
    weights = {f"H{head}": weight for head, weight in enumerate(measured.weight[layer])}
    return Given(
        f"{request.model}-{side}-L{layer}-by-distance",
        {"model": request.model, "kind": side, "layer": layer, "over": sample.source},
        {
            "by distance": lambda: column_rows(
                distance=measured.distances, **weights, evenly=measured.even, cells=measured.cells
            )
        },
        "from transformer import load_checkpoint\n"
        "from transformer.analysis.distance import by_distance\n\n"
        f"checkpoint = load_checkpoint({request.model!r})\n"
        "sentences = [...]  # the page's are " + sample.source + "\n"
        f"measured = by_distance([checkpoint.trace(one).{side} for one in sentences], 12)\n"
        f"measured.weight[{layer}]  # (head, distance)",
        {"weight": measured.weight, "distance": measured.distances, "evenly": measured.even},
    )


def _side(place: DeltaGenerator) -> str:
    chosen = place.segmented_control(
        "Attention", SIDES, default=SIDES[0], required=True, key="side", bind="query-params"
    )
    return chosen or SIDES[0]


def _numbered(place: DeltaGenerator, label: str, n: int, key: str) -> int:
    """Which of n heads or layers."""
    options = [str(at) for at in range(n)]
    chosen = place.segmented_control(label, options, default="0", required=True, key=key, bind="query-params")
    return int(chosen) if chosen in options else 0


def _peak(measured: ByDistance, layer: int) -> str:
    """The head that gives most to one place other than its own."""
    weights = np.where(measured.distances == 0, 0, np.nan_to_num(measured.weight[layer]))
    if not weights.any():
        return ""
    head, at = np.unravel_index(np.argmax(weights), weights.shape)
    return (
        f"Here H{head} gives {weights[head, at]:.0%} to the token at {measured.distances[at]:+d}, where an even head "
        f"would give {measured.even[at]:.0%}."
    ).replace("-", "−")


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


def _ids(request: Request, side: str) -> str:
    """Python for what the encoder or the decoder reads."""
    if side == "encoder":
        return f"ids = [*checkpoint.tokenizer.encode({request.sentence!r}), 3]  # 3 is </s>\n"
    given = "" if request.target is None else f", {request.target!r}"
    return (
        f"target = checkpoint.trace({request.sentence!r}{given}).target_text\n"
        "ids = [2, *checkpoint.tokenizer.encode(target)]  # 2 is <s>\n"
    )
