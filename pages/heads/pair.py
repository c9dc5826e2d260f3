"""Choosing a query and a key of the opened head; both stand in the address bar, and mean the same in every view."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.heads.view import View
from transformer.analysis.attention import Tokens
from transformer.export.markup import shorten
from ui.head_state import parts_of
from ui.sidebar import Request

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

STRONGEST = "strongest"


def opened_parts(request: Request, view: View) -> "HeadParts":
    """The opened head as the model computes it. Raises ValueError for what the model cannot take."""
    with st.spinner(f"{request.model} is reading …"):
        return parts_of(request, view.kind, int(view.layer), int(view.head), view.untrained)


def as_computed(view: View) -> str:
    """What a view says that shows a head as the model computes it, where the page's filters show something else."""
    if not str(view.filters):
        return ""
    return f"L{view.layer}·H{view.head} alone, piece by piece as the model computes it; filters do not act here."


def numbered(labels: Sequence[str]) -> list[str]:
    """Tokens as options, each with its place, so that repeated words stay apart."""
    return [f"{place} {shorten(label, 18)}" for place, label in enumerate(labels)]


def place_of(option: str) -> int:
    return int(option.partition(" ")[0])


def choose_query(parts: "HeadParts") -> int:
    """Draw the choice of a query: until somebody chooses, that of the strongest weight."""
    chosen = st.selectbox(
        "Query", (STRONGEST, *numbered(parts.queries.labels)), key="query", bind="query-params", width=190,
        help="strongest: the query of the head's largest weight, special tokens aside",
    )  # fmt: skip
    return strongest_query(parts) if chosen == STRONGEST else place_of(chosen)


def choose_key(parts: "HeadParts", query: int) -> int:
    """Draw the choice of a key: until somebody chooses, the one that the query attends to most."""
    chosen = st.selectbox(
        "Key", (STRONGEST, *numbered(parts.keys.labels)), key="key", bind="query-params", width=190,
        help="strongest: the key that the query attends to most, special tokens aside",
    )  # fmt: skip
    return strongest_key(parts, query) if chosen == STRONGEST else place_of(chosen)


def strongest_query(parts: "HeadParts") -> int:
    """That of the largest weight between two words; special tokens draw much weight and say little."""
    words = parts.pattern * _words(parts.queries)[:, None] * _words(parts.keys)
    return int(np.unravel_index((words if words.any() else parts.pattern).argmax(), parts.pattern.shape)[0])


def strongest_key(parts: "HeadParts", query: int) -> int:
    words = parts.pattern[query] * _words(parts.keys)
    return int((words if words.any() else parts.pattern[query]).argmax())


def _words(tokens: Tokens) -> np.ndarray:
    return ~np.array(tokens.special, bool)
