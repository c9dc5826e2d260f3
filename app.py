"""Roundtable: the page list and the sidebar. `make app` starts it; pages/ holds what is shown."""

from pathlib import Path

import streamlit as st

from ui.link import remember_link
from ui.sidebar import sidebar
from ui.state import run

UI = Path(__file__).parent / "ui"

st.set_page_config(page_title="Roundtable", page_icon=str(UI / "icon.svg"), layout="wide")
st.logo(str(UI / "logo.svg"), size="large", icon_image=str(UI / "icon.svg"))
st.html(UI / "style.css")

page = st.navigation(
    [
        st.Page("pages/head_maps.py", title="Head maps", url_path="start", default=True),
        st.Page("pages/translation.py", title="Translation"),
        st.Page("pages/positional_encodings.py", title="Positional encodings"),
        st.Page("pages/ablations.py", title="Ablations"),
        st.Page("pages/training.py", title="Training"),
        st.Page("pages/model_card.py", title="Model card"),
        # The default page answers at / alone; a link to /head_maps works too, as one to every other page does.
        st.Page("pages/head_maps.py", title="Head maps", visibility="hidden"),
    ]
)
remember_link()
st.session_state.request = sidebar(page)
run(page)
