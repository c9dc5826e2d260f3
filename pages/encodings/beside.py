"""Learned beside fixed: a trained table of positions next to the sinusoids, at the start and after training."""

import numpy as np
import streamlit as st

from pages.encodings.views import CHART, choose_view
from transformer.analysis.encodings import (
    distance_profile,
    principal_components,
    similarity,
    sinusoidal,
    spectrum,
)
from transformer.analysis.shift_map import ShiftMap, fit_shift
from ui.encoding_figures import (
    components_figure,
    profile_figure,
    shift_figure,
    similarity_figure,
    spectrum_figure,
)
from ui.learned_tables import LearnedTable, learned_checkpoints, learned_table
from ui.relative_figures import alibi_figure, rope_figure
from ui.table_figures import norms_figure, table_figure

VIEWS = ("Heat map", "Similarity", "Spectrum", "Components", "Norms", "Best linear map", "RoPE and ALiBi")
LENGTHS = (20, 40, 60, 100, 200, 500)
FURTHEST_FIT = 8
HEADS = (4, 8, 12)
HOW_TO_TRAIN = (
    "There is no model with learned positions here yet: `roundtable ablate positions --parts tatoeba` trains one "
    "beside the other encodings, and `roundtable train --name learned --corpus reverse --preset tiny "
    "--model.positions learned` one in minutes."
)


@st.fragment
def beside() -> None:
    """One view, two sides, and controls that move both."""
    view = choose_view(VIEWS, "beside_view")
    if view == "RoPE and ALiBi":
        _relative()
        return
    names = learned_checkpoints()
    if not names:
        st.info(HOW_TO_TRAIN)
        return
    first, second, third = st.columns(3, gap="medium")
    name = first.selectbox("Model with learned positions", names, key="learned", bind="query-params")
    when = second.segmented_control(
        "Learned positions",
        ("after training", "at the start"),
        default="after training",
        required=True,
        key="when",
        bind="query-params",
    )
    try:
        with st.spinner(f"Loading {name}, and counting how often its training visited each position …"):
            learned = learned_table(name)
    except (OSError, ValueError) as error:
        st.warning(str(error))
        return
    table = learned.trained if when == "after training" else learned.start
    if view == "Heat map":
        n = third.select_slider("Positions", LENGTHS, 60, key="beside_positions", bind="query-params")
        _heat_maps(table, learned, min(n, len(table)), when)
    elif view == "Norms":
        _norms(learned)
    else:
        rows = table[: learned.n_visited]
        third.markdown(f"**Rows compared** \n{_how_many(learned)}")
        fixed = sinusoidal(len(rows), rows.shape[1] + rows.shape[1] % 2)
        draw = {
            "Similarity": _similarity,
            "Spectrum": _spectrum,
            "Components": _components,
            "Best linear map": _linear_map,
        }[view]
        draw(fixed, rows, when)


def _heat_maps(table: np.ndarray, learned: LearnedTable, n: int, when: str) -> None:
    st.markdown(
        "The paper tried both and found them nearly alike in quality (Table 3, row E). **They do not look alike**: "
        "waves on the left; on the right whatever training made of noise, in a table that ends at row "
        f"{len(table):,}. {_veil(learned)}"
    )
    fixed = sinusoidal(n, table.shape[1] + table.shape[1] % 2)
    left, right = st.columns(2, gap="medium")
    left.plotly_chart(
        table_figure(fixed, title="Sinusoidal", limit=1.0), key="fixed_heat", alt="Sinusoids.", config=CHART
    )
    limit = float(np.abs(table[: learned.n_visited]).max(initial=0)) or None
    title = f"Learned, {when}"
    figure = table_figure(table[:n], title, visits=learned.visits, unvisited_from=learned.n_visited, limit=limit)
    right.plotly_chart(figure, key="learned_heat", alt=f"Learned positions {when}.", config=CHART)


def _similarity(fixed: np.ndarray, rows: np.ndarray, when: str) -> None:
    matrices = {"sinusoidal": similarity(fixed), "learned": similarity(rows)}
    profiles = {name: distance_profile(matrix) for name, matrix in matrices.items()}
    st.markdown(
        "How alike two positions are, PE · PEᵀ, as a share of a row's mean squared length. Sinusoids know **only "
        "distance**; along one diagonal of the learned table similarity varies by up to "
        f"{profiles['learned'].spread:.2f}."
    )
    left, middle, right = st.columns(3, gap="small")
    for place, (name, matrix) in zip((left, middle), matrices.items(), strict=True):
        title = "Sinusoidal" if name == "sinusoidal" else f"Learned, {when}"
        place.plotly_chart(
            similarity_figure(matrix, title), key=f"{name}_similarity", alt=f"{title}: similarity.", config=CHART
        )
    right.plotly_chart(profile_figure(profiles), key="both_profiles", alt="Similarity over distance.", config=CHART)


