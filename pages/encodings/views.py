"""What the three tabs share: the switch between their views, and how charts are shown."""

from collections.abc import Sequence

import streamlit as st

CHART = {"displaylogo": False}


def choose_view(views: Sequence[str], key: str) -> str:
    """Draw the switch; the view chosen, the first until somebody chooses. The address bar holds it under `key`."""
    chosen = st.segmented_control(
        "View", views, default=views[0], required=True, key=key, bind="query-params", label_visibility="collapsed"
    )
    return chosen or views[0]
