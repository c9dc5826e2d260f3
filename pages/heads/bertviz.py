"""BertViz's head and model view of what the page shows. Nothing of it is loaded before its tab is opened."""

import streamlit as st

from pages.heads.single import attention_of
from pages.heads.view import View
from ui.markdown import plain
from ui.sidebar import Request

VIEWS = ("head view", "model view")


def bertviz(request: Request, view: View) -> None:
    """The kind of attention chosen above, through the same filters, in the theme's colours."""
    chosen = st.segmented_control(
        "BertViz", VIEWS, default="head view", required=True, key="bertviz", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    attention = attention_of(request, view)
    with st.spinner("Loading BertViz …"):
        from ui.bertviz import bertviz_frame
        from ui.bertviz_parts import BertVizError

        try:
            page = bertviz_frame(
                attention,
                "model" if chosen == "model view" else "head",
                dark=st.context.theme.type == "dark",
            )
        except BertVizError as error:
            st.info(plain(error))
            return
    st.iframe(page, height="content", alt=f"BertViz, {chosen} of {view.kind} attention")