def _spectrum(fixed: np.ndarray, rows: np.ndarray, when: str) -> None:
    st.markdown(
        "Each dimension over positions, taken apart into waves. Sinusoids put **one wave into each pair of "
        "dimensions**; a learned table spreads what it has. With this few positions, wavelengths longer than the "
        "table cannot be told from its length."
    )
    left, right = st.columns(2, gap="medium")
    for place, table, title in ((left, fixed, "Sinusoidal"), (right, rows, f"Learned, {when}")):
        figure = spectrum_figure(*spectrum(table), title)
        place.plotly_chart(figure, key=f"{title[:7]}_spectrum", alt=f"{title}: spectrum.", config=CHART)


def _components(fixed: np.ndarray, rows: np.ndarray, when: str) -> None:
    st.markdown(
        "All positions seen from the side that shows most of them: **if a model has learned an order, neighbours are "
        "neighbours here** and the line is smooth. Noise gives a tangle."
    )
    left, right = st.columns(2, gap="medium")
    for place, table, name, title in (
        (left, fixed, "sinusoidal", "Sinusoidal"),
        (right, rows, "learned", f"Learned, {when}"),
    ):
        figure = components_figure(principal_components(table, 2), name, title)
        place.plotly_chart(figure, key=f"{name}_components", alt=f"{title}: two principal components.", config=CHART)


def _norms(learned: LearnedTable) -> None:
    shown = min(len(learned.trained), max(2 * learned.n_visited, 20))
    start, trained = (np.linalg.norm(table[:shown], axis=1) for table in (learned.start, learned.trained))
    d_model = learned.trained.shape[1]
    st.markdown(
        f"How long the vectors are that are added to words of length about {np.sqrt(d_model):.1f} (√d_model). Every "
        f"sinusoid has length √(d_model / 2) = {np.sqrt(d_model / 2):.1f}. **Training moves the rows it visits**; the "
        "others keep the length they started with."
    )
    visits = None if learned.visits is None else learned.visits[:shown]
    rare = learned.n_visited if learned.n_visited < shown else None
    fixed = np.full(shown, np.sqrt(d_model / 2))
    figure = norms_figure(fixed, start, trained, visits, rare)
    st.plotly_chart(figure, key="norm_chart", alt="Length of each position's vector.", config=CHART)


def _linear_map(fixed: np.ndarray, rows: np.ndarray, when: str) -> None:
    fits: dict[str, list[ShiftMap]] = {}
    for name, table in (("sinusoidal", fixed), ("learned", rows)):
        fits[name] = _fits(table)
    if not all(fits.values()):
        st.info(f"{len(rows)} visited positions are too few to fit a map and to test it on others.")
        return
    one = {name: found[0] for name, found in fits.items()}
    st.markdown(
        "Is there one matrix that moves every position by k? It is fitted by ridge on some positions and **judged on "
        f"others**, beside leaving the row as it is (identity). For k = 1, on {one['learned'].n_held_out} pairs held "
        f"out of {len(rows) - 1}: sinusoidal {one['sinusoidal'].held_out:.2f} (identity "
        f"{one['sinusoidal'].identity:.2f}), learned **{one['learned'].held_out:.2f}** (identity "
        f"{one['learned'].identity:.2f}); 0 is perfect, 1 is guessing the mean."
    )
    st.plotly_chart(shift_figure(fits), key="shift_chart", alt="Residuals of the best linear map over k.", config=CHART)


def _relative() -> None:
    first, second, third, fourth = st.columns(4, gap="medium")
    query = first.slider("The query stands at", 0, 30, 8, key="query_at", bind="query-params")
    key = second.slider("The key stands at", 0, 30, 5, key="key_at", bind="query-params")
    together = third.slider("Move both by", 0, 30, 0, key="together", bind="query-params")
    n_heads = fourth.select_slider("Heads", HEADS, 4, key="alibi_heads", bind="query-params")
    st.markdown(
        "Neither adds anything to a word. **RoPE turns** query and key, each by its own position, so only the angle "
        "between them counts: move both and it stays. **ALiBi takes off** a penalty that grows with distance, with "
        "another slope m in each head."
    )
    query, key = query + together, key + together
    left, right = st.columns(2, gap="medium")
    left.markdown("**RoPE**: three pairs of dimensions of one head, d_k = 32")
    right.markdown(f"**ALiBi**: what each of {n_heads} heads adds to the query's scores")
    left.plotly_chart(
        rope_figure(query, key), key="rope_chart", alt=f"Query turned to {query}, key to {key}.", config=CHART
    )
    from transformer.model.positions import alibi_slopes

    figure = alibi_figure(query, key, alibi_slopes(n_heads))
    right.plotly_chart(
        figure, key="alibi_chart", alt=f"ALiBi's bias of {n_heads} heads around position {query}.", config=CHART
    )


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


def _how_many(learned: LearnedTable) -> str:
    if learned.visits is None:
        return f"all {learned.n_visited}: its corpus is not here to be counted"
    return f"the {learned.n_visited} that at least 1 % of training's texts reach"


def _veil(learned: LearnedTable) -> str:
    if learned.visits is None:
        return "How often training visited each row is not known: its corpus is not here."
    if learned.n_visited == len(learned.trained):
        return "Training visited all of them often."
    return (
        f"Rows from {learned.n_visited} on (hatched) were visited by less than 1 % of training's texts: mostly noise."
    )
