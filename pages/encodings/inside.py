"""In the model: what positions do to the scores, patterns and outputs of trained models, and how far they reach."""

import streamlit as st

from pages.encodings.distances import by_distance
from pages.encodings.hand_built import hand_built
from pages.encodings.lengths import lengths
from pages.encodings.order import order_matters
from pages.encodings.scores import position_or_content
from pages.encodings.views import Given, choose_view, take_it_with_you
from pages.encodings.without import without_positions
from ui.markdown import plain
from ui.sidebar import Request
from ui.state import encoder_attention, load

LENGTHS = "Past the training length"
VIEWS = (
    "A head built by hand",
    "Position or content",
    "Without positions",
    "By distance",
    "Order matters",
    LENGTHS,
)
MOST_TOKENS = 60


@st.fragment
def inside(request: Request | None) -> None:
    """One view, its controls above it."""
    view, take = choose_view(VIEWS, "inside")
    take_it_with_you(take, lengths() if view == LENGTHS else _of_model(view, request))


def _of_model(view: str, request: Request | None) -> Given | None:
    if request is None:
        st.info(
            "There is no trained model here yet; `roundtable train --name mine --corpus reverse` makes one in minutes."
        )
        return None
    try:
        with st.spinner(f"Loading {request.model} …"):
            load(request.model)
        if view == "By distance":
            return by_distance(request)
        attention = encoder_attention(request.model, request.sentence)
        if len(attention.keys) > MOST_TOKENS:
            st.info(f"The sentence has {len(attention.keys)} tokens, and this view shows {MOST_TOKENS}: shorten it.")
            return None
        if view == "Position or content":
            return position_or_content(request, attention)
        if view == "Without positions":
            return without_positions(request)
        if view == "Order matters":
            return order_matters(request, attention)
        return hand_built(request, attention)
    except ValueError as error:
        st.warning(plain(error))
        return None
