"""What the page Head maps keeps between two runs: filtered attention, lengths of value vectors, entropies."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from transformer.analysis.attention import Attention, Kind
from transformer.analysis.filters import Filters, Norms, select
from ui.sidebar import Request
from ui.state import encoder_attention, load, trace, weights_stamp


def raw_attention(request: Request, kind: Kind, untrained: bool) -> Attention:
    """One kind as traced. The encoder waits for no translation. Raises ValueError for what the model cannot take."""
    if kind == "encoder":
        return encoder_attention(request.model, request.sentence, untrained)
    return trace(request.model, request.sentence, request.target, untrained)[kind]


def filtered_attention(request: Request, kind: Kind, untrained: bool, filters: Filters) -> Attention:
    """One kind through the filters. Raises ValueError for what the model cannot take."""
    if not filters.changed():
        return raw_attention(request, kind, untrained)
    name = request.model
    return _filtered(
        name, weights_stamp(name), request.sentence, request.target, kind, untrained, repr(filters), filters
    )


def entropies(request: Request, kind: Kind, untrained: bool) -> np.ndarray:
    """Relative entropy of every head (layer, head), without any filter."""
    name = request.model
    return _entropies(name, weights_stamp(name), request.sentence, request.target, kind, untrained)


def opened_entropy(request: Request, kind: Kind, untrained: bool, layer: str, head: str) -> float:
    """The same of one head, by name, without measuring the others."""
    from transformer.analysis.measures import relative_entropy

    return float(relative_entropy(select(raw_attention(request, kind, untrained), (layer,), (head,)))[0, 0])


@st.cache_resource(max_entries=6, show_spinner=False)
def _filtered(
    name: str,
    stamp: int,
    sentence: str,
    target: str | None,
    kind: Kind,
    untrained: bool,
    said: str,
    _filters: Filters,
) -> Attention:
    alone = kind == "encoder" and _filters.summary != "rollout"
    norms: Mapping[Kind, Norms] | None = None
    if _filters.weighting == "norm":
        norms = _norms(name, stamp, sentence, None if alone else target, alone, untrained)
    if alone:
        attention = encoder_attention(name, sentence, untrained)
        return _filters.of(attention, None if norms is None else norms[kind])
    return _filters.apply(trace(name, sentence, target, untrained), kind, norms)


@st.cache_resource(max_entries=4, show_spinner=False)
def _norms(
    name: str, stamp: int, sentence: str, target: str | None, alone: bool, untrained: bool
) -> Mapping[Kind, Norms]:
    from transformer.analysis.value_norms import value_norms

    checkpoint = load(name, untrained)
    if alone:
        return value_norms(checkpoint, encoder_attention(name, sentence, untrained).keys)
    whole = trace(name, sentence, target, untrained)
    return value_norms(checkpoint, whole.source, whole.decoder.keys)


@st.cache_resource(max_entries=8, show_spinner=False)
def _entropies(name: str, stamp: int, sentence: str, target: str | None, kind: Kind, untrained: bool) -> np.ndarray:
    from transformer.analysis.measures import relative_entropy

    return relative_entropy(raw_attention(Request(name, sentence, target), kind, untrained))
