"""What becomes of a sentence whose words have changed places, with positions and without."""

from html import escape

import streamlit as st

from pages.encodings.views import CHART, Given, column_rows
from transformer.analysis.attention import Attention
from transformer.export.numbers import scientific
from ui.encoding_state import order
from ui.encoding_theme import ENCODING_NAMES
from ui.position_figures import order_figure
from ui.sidebar import Request
from ui.state import about


def order_matters(request: Request, attention: Attention) -> Given:
    seed = int(st.session_state.get("shuffle", 0))
    shown = order(request, seed)
    encoding = about(request.model)["model"]["positions"]
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


def _shuffle() -> None:
    st.session_state.shuffle = st.session_state.get("shuffle", 0) + 1
