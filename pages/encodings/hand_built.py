"""A head that nobody trained, which looks k places away, and the trained head that comes nearest to it."""

import numpy as np
import streamlit as st

from pages.encodings.views import CHART
from transformer.analysis.attention import Attention
from transformer.analysis.hand_built import even_pattern, hand_built_pattern, nearest_heads, weight_at
from ui.encoding_state import untrained_encoder
from ui.figures import head_figure
from ui.sidebar import Request
from ui.state import about

FURTHEST = 20


def hand_built(request: Request, trained: Attention) -> None:
    first, second = st.columns(2, gap="medium")
    k = first.slider("k: how many positions on", -FURTHEST, FURTHEST, 3, key="k", bind="query-params")
    sharpness = second.select_slider(
        "Sharpness: a factor on W_Q", (1, 2, 4, 8, 16), 4, key="sharpness", bind="query-params"
    )
    tokens, d_model = trained.keys, about(request.model)["model"]["d_model"]
    wanted = hand_built_pattern(len(tokens), d_model + d_model % 2, k, sharpness=sharpness)
    built = Attention("encoder", wanted[None, None].astype(np.float32), None, trained.mask, tokens, tokens)
    matches = nearest_heads(trained.pattern, wanted, k)
    st.markdown(
        "A head that sees nothing but sinusoids, with W_Q = Mₖ and W_K = 1: **its band stands k places off the "
        "diagonal**. Nobody trained it. Beside it the trained encoder head that comes nearest to it."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**Built by hand**, k = {k}: {float(weight_at(wanted, k)):.0%} of the weight on its band")
        st.plotly_chart(head_figure(built, 0, 0, 430), width="content", key="built", alt=f"Band at {k}.", config=CHART)
    if not matches:
        right.info(f"The sentence has {len(tokens)} tokens: none of them has another {abs(k)} places away.")
        return
    best = matches[0]
    with right:
        st.markdown(
            f"**Nearest of {len(matches)} heads of {request.model}**: L{best.layer}·H{best.head}, overlap "
            f"{best.overlap:.2f}, {best.on_band:.0%} of its weight on the band"
        )
        alt = f"Trained head {best.layer}, {best.head}."
        st.plotly_chart(
            head_figure(trained, best.layer, best.head, 430), width="content", key="nearest", alt=alt, config=CHART
        )
    twin = nearest_heads(untrained_encoder(request).pattern, wanted, k)[0]
    even = nearest_heads(even_pattern(trained.mask)[None, None], wanted, k)[0]
    st.caption(
        "Overlap is the weight that two patterns have in common, 1 where they are the same. For comparison: a head "
        f"that attends evenly {even.overlap:.2f}, the untrained model's nearest {twin.overlap:.2f}. Next: "
        + ", ".join(f"L{m.layer}·H{m.head} {m.overlap:.2f}" for m in matches[1:4])
    )
