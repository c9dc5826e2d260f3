"""The opened head as a heat map."""

import streamlit as st

from pages.heads.view import View
from transformer.analysis.attention import Attention
from ui.figures import describe_head, head_figure
from ui.sidebar import Request


def opened_map(request: Request, view: View, attention: Attention, width: int) -> None:
    """The head with its words, and every weight when pointed at."""
    draw_map(attention, *view.place(attention), width)


def draw_map(attention: Attention, layer: int, head: int, width: int, key: str = "opened") -> None:
    figure, alt = head_figure(attention, layer, head, width), describe_head(attention, layer, head)
    st.plotly_chart(figure, width="content", key=key, alt=alt, config={"displaylogo": False})
