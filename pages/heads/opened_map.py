"""The opened head as a heat map."""

import streamlit as st

from pages.heads.view import View
from transformer.analysis.attention import Attention
from ui.figures import describe_head, head_figure
from ui.sidebar import Request


def opened_map(request: Request, view: View, attention: Attention, width: int) -> None:
    """The head with its words, and every weight when pointed at."""
    layer, head = view.place(attention)
    figure, alt = head_figure(attention, layer, head, width), describe_head(attention, layer, head)
    st.plotly_chart(figure, width="content", key="opened", alt=alt, config={"displaylogo": False})
