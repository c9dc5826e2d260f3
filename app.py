"""Roundtable: the page list and the sidebar. `make app` starts it; pages/ holds what is shown."""

from pathlib import Path

import streamlit as st

from pages import head_maps, model_card
from ui.sidebar import sidebar

UI = Path(__file__).parent / "ui"

st.set_page_config(page_title="Roundtable", page_icon=str(UI / "icon.svg"), layout="wide")
st.logo(str(UI / "logo.svg"), size="large", icon_image=str(UI / "icon.svg"))
st.html(UI / "style.css")

page = st.navigation(
    [
        st.Page(head_maps.show, title="Head maps", url_path="head_maps", default=True),
        st.Page(model_card.show, title="Model card", url_path="model_card"),
    ]
)
st.session_state.request = sidebar()
page.run()
