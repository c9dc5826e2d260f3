"""The opened head as Equation 1: its matrices in a row, the arithmetic of one cell, and the lines that compute it."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.heads.pair import as_computed, choose_key, choose_query, numbered, opened_parts, strongest_query
from pages.heads.take_head import HeadView, take_parts
from pages.heads.view import View
from transformer.analysis.attention import Attention
from transformer.export.equation import COLUMNS, MATRICES, ROWS, Cell, arithmetic, matrices, where
from transformer.export.head_files import matrix_rows
from transformer.export.svg_equation import equation_svg
from ui.equation_source import source_of
from ui.equation_strip import equation_strip, too_long
from ui.equation_text import arithmetic_block
from ui.markdown import plain
from ui.sidebar import Request

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

NAMES = {"Q": "q", "K": "k", "V": "v", "softmax": "pattern"}
"""Of matrices in HeadParts, where they are others than on the page."""


def equation(request: Request, view: View, attention: Attention, width: int) -> None:
    """The strip; below it what was clicked, with its real numbers."""
    try:
        parts = opened_parts(request, view)
    except ValueError as error:
        st.info(plain(error))
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        cell = choose_cell(parts)
        shown = HeadView(
            f"equation-{cell.matrix}-{cell.row}-{cell.column}",
            partial(equation_svg, parts, cell),
            {"matrices": partial(matrix_rows, parts)},
            f"{NAMES.get(cell.matrix, cell.matrix)}[{cell.row}, {cell.column}]",
        )
        take_parts(request, view, parts, shown)
    st.html(
        '<div class="note">Each matrix is made from those on its left. Outlined is what belongs to the chosen cell. '
        f"{_marks(parts)}{as_computed(view)}</div>"
    )
    if message := too_long(parts):
        st.info(message)
    else:
        equation_strip(parts, cell, lambda picked: pick(parts, picked))
    st.html(arithmetic_block(arithmetic(parts, cell), where(parts, cell)))
    for source in source_of(parts, cell.matrix):
        st.caption(source.place)
        st.code(source.text, language="python", wrap_lines=True)


def _marks(parts: "HeadParts") -> str:
    turned = "↻: turned by RoPE, each row by its position. " if parts.unturned else ""
    return turned + ("b: ALiBi’s bias, which falls with distance. " if parts.bias is not None else "")


def choose_cell(parts: "HeadParts") -> Cell:
    """Draw the same choice as a click makes, for the address bar and for those who do not point."""
    name = st.segmented_control(
        "Cell of", MATRICES, default="scores", required=True, key="matrix", bind="query-params"
    )  # fmt: skip
    matrix = MATRICES[MATRICES.index(name or "scores")]
    query = choose_query(parts) if ROWS[matrix] == "query" else strongest_query(parts)
    key = choose_key(parts, query) if "key" in (ROWS[matrix], COLUMNS[matrix]) else 0
    column = choose_dimension(matrices(parts)[matrix].shape[1]) if COLUMNS[matrix] == "dimension" else key
    return Cell(matrix, query if ROWS[matrix] == "query" else key, column)


def choose_dimension(count: int) -> int:
    return int(
        st.selectbox("Dimension", [str(at) for at in range(count)], key="dimension", bind="query-params", width=90)
    )


def pick(parts: "HeadParts", cell: Cell) -> None:
    """What a click into the strip does, before the page runs again."""
    queries, keys = numbered(parts.queries.labels), numbered(parts.keys.labels)
    st.session_state.matrix = cell.matrix
    st.session_state[ROWS[cell.matrix]] = (queries if ROWS[cell.matrix] == "query" else keys)[cell.row]
    if COLUMNS[cell.matrix] == "key":
        st.session_state.key = keys[cell.column]
    else:
        st.session_state.dimension = str(cell.column)
