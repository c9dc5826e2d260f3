"""Changing the page from Python, and getting there."""

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.navigation.page import Page

PAGES = {"Head maps": "pages/head_maps.py", "Training": "pages/training.py"}
"""Files of the pages that buttons lead to, by title."""


def go_to(title: str) -> None:
    """Show another page when the app next runs as a whole; for callbacks.

    The wish stays until that page is there: a part of a page that runs by itself may ask for a run at the same moment,
    and Streamlit then forgets the change of page.
    """
    st.session_state.going_to = title


def is_going() -> bool:
    return "going_to" in st.session_state


def arrive(page: "Page") -> None:
    """Change to the page that is wished for, if this is another; outside of every fragment.

    Widgets that both pages have keep their values. Without query_params Streamlit would clear the address bar, which it
    refuses while a widget is bound to it.
    """
    title = st.session_state.get("going_to")
    if title == page.title:
        del st.session_state.going_to
    elif title is not None:
        st.switch_page(PAGES[title], query_params={})
