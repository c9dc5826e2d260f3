"""Waves: the paper's sinusoids as they are, before any model. Nothing here needs torch."""

import numpy as np
import streamlit as st

from pages.encodings.views import CHART, choose_view
from transformer.analysis.encodings import (
    distance_profile,
    frequencies,
    quarter_turns,
    shift_error,
    shift_matrix,
    similarity,
    sinusoidal,
    wavelengths,
)
from transformer.export.numbers import scientific
from ui.encoding_figures import profile_figure, similarity_figure
from ui.table_figures import drawn_every, table_figure
from ui.wave_figures import rotation_figure, wave_figure, wavelength_figure

VIEWS = ("Waves", "Heat map", "Wavelengths", "Distance", "Rotation")
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
BASES = (10, 100, 1000, 10_000, 100_000)
LENGTHS = (1, 10, 20, 40, 60, 100, 200, 500, 1000, 2000)
FURTHEST = 20
MOST_PAIRS = 6


@st.fragment
def waves(n_tokens: int) -> None:
    """One view, its controls above it. n_tokens: of the sidebar's sentence, 0 where there is no model to count them."""
    view = choose_view(VIEWS, "waves")
    first, second, third, fourth = st.columns(4, gap="medium")
    d_model = first.select_slider("Dimensions, d_model", WIDTHS, 128, key="d_model", bind="query-params")
    base = second.select_slider("Base of the wavelengths", BASES, 10_000, key="base", bind="query-params")
    n = third.select_slider("Positions", LENGTHS, 60, key="positions", bind="query-params")
    if view == "Waves":
        _waves(d_model, base, n, n_tokens, _choose_pairs(fourth, d_model))
    elif view == "Heat map":
        _heat_map(d_model, base, n, n_tokens)
    elif view == "Wavelengths":
        _wavelengths(d_model, base, n_tokens)
    elif view == "Distance":
        _distance(d_model, base, n)
    else:
        _rotation(d_model, base, n, _choose_pairs(fourth, d_model))


def _waves(d_model: int, base: int, n: int, n_tokens: int, pairs: list[int]) -> None:
    st.markdown(
        "Every position gets one number from each wave: **sine in the even dimensions, cosine in the odd ones**, and "
        f"each pair slower than the one before. {_how_much_of_it(d_model, base, n_tokens)}"
    )
    figure = wave_figure(n, d_model, base, pairs, n_tokens)
    alt = f"Sine and cosine over {n} positions in {len(pairs)} pairs of dimensions, from fast to slow."
    st.plotly_chart(figure, key="wave_chart", alt=alt, config=CHART)


def _heat_map(d_model: int, base: int, n: int, n_tokens: int) -> None:
    step = drawn_every(n, d_model)
    st.markdown(
        f"The whole table: **a row is what a position adds to its word**, {d_model} numbers between −1 (blue) and 1 "
        "(red). On the left, fast waves tell neighbours apart; on the right, where hardly anything changes, are the "
        "slow ones." + (f" Of so many positions every {step}th is drawn." if step > 1 else "")
    )
    figure = table_figure(sinusoidal(n, d_model, base), lengths=wavelengths(d_model, base), marked=n_tokens, limit=1.0)
    st.plotly_chart(figure, key="heat_chart", alt=f"Heat map of {n} positions by {d_model} dimensions.", config=CHART)


def _wavelengths(d_model: int, base: int, n_tokens: int) -> None:
    shortest, longest = wavelengths(d_model, base)[[0, -1]]
    st.markdown(
        f"How many positions a full turn takes: **from 2π ≈ {shortest:.2f} to {longest:,.0f}**, each pair's longer "
        f"than the last one's by the same factor. {_how_much_of_it(d_model, base, n_tokens)}"
    )
    alt = f"Wavelengths of {d_model // 2} pairs, from {shortest:.1f} to {longest:,.0f} positions."
    st.plotly_chart(wavelength_figure(d_model, base, n_tokens), key="wavelength_chart", alt=alt, config=CHART)


def _distance(d_model: int, base: int, n: int) -> None:
    matrix = similarity(sinusoidal(n, d_model, base))
    profile = distance_profile(matrix)
    st.markdown(
        "How alike any two positions are, PE · PEᵀ. Every diagonal has one colour: **only their distance counts**, "
        f"not where they stand. Along a diagonal nothing varies but rounding, by {scientific(profile.spread)} at most."
    )
    left, right = st.columns(2, gap="medium")
    alt = f"Similarity of {n} positions with each other."
    left.plotly_chart(similarity_figure(matrix), key="similarity_chart", alt=alt, config=CHART)
    figure = profile_figure({"sinusoidal": profile})
    right.plotly_chart(figure, key="profile_chart", alt="Similarity over distance.", config=CHART)


def _rotation(d_model: int, base: int, n: int, pairs: list[int]) -> None:
    left, right = st.columns(2, gap="medium")
    last = max(n - 1, 1)
    position = left.slider("Position", 0, last, min(3, last), key=f"position_{last}")
    k = right.slider("k: how many positions on", -FURTHEST, FURTHEST, 3, key="k", bind="query-params")
    matrix = shift_matrix(k, d_model, base)
    error = shift_error(sinusoidal(n, d_model, base), matrix, k)
    if len(error):
        most = scientific(error.max())
        largest = f"‖PE(pos + k) − Mₖ · PE(pos)‖ is at most **{most}** over {len(error):,} positions, in float64"
    else:
        largest = "no two of these positions are that far apart"
    st.markdown(
        "To go k positions on, turn every pair by k times its frequency: **one matrix Mₖ does it for all "
        f"positions**, so a head can learn to look k places on (§3.5). Exact but for rounding: {largest}."
    )
    figure = rotation_figure(position, k, d_model, base, pairs)
    st.plotly_chart(
        figure, key="rotation_chart", alt=f"{len(pairs)} circles, each turned by {k} positions.", config=CHART
    )
    shown = pairs[0]
    (a, b), (c, d) = matrix[2 * shown : 2 * shown + 2, 2 * shown : 2 * shown + 2]
    turn = _number(k * frequencies(d_model, base)[shown])
    st.latex(
        rf"M_{{{k}}}\ \text{{in dimensions {2 * shown}, {2 * shown + 1}}} = "
        rf"\begin{{pmatrix}} \cos {turn} & \sin {turn} \\ -\sin {turn} & \cos {turn} \end{{pmatrix}} = "
        rf"\begin{{pmatrix}} {_number(a)} & {_number(b)} \\ {_number(c)} & {_number(d)} \end{{pmatrix}}"
    )


def _choose_pairs(place, d_model: int) -> list[int]:
    n_pairs = d_model // 2
    default = sorted({0, n_pairs // 8, n_pairs // 4, n_pairs // 2})
    chosen = place.multiselect(
        "Pairs, by their first dimension",
        range(n_pairs),
        default,
        key=f"pairs_{d_model}",
        max_selections=MOST_PAIRS,
        format_func=lambda pair: str(2 * pair),
    )
    return sorted(chosen) or default


def _how_much_of_it(d_model: int, base: int, n_tokens: int) -> str:
    if n_tokens < 1:
        return ""
    slow = quarter_turns(n_tokens, d_model, base)
    return (
        f"Within your sentence's {n_tokens} tokens (grey), {slow} of {d_model // 2} pairs turn by less than a quarter."
    )


def _number(value: float) -> str:
    return f"{np.round(value, 3) + 0.0:.3f}"
