"""What outlives one run of a page: loaded checkpoints, traces, and what is known of a checkpoint without loading it.

Everything heavy is imported inside these functions, after the first paint. Results are shared by all sessions and must
not be changed.
"""

import json
import math
import runpy
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from transformer.analysis.attention import Attention
from transformer.analysis.trace import KINDS, Trace
from transformer.folders import find_checkpoint

if TYPE_CHECKING:
    from streamlit.navigation.page import Page

    from transformer.checkpoint import Checkpoint

MAX_WEIGHTS = 16_000_000  # of one kind, 64 MB: 1,154 pieces with 3 layers of 4 heads, 577 with 6 layers of 8
_inside_app: ContextVar[bool] = ContextVar("inside_app", default=False)


def run(page: "Page") -> None:
    """What app.py does with the page that was chosen."""
    inside = _inside_app.set(True)
    try:
        page.run()
    finally:
        _inside_app.reset(inside)


def show_page(show: Callable[[], None]) -> None:
    """What a page's file ends with: show the page, inside app.py."""
    if _inside_app.get():
        show()
    else:
        enter_through_app()


def enter_through_app() -> None:
    """Run app.py in place of a page's file; app.py then runs that file again.

    Streamlit takes pages/ beside app.py for pages of the old kind until app.py has called st.navigation once. When the
    very first visit to a server is a link to a page, it therefore runs the page's file alone.
    """
    runpy.run_path(str(Path(__file__).parents[1] / "app.py"))


def about(name: str) -> dict[str, Any]:
    """What config.json of a checkpoint says, {} where it cannot be read. Loads no weights."""
    try:
        return json.loads((find_checkpoint(name) / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def load(name: str, untrained: bool = False) -> "Checkpoint":
    """A checkpoint by name, or its twin at step 0; loaded once, and again when its weights on disk have changed.

    Raises CheckpointError.
    """
    return _twin(name, weights_stamp(name)) if untrained else _load(name, weights_stamp(name))


def encoder_attention(name: str, sentence: str, untrained: bool = False) -> Attention:
    """The encoder's attention alone, which needs no translation. Raises ValueError for what the model cannot take."""
    return _encoder_attention(name, weights_stamp(name), sentence, untrained)


def trace(name: str, sentence: str, target: str | None, untrained: bool = False) -> Trace:
    """The trace of a sentence with a target, None for the model's own. Raises ValueError for what it cannot take.

    The untrained twin reads and writes the pieces of the trained model, so that both have the same rows.
    """
    return _trace(name, weights_stamp(name), sentence, target, untrained)


def weights_stamp(name: str) -> int:
    """Another number when a checkpoint's weights on disk have changed; what is kept of it is kept under this."""
    path = find_checkpoint(name) / "model.safetensors"
    return path.stat().st_mtime_ns if path.exists() else 0


@st.cache_resource(max_entries=6, show_spinner=False)  # four that are compared, and two that differ in their seed
def _load(name: str, stamp: int) -> "Checkpoint":
    import torch

    from transformer.checkpoint import load_checkpoint

    # Decoding is thousands of small steps, each with a barrier for all threads: beside a training run on the same cores
    # a translation with 2 threads took 30 s, with one 0.7 s. On an idle machine one thread is no slower at these sizes.
    torch.set_num_threads(1)
    return load_checkpoint(name)


@st.cache_resource(max_entries=2, show_spinner=False)
def _twin(name: str, stamp: int) -> "Checkpoint":
    return _load(name, stamp).untrained()


@st.cache_resource(max_entries=4, show_spinner=False)
def _encoder_attention(name: str, stamp: int, sentence: str, untrained: bool) -> Attention:
    from transformer.analysis.tracing import trace_encoder

    checkpoint = load(name, untrained)
    _check_length(checkpoint, sentence, "sentence")
    return replace(trace_encoder(checkpoint, sentence), scores=None)


# cache_resource, because cache_data would unpickle megabytes at every click.
@st.cache_resource(max_entries=8, show_spinner=False)
def _trace(name: str, stamp: int, sentence: str, target: str | None, untrained: bool) -> Trace:
    if untrained:
        from transformer.analysis.retrace import retrace

        traced = retrace(load(name, untrained=True), trace(name, sentence, target))
    else:
        checkpoint = _load(name, stamp)
        _check_length(checkpoint, sentence, "sentence")
        if target is not None:
            _check_length(checkpoint, target, "target")
        traced = checkpoint.trace(sentence, target)
    return replace(traced, **{kind: replace(traced[kind], scores=None) for kind in KINDS})


def _check_length(checkpoint: "Checkpoint", text: str, what: str) -> None:
    n_pieces, shape = len(checkpoint.tokenizer.encode(text)), checkpoint.config.model
    n_heads = max(shape.n_encoder_layers, shape.n_decoder_layers) * shape.n_heads
    most = math.isqrt(MAX_WEIGHTS // n_heads)
    if n_pieces > most:
        raise ValueError(f"The {what} has {n_pieces:,} pieces, and maps of {n_heads} heads take {most:,}: shorten it.")
