"""Waves: the paper's sinusoids as they are, before any model. Nothing here needs torch."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.encodings.views import CHART, Given, choose_view, column_rows, table_rows, take_it_with_you
from transformer.analysis.encodings import (
    distance_profile,
    frequencies,
    quarter_turns,
    shift_error,
    shift_matrix,
    similarity,
    sinusoidal,
    wavelengths,
    with_partner,
)
from transformer.export.numbers import scientific
from ui.encoding_figures import profile_figure, similarity_figure
from ui.table_figures import drawn_every, table_figure
from ui.wave_figures import positions, rotation_figure, wave_figure, wavelength_figure

VIEWS = ("Waves", "Heat map", "Wavelengths", "Distance", "Rotation")
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
BASES = (10, 100, 1000, 10_000, 100_000)
LENGTHS = (1, 10, 20, 40, 60, 100, 200, 500, 1000, 2000)
FURTHEST = 20
MOST_PAIRS = 6


@st.fragment
def waves(n_tokens: int) -> None:
    """One view, its controls above it. n_tokens: of the sidebar's sentence, 0 where there is no model to count them."""
    view, take = choose_view(VIEWS, "waves")
    first, second, third, fourth = st.columns((3, 3, 3, 4), gap="medium")
    d_model = first.select_slider("Dimensions, d_model", WIDTHS, 128, key="d_model", bind="query-params")
    base = second.select_slider("Base", BASES, 10_000, key="base", bind="query-params", help="The paper's is 10000.")
    if view == "Wavelengths":
        given = _wavelengths(d_model, base, n_tokens)
    else:
        n = third.select_slider("Positions", LENGTHS, 60, key="positions", bind="query-params")
        if view == "Waves":
            given = _waves(d_model, base, n, n_tokens, _choose_pairs(fourth, d_model))
        elif view == "Heat map":
            given = _heat_map(d_model, base, n, n_tokens)
        elif view == "Distance":
            given = _distance(d_model, base, n)
        else:
            given = _rotation(d_model, base, n, _choose_pairs(fourth, d_model))
    take_it_with_you(take, given)


def _waves(d_model: int, base: int, n: int, n_tokens: int, pairs: list[int]) -> Given:
    st.markdown(
        "Every position gets one number from each wave: **sine in the even dimensions, cosine in the odd ones**, and "
        f"each pair slower than the one before. {_how_much_of_it(d_model, base, n_tokens)}"
    )
    figure = wave_figure(n, d_model, base, pairs, n_tokens)
    alt = f"Sine and cosine over {n} positions in {len(pairs)} pairs of dimensions, from fast to slow."
    st.plotly_chart(figure, key="wave_chart", alt=alt, config=CHART)
    return _encodings(d_model, base, n)


def _heat_map(d_model: int, base: int, n: int, n_tokens: int) -> Given:
    step = drawn_every(n, d_model)
    st.markdown(
        f"The whole table: **a row is what a position adds to its word**, {d_model} numbers between −1 (blue) and 1 "
        "(red). On the left, fast waves tell neighbours apart; on the right, where hardly anything changes, are the "
        "slow ones." + (f" Of so many positions every {step}th is drawn." if step > 1 else "")
    )
    figure = table_figure(sinusoidal(n, d_model, base), lengths=wavelengths(d_model, base), marked=n_tokens, limit=1.0)
    st.plotly_chart(figure, key="heat_chart", alt=f"Heat map of {n} positions by {d_model} dimensions.", config=CHART)
    return _encodings(d_model, base, n)


def _wavelengths(d_model: int, base: int, n_tokens: int) -> Given:
    length = wavelengths(d_model, base)
    growth = (
        f"**from 2π ≈ 6.28 positions to {positions(length[-1])}**, each pair's {length[1] / length[0]:.3g} times the "
        "last one's"
        if len(length) > 1
        else "**2π ≈ 6.28 positions**, in the one pair that there is"
    )
    st.markdown(f"How long a full turn takes: {growth}. {_how_much_of_it(d_model, base, n_tokens)}")
    alt = f"Wavelengths of {d_model // 2} pairs, from {length[0]:.1f} to {length[-1]:,.0f} positions."
    st.plotly_chart(wavelength_figure(d_model, base, n_tokens), key="wavelength_chart", alt=alt, config=CHART)
    even = np.arange(0, d_model, 2)
    return Given(
        f"wavelengths-{d_model}",
        {"d_model": d_model, "base": base},
        {
            "wavelengths": lambda: column_rows(
                sine_dimension=even, cosine_dimension=even + 1, radians_a_position=frequencies(d_model, base),
                wavelength_in_positions=length,
            )
        },
        "from transformer.analysis.encodings import wavelengths\n\n"
        f"wavelengths({d_model}, base={base})  # of each pair of dimensions, in positions",
    )  # fmt: skip


