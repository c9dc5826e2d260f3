"""The opened head between one query and one key: what each dimension adds to the score."""

from functools import partial

import streamlit as st

from pages.heads.pair import as_computed, choose_key, choose_query, opened_parts
from pages.heads.take_head import HeadView, take_parts
from pages.heads.view import View
from transformer.analysis.attention import Attention
from transformer.export.head_files import key_rows, pair_rows
from transformer.export.svg_neurons import MOST_KEYS, neurons_svg
from ui.equation_text import pair_line
from ui.markdown import plain
from ui.neuron_figures import describe_pair, describe_row, pair_figure, row_figure
from ui.sidebar import Request

CHART = {"displaylogo": False}


def neurons(request: Request, view: View, attention: Attention, width: int) -> None:
    """The pair dimension by dimension, and the query's whole row before and after softmax."""
    try:
        parts = opened_parts(request, view)
    except ValueError as error:
        st.info(plain(error))
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        query = choose_query(parts)
        key = choose_key(parts, query)
        shown = HeadView(
            f"neurons-{query}-{key}",
            partial(neurons_svg, parts, query, key),
            {"dimensions": partial(pair_rows, parts, query, key), "keys": partial(key_rows, parts, query)},
            f"q[{query}] * head.k[{key}] * head.scale",
        )
        take_parts(request, view, parts, shown)
    st.html(pair_line(parts, query, key, as_computed(view)))
    alt = describe_pair(parts, query, key)
    st.plotly_chart(pair_figure(parts, query, key, width), width="content", key="neurons", alt=alt, config=CHART)
    n_keys = len(parts.keys)
    left_out = f" Of {n_keys} keys the {MOST_KEYS} of most weight are drawn." if n_keys > MOST_KEYS else ""
    st.html(
        '<div class="note">The same query against every key: its products, the scores before softmax, the weights '
        f"after it.{left_out}</div>"
    )
    alt = describe_row(parts, query)
    st.plotly_chart(row_figure(parts, query, key, width), width="content", key="neuron_row", alt=alt, config=CHART)
