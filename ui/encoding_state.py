"""What the page Positional encodings keeps between two runs: what it measured in a model."""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import streamlit as st

from transformer.analysis.attention import Attention
from transformer.analysis.distance import ByDistance, by_distance
from transformer.analysis.trace import KINDS
from transformer.folders import find_checkpoint
from transformer.text.tokenizer import EOS, Tokenizer
from ui.learned_tables import is_here
from ui.sidebar import Request, examples
from ui.state import load, trace, weights_stamp

if TYPE_CHECKING:
    from transformer.analysis.order import OrderEffect
    from transformer.analysis.score_parts import ScoreParts
    from transformer.checkpoint import Checkpoint

N_SENTENCES = 64
"""Sentences that attention by distance is averaged over."""


def n_tokens(request: Request | None) -> int:
    """Tokens of the sentence as the chosen model counts them, </s> included; 0 without a model or a sentence."""
    if request is None or not request.sentence.strip():
        return 0
    try:
        return len(_tokenizer(find_checkpoint(request.model)).encode(request.sentence)) + 1
    except ValueError:
        return 0


@st.cache_resource(max_entries=8, show_spinner=False)
def _tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.load(folder / "tokenizer.model")


def parts(request: Request, kind: Literal["encoder", "decoder"]) -> "ScoreParts":
    """The terms of layer 0's scores: of the sentence, or of what the decoder reads. Raises ValueError as trace does."""
    target = trace(request.model, request.sentence, request.target).target_text if kind == "decoder" else None
    return _parts(request.model, weights_stamp(request.model), request.sentence, target)


@st.cache_resource(max_entries=8, show_spinner=False)
def _parts(name: str, stamp: int, sentence: str, target: str | None) -> "ScoreParts":
    from transformer.analysis.score_parts import score_parts
    from transformer.text.tokenizer import BOS

    checkpoint = load(name)
    if target is None:
        return score_parts(checkpoint.model, [*checkpoint.tokenizer.encode(sentence), EOS], "encoder")
    return score_parts(checkpoint.model, [BOS, *_target_ids(checkpoint, target)], "decoder")


def divergences(request: Request, untrained: bool = False) -> dict[str, np.ndarray]:
    """For each kind (layer, head): nats by which patterns move when the model is run without its positions.

    Both runs read the same sentence and the same target. Raises ValueError as trace does.
    """
    target = trace(request.model, request.sentence, request.target).target_text
    return _divergences(request.model, weights_stamp(request.model), request.sentence, target, untrained)


@st.cache_resource(max_entries=8, show_spinner=False)
def _divergences(name: str, stamp: int, sentence: str, target: str, untrained: bool) -> dict[str, np.ndarray]:
    from transformer.analysis import compare
    from transformer.analysis.order import without_positions

    checkpoint = load(name).untrained() if untrained else load(name)
    bare = replace(checkpoint, model=without_positions(checkpoint.model))
    given, taken = (_trace(one, sentence, target) for one in (checkpoint, bare))
    return {kind: compare.by_index(compare.divergences(given[kind], taken[kind])) for kind in KINDS}


def _trace(checkpoint: "Checkpoint", sentence: str, target: str):
    from transformer.analysis.tracing import trace_ids

    source, written = [*checkpoint.tokenizer.encode(sentence), EOS], [*_target_ids(checkpoint, target), EOS]
    return trace_ids(checkpoint, (sentence, target), source, written, generated=False)


def _target_ids(checkpoint: "Checkpoint", target: str) -> list[int]:
    """The target without </s>, as far as the model has positions: one that cannot translate yet writes on and on."""
    shape, ids = checkpoint.config.model, checkpoint.tokenizer.encode(target)
    return ids[: shape.max_length - 1] if shape.positions == "learned" else ids


def untrained_encoder(request: Request) -> Attention:
    """The encoder's attention of the model at step 0. Raises ValueError for a sentence it cannot take."""
    return _untrained_encoder(request.model, weights_stamp(request.model), request.sentence)


@st.cache_resource(max_entries=4, show_spinner=False)
def _untrained_encoder(name: str, stamp: int, sentence: str) -> Attention:
    from transformer.analysis.tracing import trace_encoder

    return trace_encoder(load(name).untrained(), sentence)


@dataclass(frozen=True)
class DistanceSample:
    """Attention by distance, of encoder and decoder, and what it was averaged over."""

    measured: dict[str, ByDistance]
    source: str


def distances(name: str) -> DistanceSample:
    """Averaged over validation pairs where the corpus is here, else over the example sentences of the sidebar."""
    return _distances(name, weights_stamp(name))


@st.cache_resource(max_entries=4, show_spinner=False)
def _distances(name: str, stamp: int) -> DistanceSample:
    checkpoint = load(name)
    corpus = checkpoint.config.corpus.get("name", "")
    if is_here(corpus):
        from transformer.text.corpora import load_corpus

        pairs = load_corpus(corpus).pairs("validation")
        # Evenly through the split: it may be sorted.
        pairs = pairs[:: max(1, len(pairs) // N_SENTENCES)][:N_SENTENCES]
        source = f"{len(pairs)} validation pairs of {corpus}"
    else:
        pairs = _translated(name)
        source = f"the {len(pairs)} example sentences, since {corpus or 'its corpus'} is not here"
    traces = [_trace(checkpoint, *pair) for pair in pairs if _fits(checkpoint, *pair)]
    kinds = ("encoder", "decoder")
    return DistanceSample({kind: by_distance((one[kind] for one in traces), 12) for kind in kinds}, source)


def _translated(name: str) -> list[tuple[str, str]]:
    """The sidebar's example sentences with the model's own translations, those left out that it cannot take."""
    pairs = []
    for sentence in examples(name):
        with suppress(ValueError):
            pairs.append((sentence, trace(name, sentence, None).target_text or sentence))
    return pairs


def _fits(checkpoint: "Checkpoint", *texts: str) -> bool:
    from transformer.analysis.by_length import fits

    source, target = map(checkpoint.tokenizer.encode, texts)
    return fits(checkpoint.model, (source, target))


@dataclass(frozen=True)
class OrderShown:
    """What shuffling a sentence's words does to a model, and to the same model without positions."""

    shuffled: tuple[str, ...]
    given: "OrderEffect"
    bare: "OrderEffect"


def order(request: Request, seed: int) -> OrderShown:
    """Raises ValueError for a sentence that the model cannot take."""
    return _order(request.model, weights_stamp(request.model), request.sentence, seed)


@st.cache_resource(max_entries=16, show_spinner=False)
def _order(name: str, stamp: int, sentence: str, seed: int) -> OrderShown:
    from transformer.analysis.order import order_effect, without_positions
    from transformer.text.words import display_pieces, group_words

    checkpoint = load(name)
    ids = [*checkpoint.tokenizer.encode(sentence), EOS]
    pieces = checkpoint.tokenizer.pieces(ids)
    words = group_words(pieces)
    given = order_effect(checkpoint.model, ids, words, seed)
    bare = order_effect(without_positions(checkpoint.model), ids, words, seed)
    labels = display_pieces([pieces[index] for index in given.order])
    return OrderShown(tuple(labels), given, bare)
