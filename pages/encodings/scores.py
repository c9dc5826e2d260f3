"""What a head of layer 0 goes by: the terms of its scores, position and content."""

import numpy as np
import streamlit as st

from pages.encodings.views import CHART, Given, choose_number, choose_side, column_rows
from transformer.analysis.attention import Attention
from ui.encoding_state import parts
from ui.position_figures import parts_figure, shares_figure
from ui.sidebar import Request
from ui.state import trace


def position_or_content(request: Request, attention: Attention) -> Given:
    first, second = st.columns(2, gap="medium")
    side = choose_side(first)
    labels = attention.keys.labels
    if side == "decoder":
        with st.spinner(f"{request.model} is translating …"):
            found = parts(request, "decoder")
        read = trace(request.model, request.sentence, request.target).decoder.keys
        labels = read.labels if len(read) == len(found.mask) else tuple(map(str, range(len(found.mask))))
    else:
        found = parts(request, "encoder")
    head = choose_number(second, "Head", len(found.total), "part_head")
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
