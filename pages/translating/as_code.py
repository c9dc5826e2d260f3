"""The lines of Python that give the numbers of a tab."""

import streamlit as st

from pages.translating.layers import AlignBy
from pages.translating.view import View

DEFAULTS = (4, 0.6)
"""Beam and α of Checkpoint.trace."""
_IMPORT_EOS = "from transformer.text.tokenizer import EOS\n"


def show_code(code: str) -> None:
    with st.expander("As code"):
        st.code(code, language="python")


def search_code(view: View) -> str:
    record = view.record
    prefix = f", prefix={list(record.prefix)}" if record.prefix else ""
    return (
        "from transformer import load_checkpoint\n"
        "from transformer.decoding.record import record_search\n\n"
        f"checkpoint = load_checkpoint({view.model!r})\n"
        f"source = checkpoint.tokenizer.encode({view.sentence!r})\n"
        f"record = record_search(checkpoint.model, source, beam={record.beam}, alpha={record.alpha}{prefix})\n"
        "[(checkpoint.tokenizer.decode(found.tokens), found.log_prob, found.score) for found in record.found]\n"
    )


def alignment_code(view: View, how: AlignBy) -> str:
    weights = "weights.mean((0, 1))"
    if how.layer is not None:
        weights = f"weights[{how.layer}].mean(0)" if how.head is None else f"weights[{how.layer}, {how.head}]"
    by = f"threshold={how.threshold}" if how.threshold is not None else repr(how.direction)
    return (
        "from transformer import load_checkpoint\n"
        "from transformer.analysis.alignment import word_links, word_weights\n"
        f"{_trace_import(view)}\n"
        f"{_trace(view)}"
        f"weights = word_weights(trace.cross, {how.rows!r})\n"
        f"sorted(word_links({weights}, {by}))  # (source word, target word)\n"
    )


def deletion_code(view: View) -> str:
    return (
        "from transformer import load_checkpoint\n"
        "from transformer.analysis.deletion import delete_words\n"
        f"{_trace_import(view)}\n"
        f"{_trace(view)}"
        "delete_words(checkpoint, trace).drop  # (target token, source word), in nats\n"
    )


def score_code(view: View) -> str:
    """Of the typed target, or of the opened hypothesis by its pieces: its text may be cut into others."""
    encode = "checkpoint.tokenizer.encode"
    written = list(view.read) if view.typed is None else f"[*{encode}({view.request.target!r}), EOS]"
    return (
        "from transformer import load_checkpoint\n"
        "from transformer.decoding.score import score_target\n"
        f"{'' if view.typed is None else _IMPORT_EOS}\n"
        f"checkpoint = load_checkpoint({view.model!r})\n"
        f"scored = score_target(checkpoint.model, {encode}({view.sentence!r}), {written})\n"
        "scored.log_prob, scored.mean, scored.token_log_probs\n"
    )


def _plain(view: View) -> bool:
    """Whether Checkpoint.trace gives what is shown."""
    record = view.record
    by_default = not record.prefix and (record.beam, record.alpha) == DEFAULTS
    return view.typed is not None or (view.chosen == 0 and by_default)


def _trace_import(view: View) -> str:
    return "" if _plain(view) else f"from transformer.analysis.tracing import trace_ids\n{_IMPORT_EOS}"


def _trace(view: View) -> str:
    start = f"checkpoint = load_checkpoint({view.model!r})\n"
    if _plain(view):
        target = "" if view.typed is None else f", {view.request.target!r}"
        return f"{start}trace = checkpoint.trace({view.sentence!r}{target})\n"
    source = f"[*checkpoint.tokenizer.encode({view.sentence!r}), EOS]"
    return (
        f"{start}written = {list(view.read)}\n"
        f"trace = trace_ids(checkpoint, ({view.sentence!r}, ''), {source}, written, generated=True)\n"
    )
