"""Equation 1 as a row of linked matrices on one canvas (ui/equation_strip.js, ui/equation_matrices.js).

The browser gets every number as float32, so that what it says of a cell is exact; colours are its own business.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from transformer.export.equation import COLUMNS, MATRICES, ROWS, Cell, made_of, matrices
from ui.component import PALETTE, own_component, packed
from ui.theme import DIFFERENCES, KIND_COLOURS, KIND_NAMES, lookup_table

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

MOST_TOKENS = 64
"""On one side; with more a cell is too small to be pointed at."""

_HTML = """
<div class="scroll">
  <div class="strip" tabindex="0" role="application" aria-roledescription="matrices of Equation 1">
    <canvas aria-hidden="true"></canvas>
    <div class="labels" aria-hidden="true"></div>
    <div class="marks" aria-hidden="true"></div>
    <div class="tip" hidden></div>
    <div class="live" aria-live="polite"></div>
  </div>
</div>
<div class="legend"></div>
"""

_component = own_component("equation_strip", _HTML, "equation_matrices.js")


def equation_strip(
    parts: "HeadParts", selected: Cell, on_pick: Callable[[Cell], None], key: str = "equation_strip"
) -> None:
    """Draw the matrices. A click, Enter or an arrow key calls on_pick before the page runs again."""

    def picked() -> None:
        on_pick(cell_of(parts, st.session_state[key].picked))

    _component(data=payload(parts, selected), key=key, on_picked_change=picked)


def cell_of(parts: "HeadParts", picked: Any) -> Cell:
    """What the browser says was picked, brought inside the matrices."""
    number, row, column = (int(at) for at in picked)
    matrix = MATRICES[min(max(number, 0), len(MATRICES) - 1)]
    n_rows, n_columns = matrices(parts)[matrix].shape
    return Cell(matrix, min(max(row, 0), n_rows - 1), min(max(column, 0), n_columns - 1))


def too_long(parts: "HeadParts") -> str:
    """Why there is no strip, in a sentence; empty where there is one."""
    longest = max(parts.mask.shape)
    if longest <= MOST_TOKENS:
        return ""
    return (
        f"The matrices are drawn for up to {MOST_TOKENS} tokens, and there are {longest} here: choose a cell above to "
        "see its arithmetic, open the Map for the whole pattern, or shorten the sentence."
    )


def payload(parts: "HeadParts", selected: Cell) -> bytes:
    """What the browser gets; after the header float32 numbers."""
    values = matrices(parts)
    under = made_of(parts)
    shown = [
        {
            "name": name,
            "made_of": under[name],
            "rows": ROWS[name],
            "columns": COLUMNS[name],
            "shape": matrix.shape,
            "palette": {"mask": "mask", "softmax": "weights"}.get(name, "signed"),
            "limit": float(np.abs(matrix).max(initial=0, where=np.isfinite(matrix))) or 1.0,
        }
        for name, matrix in values.items()
    ]
    header = {
        "kind": KIND_NAMES[parts.kind],
        "head": parts.name,
        "colour": KIND_COLOURS[parts.kind],
        "queries": parts.queries.labels,
        "keys": parts.keys.labels,
        "matrices": shown,
        "selected": [MATRICES.index(selected.matrix), selected.row, selected.column],
        "signed": lookup_table(DIFFERENCES, 255).tobytes().hex(),
        "weights": PALETTE,
    }
    numbers = b"".join(np.ascontiguousarray(matrix, "<f4").tobytes() for matrix in values.values())
    return packed(header, numbers)
