"""Attention by distance, averaged over many sentences: a head that goes by position has a peak."""

import numpy as np
import streamlit as st

from pages.encodings.views import CHART, Given, choose_number, choose_side, column_rows
from transformer.analysis.distance import ByDistance
from ui.encoding_state import distances
from ui.position_figures import distance_figure
from ui.sidebar import Request


def by_distance(request: Request) -> Given:
    with st.spinner(f"Averaging {request.model}'s attention over sentences …"):
        sample = distances(request.model)
    first, second = st.columns(2, gap="medium")
    side = choose_side(first)
    measured = sample.measured[side]
    layer = choose_number(second, "Layer", len(measured.weight), "at_layer")
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
