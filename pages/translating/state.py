"""What the page keeps between two runs: searches, traces of what they found, scores, effects of deleting words.

Results are shared by all sessions and must not be changed. Each is kept under the stamp of the checkpoint's weights.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from transformer.analysis.trace import KINDS, Trace
from ui.state import encoder_attention, load, weights_stamp

if TYPE_CHECKING:
    from transformer.analysis.deletion import Deletion
    from transformer.decoding.record import Record
    from transformer.decoding.score import TargetScore

Ids = tuple[int, ...]


def search(name: str, sentence: str, beam: int, alpha: float, prefix: Ids) -> "Record":
    """The search for a sentence's translations. Raises ValueError for what the model cannot take."""
    encoder_attention(name, sentence)  # says in one sentence what is wrong with a sentence
    return _search(name, weights_stamp(name), sentence, beam, alpha, prefix)


def target_trace(name: str, sentence: str, written: Ids, generated: bool) -> Trace:
    """Attention while the model writes these ids."""
    return _trace(name, weights_stamp(name), sentence, written, generated)


def score(name: str, sentence: str, written: Ids) -> "TargetScore":
    """How likely the model finds these ids, token by token."""
    return _score(name, weights_stamp(name), sentence, written)


def deletion(name: str, sentence: str, written: Ids, generated: bool) -> "Deletion":
    """What each source word is worth to each of these ids."""
    return _deletion(name, weights_stamp(name), sentence, written, generated)


def typed_ids(name: str, text: str) -> Ids:
    """A typed target as ids, with its end. Raises ValueError where the model cannot take it."""
    from transformer.text.tokenizer import EOS

    checkpoint = load(name)
    ids = (*checkpoint.tokenizer.encode(text), EOS)
    config = checkpoint.config.model
    most = config.max_length if config.positions == "learned" else MOST_TYPED
    if len(ids) > most:
        raise ValueError(f"The target has {len(ids):,} pieces, and this page takes {most:,}: shorten it.")
    return ids


MOST_TYPED = 1_154
"""Pieces of a typed target: as many as Head maps shows of a model with 3 layers of 4 heads."""


def labels(name: str, ids: Sequence[int]) -> tuple[str, ...]:
    """Pieces of a text as a person reads them."""
    from transformer.text.words import display_pieces

    return tuple(display_pieces(load(name).tokenizer.pieces(ids)))


def text(name: str, ids: Sequence[int]) -> str:
    return load(name).tokenizer.decode(ids)


@st.cache_resource(max_entries=4, show_spinner=False)
def _search(name: str, stamp: int, sentence: str, beam: int, alpha: float, prefix: Ids) -> "Record":
    from transformer.decoding.record import record_search

    checkpoint = load(name)
    source = checkpoint.tokenizer.encode(sentence)
    return record_search(checkpoint.model, source, beam=beam, alpha=alpha, prefix=prefix)


@st.cache_resource(max_entries=4, show_spinner=False)
def _trace(name: str, stamp: int, sentence: str, written: Ids, generated: bool) -> Trace:
    from transformer.analysis.tracing import trace_ids
    from transformer.text.tokenizer import EOS

    checkpoint = load(name)
    texts = sentence, checkpoint.tokenizer.decode(written)
    source = [*checkpoint.tokenizer.encode(sentence), EOS]
    traced = trace_ids(checkpoint, texts, source, written, generated=generated)
    return replace(traced, **{kind: replace(traced[kind], scores=None) for kind in KINDS})


@st.cache_resource(max_entries=16, show_spinner=False)
def _score(name: str, stamp: int, sentence: str, written: Ids) -> "TargetScore":
    from transformer.decoding.score import score_target

    checkpoint = load(name)
    return score_target(checkpoint.model, checkpoint.tokenizer.encode(sentence), written)


@st.cache_resource(max_entries=8, show_spinner=False)
def _deletion(name: str, stamp: int, sentence: str, written: Ids, generated: bool) -> "Deletion":
    from transformer.analysis.deletion import delete_words

    return delete_words(load(name), _trace(name, stamp, sentence, written, generated))
