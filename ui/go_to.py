"""Changing the page from Python."""

from typing import NoReturn

import streamlit as st


def go_to(page: str) -> NoReturn:
    """Show another page; the widgets that both have keep their values, in the address bar too.

    Without query_params Streamlit would clear the address bar, which it refuses while a widget is bound to it.
    """
    st.switch_page(page, query_params={})
