"""The rows that training visited beside as many sinusoids: what is alike in them, and what is not."""

from functools import partial

import numpy as np
import streamlit as st

from pages.encodings.sides import Sides
from pages.encodings.views import CHART, Given, column_rows, table_rows
from transformer.analysis.encodings import distance_profile, principal_components, similarity, spectrum
from transformer.analysis.shift_map import ShiftMap, fit_shift
from ui.encoding_figures import components_figure, profile_figure, shift_figure, similarity_figure, spectrum_figure

FURTHEST_FIT = 8


def similar(sides: Sides) -> Given:
    matrices = {name: similarity(table) for name, table, _ in sides.titled}
    profiles = {name: distance_profile(matrix) for name, matrix in matrices.items()}
    st.markdown(
        "How alike two positions are: PE · PEᵀ, divided by the mean squared length of a row. Sinusoids know **only "
        "distance**; along one diagonal of the learned table similarity varies by up to "
        f"{profiles['learned'].spread:.2f}. Colours end at ±1; what is beyond has the last one."
    )
    left, middle, right = st.columns(3, gap="small")
    for place, (name, _, title) in zip((left, middle), sides.titled, strict=True):
        figure = similarity_figure(matrices[name], title)
        place.plotly_chart(figure, key=f"{name}_similarity", alt=f"{title}: similarity.", config=CHART)
    right.plotly_chart(profile_figure(profiles), key="both_profiles", alt="Similarity over distance.", config=CHART)
    columns = {
        f"{name}_{what}": getattr(profile, what)
        for name, profile in profiles.items()
        for what in ("mean", "lowest", "highest")
    }
    return sides.given(
        "similarity", "encodings import distance_profile, similarity, sinusoidal",
        "distance_profile(similarity(learned)), distance_profile(similarity(fixed))",
        {"similarity over distance": partial(column_rows, distance=np.arange(len(sides.rows)), **columns)},
        **matrices,
    )  # fmt: skip


def spectra(sides: Sides) -> Given:
    st.markdown(
        "Each dimension over positions, taken apart into waves. Sinusoids put **one wave into each pair of "
        "dimensions**; a learned table spreads what it has. With this few positions, wavelengths longer than the "
        "table cannot be told from its length. The colours of each side have a scale of their own."
    )
    found = {name: spectrum(table) for name, table, _ in sides.titled}
    for place, (name, _, title) in zip(st.columns(2, gap="medium"), sides.titled, strict=True):
        figure = spectrum_figure(*found[name], title)
        place.plotly_chart(figure, key=f"{name}_spectrum", alt=f"{title}: spectrum.", config=CHART)
    turns = found["learned"][0]
    rows = {name: partial(table_rows, amplitude, turns_a_position=turns) for name, (_, amplitude) in found.items()}
    return sides.given(
        "spectrum", "encodings import sinusoidal, spectrum",
        "spectrum(learned), spectrum(fixed)  # turns a position, and amplitude (turns, dimension)",
        rows, turns_a_position=turns, **{name: amplitude for name, (_, amplitude) in found.items()},
    )  # fmt: skip


def components(sides: Sides) -> Given:
    st.markdown(
        "All positions, drawn along the two directions in which they differ most: **if a model has learned an order, "
        "neighbours are neighbours here** and the line is smooth. Noise gives a tangle: see it at the start."
    )
    found = {name: principal_components(table, 2) for name, table, _ in sides.titled}
    for place, (name, _, title) in zip(st.columns(2, gap="medium"), sides.titled, strict=True):
        figure = components_figure(found[name], name, title)
        place.plotly_chart(figure, key=f"{name}_components", alt=f"{title}: two principal components.", config=CHART)
    columns = {
        f"{name}_{at + 1}": one.coordinates[:, at]
        for name, one in found.items()
        for at in range(one.coordinates.shape[1])
    }
    return sides.given(
        "components", "encodings import principal_components, sinusoidal",
        "principal_components(learned, 2), principal_components(fixed, 2)",
        {"components": partial(column_rows, position=np.arange(len(sides.rows)), **columns)},
    )  # fmt: skip


def linear_map(sides: Sides) -> Given | None:
    fits = {name: _fits(table) for name, table, _ in sides.titled}
    if not all(fits.values()):
        st.info(f"{len(sides.rows)} visited positions are too few to fit a map and to test it on others.")
        return None
    fixed, one = fits["sinusoidal"][0], fits["learned"][0]
    st.markdown(
        "Is there one matrix that moves every position by k? It is fitted by ridge on some positions and **judged on "
        "others**, beside leaving the row as it is (identity): 0 is perfect, 1 is guessing the mean row. "
        f"k\u00a0=\u00a01, on {one.n_held_out} pairs held out of {len(sides.rows) - 1}: sinusoidal "
        f"{fixed.held_out:.2f} (identity {fixed.identity:.2f}), learned **{one.held_out:.2f}** (identity "
        f"{one.identity:.2f}). {_how_far(fits['learned'])}"
    )
    st.plotly_chart(shift_figure(fits), key="shift_chart", alt="Residuals of the best linear map over k.", config=CHART)
    names = ("k", "ridge", "n_fitted", "n_held_out", "fitted", "held_out", "identity")
    rows = [
        {"encoding": name, **{each: getattr(fit, each) for each in names}}
        for name, found in fits.items()
        for fit in found
    ]
    return sides.given(
        "linear-map", "encodings import sinusoidal\nfrom transformer.analysis.shift_map import fit_shift",
        "fit_shift(learned, 1).held_out, fit_shift(fixed, 1).held_out",
        {"residuals": lambda: rows}, **{f"learned_by_{fit.k}": fit.matrix for fit in fits["learned"]},
    )  # fmt: skip


def _how_far(fits: list[ShiftMap]) -> str:
    """Up to which k the learned table's map is of use."""
    useful = next((at for at, fit in enumerate(fits) if fit.held_out >= 1), len(fits))
    if useful == len(fits):
        return f"The learned table's map beats the mean row for every k up to {len(fits)}."
    if useful == 0:
        return "The learned table's map is no better than the mean row."
    return f"The learned table's map beats the mean row only up to k\u00a0=\u00a0{useful}."


@st.cache_data(max_entries=32, show_spinner=False)
def _fits(table: np.ndarray) -> list[ShiftMap]:
    """The map for each k that leaves enough positions."""
    fits = []
    for k in range(1, FURTHEST_FIT + 1):
        try:
            fits.append(fit_shift(table, k))
        except ValueError:
            break
    return fits
