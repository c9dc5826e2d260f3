"""What is lost when a model is run without its positions, or when words change places."""

from html import escape

import numpy as np
import streamlit as st

from pages.encodings.views import CHART, Given, column_rows
from transformer.analysis.attention import Attention
from transformer.analysis.compare import LN_2
from transformer.export.numbers import scientific
from ui.encoding_state import divergences, order
from ui.encoding_theme import ENCODING_NAMES
from ui.position_figures import divergence_figure, order_figure
from ui.sidebar import Request
from ui.state import about


def without_positions(request: Request) -> Given | None:
    if _encoding(request) == "none":
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


def order_matters(request: Request, attention: Attention) -> Given:
    seed = int(st.session_state.get("shuffle", 0))
    shown = order(request, seed)
    encoding = _encoding(request)
    bare, given = shown.bare.encoder, None if encoding == "none" else shown.given.encoder
    st.button("Shuffle again", on_click=_shuffle, key="shuffle_again")
    st.html(
        f'<div class="note">as it was</div><div dir="auto">{escape(" ".join(attention.keys.labels))}</div>'
        f'<div class="note">shuffled</div><div dir="auto"><b>{escape(" ".join(shown.shuffled))}</b></div>'
    )
    if given is None:
        change, read = "and this model was trained so", ""
    else:
        change = f"with them ({ENCODING_NAMES[encoding]}) they change, by {given.min():.0%} to {given.max():.0%}"
        read = f" (with them {shown.given.decoder:.0%})"
    st.markdown(
        "Each token's encoder output in the shuffled sentence, against its output in the sentence as it was. "
        f"**Without positions the outputs shuffle along**, to {scientific(shown.bare.encoder_largest)}; {change}. The "
        "decoder's causal mask gives it order all the same: without positions its last output still moves by "
        f"{shown.bare.decoder:.0%} when what it has read is shuffled{read}."
    )
    figure = order_figure(bare, given, shown.shuffled, encoding)
    alt = "Change of each token's output when the sentence is shuffled."
    st.plotly_chart(figure, key="order", alt=alt, config=CHART)
    columns = {"without_positions": bare} | ({} if given is None else {"with_positions": given})
    return Given(
        f"{request.model}-order-matters",
        {"model": request.model, "sentence": request.sentence, "shuffle": seed},
        {"changes": lambda: column_rows(token=list(shown.shuffled), was_at=list(shown.bare.order), **columns)},
        "from transformer import load_checkpoint\n"
        "from transformer.analysis.order import order_effect, without_positions\n"
        "from transformer.text.words import group_words\n\n"
        f"checkpoint = load_checkpoint({request.model!r})\n"
        f"ids = [*checkpoint.tokenizer.encode({request.sentence!r}), 3]  # 3 is </s>\n"
        "words = group_words(checkpoint.tokenizer.pieces(ids))\n"
        f"order_effect(checkpoint.model, ids, words, {seed}).encoder  # of each token, with positions\n"
        f"order_effect(without_positions(checkpoint.model), ids, words, {seed}).encoder",
    )


def _encoding(request: Request) -> str:
    return about(request.model)["model"]["positions"]


def _describe_divergences(found: dict[str, np.ndarray]) -> str:
    return "; ".join(f"{kind}: {values.min():.2f} to {values.max():.2f} nats" for kind, values in found.items())


def _shuffle() -> None:
    st.session_state.shuffle = st.session_state.get("shuffle", 0) + 1
