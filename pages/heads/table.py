"""The opened head in numbers: what the picture shows, for those who read or hear it."""

import streamlit as st

from pages.heads.single import attention_of, title_of
from pages.heads.view import View
from ui.figures import describe_head
from ui.head_table import MASKED, head_table
from ui.sidebar import Request


def table(request: Request, view: View) -> None:
    """Queries down, keys across, one weight a cell."""
    attention = attention_of(request, view)
    if 0 in attention.mask.shape:
        st.info("Nothing is here but special tokens: show them again, or type another sentence or target.")
        return
    layer, head = view.place(attention)
    st.html(title_of(request, view, attention))
    frame = head_table(attention, layer, head)
    first, *keys = frame.columns
    columns = {first: st.column_config.TextColumn(pinned=True, width=160)}
    columns |= {
        key: st.column_config.NumberColumn(format="%.3f", width=88) for key in keys if frame[key].dtype.kind == "f"
    }
    alt = describe_head(attention, layer, head).replace("Heat map", "Table")
    st.dataframe(frame, hide_index=True, column_config=columns, placeholder=MASKED, key="table", alt=alt)
    st.caption("Rows are queries, columns are keys, both numbered from 0. Each row sums to 1 where no filter is set.")
