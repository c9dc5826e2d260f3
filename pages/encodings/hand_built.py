"""A head that nobody trained, which looks k places away, and the trained head that comes nearest to it."""

import numpy as np
import streamlit as st

from pages.encodings.views import CHART, Given, column_rows
from transformer.analysis.attention import Attention
from transformer.analysis.hand_built import even_pattern, hand_built_pattern, nearest_heads, weight_at
from ui.encoding_state import untrained_encoder
from ui.figures import head_figure
from ui.sidebar import Request
from ui.state import about

FURTHEST = 20


def hand_built(request: Request, trained: Attention) -> Given | None:
    first, second = st.columns(2, gap="medium")
    k = first.slider("k: how many positions on", -FURTHEST, FURTHEST, -1, key="k", bind="query-params")
    sharpness = second.select_slider(
        "Sharpness: a factor on W_Q", (1, 2, 4, 8, 16), 4, key="sharpness", bind="query-params"
    )
    tokens, d_model = trained.keys, about(request.model)["model"]["d_model"]
    d_model += d_model % 2
    wanted = hand_built_pattern(len(tokens), d_model, k, sharpness=sharpness)
    matches = nearest_heads(trained.pattern, wanted, k)
    if not matches:
        st.info(f"The sentence has {len(tokens)} tokens: none of them has another {abs(k)} places away. Move k.")
        return None
    st.markdown(
        "A head that sees nothing but sinusoids, with W_Q = Mₖ and W_K = 1: **its band stands k places off the "
        "diagonal**. Nobody trained it. Beside it the trained encoder head that comes nearest to it. Queries whose "
        "place k on is outside the sentence have no band to attend to, and are not counted."
    )
    built = Attention("encoder", wanted[None, None].astype(np.float32), None, trained.mask, tokens, tokens)
    best = matches[0]
    left, right = st.columns(2, gap="medium")
    titles = (
        f"**Built by hand**: {float(weight_at(wanted, k)):.0%} of its weight on the band",
        f"**L{best.layer}·H{best.head}**: {best.on_band:.0%} of its weight there, overlap {best.overlap:.2f}",
    )
    figures = head_figure(built, 0, 0, 400), head_figure(trained, best.layer, best.head, 400)
    for place, title, figure, key in zip((left, right), titles, figures, ("built", "nearest"), strict=True):
        place.markdown(title)
        place.plotly_chart(figure, width="content", key=key, alt=f"{key}, k = {k}", config=CHART)
    twin = nearest_heads(untrained_encoder(request).pattern, wanted, k)[0]
    even = nearest_heads(even_pattern(trained.mask)[None, None], wanted, k)[0]
    st.caption(
        "Overlap is the weight that two patterns have in common, 1 where they are the same. "
        f"L{best.layer}·H{best.head} is the nearest of the {len(matches)} of {request.model}; for comparison, a head "
        f"that attends evenly {even.overlap:.2f}, the untrained model's nearest {twin.overlap:.2f}. Next: "
        + ", ".join(f"L{m.layer}·H{m.head} {m.overlap:.2f}" for m in matches[1:4])
    )
    return Given(
        f"{request.model}-built-by-hand-{k}",
        {"model": request.model, "sentence": request.sentence, "k": k, "sharpness": sharpness},
        {
            "heads by overlap": lambda: column_rows(
                layer=[m.layer for m in matches], head=[m.head for m in matches],
                overlap=[m.overlap for m in matches], on_band=[m.on_band for m in matches],
            )
        },
        "from transformer import load_checkpoint\n"
        "from transformer.analysis.hand_built import hand_built_pattern, nearest_heads\n\n"
        f"pattern = load_checkpoint({request.model!r}).trace({request.sentence!r}).encoder.pattern\n"
        f"wanted = hand_built_pattern(pattern.shape[-1], {d_model}, {k}, sharpness={sharpness})  # (query, key)\n"
        f"nearest_heads(pattern, wanted, {k})",
        {"built": wanted, "nearest": trained.pattern[best.layer, best.head]},
    )  # fmt: skip