def _distance(d_model: int, base: int, n: int) -> Given:
    matrix = similarity(sinusoidal(n, d_model, base))
    profile = distance_profile(matrix)
    st.markdown(
        "How alike any two positions are: PE · PEᵀ, divided by d_model / 2 so that each is 1 with itself. Every "
        "diagonal has one colour: **only their distance counts**, not where they stand. Along a diagonal nothing "
        f"varies but rounding, by {scientific(profile.spread)} at most."
    )
    left, right = st.columns(2, gap="medium")
    alt = f"Similarity of {n} positions with each other."
    left.plotly_chart(similarity_figure(matrix), key="similarity_chart", alt=alt, config=CHART)
    figure = profile_figure({"sinusoidal": profile})
    right.plotly_chart(figure, key="profile_chart", alt="Similarity over distance.", config=CHART)
    return Given(
        f"similarity-{d_model}-{n}",
        {"d_model": d_model, "base": base},
        {"similarity over distance": lambda: column_rows(distance=np.arange(n), similarity=profile.mean)},
        "from transformer.analysis.encodings import distance_profile, similarity, sinusoidal\n\n"
        f"matrix = similarity(sinusoidal({n}, {d_model}, base={base}))  # (position, position)\n"
        "distance_profile(matrix).mean",
        {"similarity": matrix, "over_distance": profile.mean},
    )


def _rotation(d_model: int, base: int, n: int, pairs: list[int]) -> Given:
    left, right = st.columns(2, gap="medium")
    last = n - 1
    position = left.slider("Position", 0, last, min(3, last), key="position", bind="query-params") if last else 0
    k = right.slider("k: how many positions on", -FURTHEST, FURTHEST, 3, key="k", bind="query-params")
    matrix = shift_matrix(k, d_model, base)
    error = shift_error(sinusoidal(n, d_model, base), matrix, k)
    if len(error):
        most = scientific(error.max())
        largest = f"exact but for rounding, ‖PE(pos + k) − Mₖ · PE(pos)‖ ≤ **{most}** at {len(error):,} positions"
    else:
        largest = "no two of these positions are that far apart"
    st.markdown(
        "To go k positions on, turn every pair by k times its frequency: **one matrix Mₖ does it for all positions**. "
        "So, the paper hoped, a head would easily learn to attend by relative position (§3.5). In float64: "
        f"{largest}."
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
    at = with_partner(n, k)
    return Given(
        f"rotation-{d_model}-by-{k}",
        {"d_model": d_model, "base": base, "k": k},
        {
            "matrix": lambda: [
                {"dimension": row, **{f"d{column}": value for column, value in enumerate(values)}}
                for row, values in enumerate(matrix.tolist())
            ],
            "what is left over": lambda: column_rows(position=at, error=error),
        },
        "from transformer.analysis.encodings import shift_error, shift_matrix, sinusoidal\n\n"
        f"matrix = shift_matrix({k}, {d_model}, base={base})\n"
        f"shift_error(sinusoidal({n}, {d_model}, base={base}), matrix, {k})",
        {"matrix": matrix, "position": at, "error": error},
    )


def _encodings(d_model: int, base: int, n: int) -> Given:
    table = sinusoidal(n, d_model, base)
    return Given(
        f"sinusoidal-{n}x{d_model}",
        {"d_model": d_model, "base": base},
        {"encodings": lambda: table_rows(table)},
        "from transformer.analysis.encodings import sinusoidal\n\n"
        f"sinusoidal({n}, {d_model}, base={base})  # (position, dimension)",
        {"encodings": table},
    )


def _choose_pairs(place: DeltaGenerator, d_model: int) -> list[int]:
    n_pairs = d_model // 2
    default = sorted({0, n_pairs // 8, n_pairs // 4, n_pairs // 2})
    chosen = place.multiselect(
        "Dimensions drawn",
        [str(2 * pair) for pair in range(n_pairs)],
        [str(2 * pair) for pair in default],
        key=f"pairs_{d_model}",
        bind="query-params",
        max_selections=MOST_PAIRS,
        help="The even one of each pair; its partner, the cosine, is the next.",
    )
    return sorted(int(dimension) // 2 for dimension in chosen) or default


def _how_much_of_it(d_model: int, base: int, n_tokens: int) -> str:
    if n_tokens < 1:
        return ""
    slow = quarter_turns(n_tokens, d_model, base)
    return (
        f"Within your sentence's {n_tokens} tokens (grey), {slow} of {d_model // 2} pairs turn by less than a quarter, "
        "and so hardly tell its words apart."
    )


def _number(value: float) -> str:
    return f"{np.round(value, 3) + 0.0:.3f}"
