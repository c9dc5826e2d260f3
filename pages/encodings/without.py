"""How far each head's pattern moves when a model is run without its positions."""

import numpy as np
import streamlit as st

from pages.encodings.views import CHART, Given
from transformer.analysis.compare import LN_2
from ui.encoding_state import divergences
from ui.position_figures import divergence_figure
from ui.sidebar import Request
from ui.state import about


def without_positions(request: Request) -> Given | None:
    if about(request.model)["model"]["positions"] == "none":
        st.info(f"{request.model} has no positions to take away.")
        return None
    with st.spinner(f"{request.model} is translating …"):
        found = divergences(request)
        untrained = divergences(request, untrained=True)
    st.markdown(
        "The same weights, sentence and target, **once with positions and once without**: how far does each head's "
        f"pattern move? 0 nats: not at all; ln 2 = {LN_2:.2f}: to other keys altogether. Without positions the model "
        "is where it never was in training, so what moves deeper down may also be confusion."
    )
    st.plotly_chart(divergence_figure(found), key="divergence", alt=_describe_divergences(found), config=CHART)
    means = ", ".join(
        f"{kind} {values.mean():.2f} (untrained {untrained[kind].mean():.2f})" for kind, values in found.items()
    )
    st.caption(f"Jensen–Shannon divergence, mean over queries. Mean over heads: {means}.")
    return Given(
        f"{request.model}-without-positions",
        {"model": request.model, "sentence": request.sentence, "target": request.target, "unit": "nats"},
        {
            "divergences": lambda: [
                {
                    "kind": kind, "layer": layer, "head": head, "divergence_nats": float(value),
                    "untrained_nats": float(untrained[kind][layer, head]),
                }
                for kind, values in found.items()
                for (layer, head), value in np.ndenumerate(values)
            ]
        },
        "from dataclasses import replace\n"
        "from transformer import load_checkpoint\n"
        "from transformer.analysis.compare import by_index, divergences\n"
        "from transformer.analysis.order import without_positions\n\n"
        f"checkpoint = load_checkpoint({request.model!r})\n"
        f"given = checkpoint.trace({request.sentence!r}{'' if request.target is None else f', {request.target!r}'})\n"
        "bare = replace(checkpoint, model=without_positions(checkpoint.model))\n"
        "taken = bare.trace(given.source_text, given.target_text)\n"
        "by_index(divergences(given.encoder, taken.encoder))  # (layer, head), in nats",
    )  # fmt: skip


def _describe_divergences(found: dict[str, np.ndarray]) -> str:
    return "; ".join(f"{kind}: {values.min():.2f} to {values.max():.2f} nats" for kind, values in found.items())
