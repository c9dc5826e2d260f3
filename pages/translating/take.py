"""Take it with you: what a tab of the page shows as pictures, numbers and one report."""

import streamlit as st

from pages.translating.export import about_of, facts_of
from pages.translating.view import View
from ui.taken import Origin, Taken, take_views


def take_it_with_you(view: View, taken: Taken | None) -> None:
    """What the popover holds, once it is opened."""
    if taken is None:
        st.info("There is nothing here to take: this tab shows nothing of this sentence yet.")
    else:
        take_views(taken, origin_of(view, taken), view.model, "take")


def origin_of(view: View, taken: Taken) -> Origin:
    about = about_of(view, taken.trace)
    return Origin(about, facts_of(view, about), view.model)
