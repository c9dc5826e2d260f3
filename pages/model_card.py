"""Model card: what the chosen model was trained on, under which licence, how good it is, and where its limits are."""

import streamlit as st

from transformer.folders import find_checkpoint
from ui.link import link_line
from ui.markdown import plain
from ui.sidebar import NO_MODEL, Request, describe
from ui.state import about, show_page

KEYS = ("model", "sentence", "target")
"""What a link to this page may say."""


def show() -> None:
    request: Request | None = st.session_state.request
    st.title("Model card", anchor=False)
    if said := link_line(KEYS, st.session_state):
        st.html(said)
    if request is None:
        st.info(NO_MODEL)
        return
    card = find_checkpoint(request.model) / "README.md"
    if card.exists():
        text = card.read_text("utf-8", errors="replace").removeprefix(f"# {request.model}\n")
        st.markdown(text.replace("![", "["), width=760)  # a picture is a link, for it might be fetched from anywhere
        return
    corpus = about(request.model).get("corpus") or {}
    st.markdown(f"**{request.model}** has no card. Its config.json says: {plain(describe(request.model))}.")
    names = {"name": "Corpus", "licence": "Licence", "attribution": "Attribution"}
    st.table({name: plain(corpus.get(field, "")) for field, name in names.items()}, width="content")


show_page(show)
