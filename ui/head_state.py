"""One head, step by step, kept between two runs: what the equation and the neurons show."""

from typing import TYPE_CHECKING

import streamlit as st

from ui.sidebar import Request
from ui.state import encoder_attention, load, trace, weights_stamp

if TYPE_CHECKING:
    from transformer.analysis.attention import Kind
    from transformer.analysis.head_parts import HeadParts


def parts_of(request: Request, kind: "Kind", layer: int, head: int, untrained: bool = False) -> "HeadParts":
    """One head on the sidebar's sentence pair, or the same head of the untrained twin over the same pieces.

    Raises ValueError, in one sentence, for what the model cannot take.
    """
    stamp = weights_stamp(request.model)
    return _parts(request.model, stamp, request.sentence, request.target, kind, layer, head, untrained)


@st.cache_resource(max_entries=6, show_spinner=False)
def _parts(
    name: str, stamp: int, sentence: str, target: str | None, kind: "Kind", layer: int, head: int, untrained: bool
) -> "HeadParts":
    from transformer.analysis.head_parts import head_parts

    if kind == "encoder":
        attention = encoder_attention(name, sentence, untrained)
        source = attention.keys
    else:
        traced = trace(name, sentence, target, untrained)
        attention, source = traced[kind], traced.source
    return head_parts(load(name, untrained), attention, source, layer, head)
