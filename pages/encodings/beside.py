"""Learned beside fixed: a trained table of positions next to the sinusoids, at the start and after training."""

from functools import partial

import numpy as np
import streamlit as st

from pages.encodings.compared import components, linear_map, similar, spectra
from pages.encodings.relative import relative
from pages.encodings.sides import WHEN, Sides
from pages.encodings.views import CHART, Given, choose_view, column_rows, table_rows, take_it_with_you
from transformer.analysis.encodings import sinusoidal
from ui.learned_tables import LearnedTable, learned_checkpoints, learned_table
from ui.markdown import plain
from ui.table_figures import norms_figure, table_figure

RELATIVE = "RoPE and ALiBi"
COMPARED = {"Similarity": similar, "Spectrum": spectra, "Components": components, "Best linear map": linear_map}
VIEWS = ("Heat map", "Similarity", "Spectrum", "Components", "Norms", "Best linear map", RELATIVE)
LENGTHS = (20, 40, 60, 100, 200, 500)
HOW_TO_TRAIN = (
    "There is no model with learned positions here yet: `roundtable ablate positions --parts tatoeba` trains one "
    "beside the other encodings, and `roundtable train --name learned --corpus reverse --preset tiny "
    "--model.positions learned` one in minutes."
)


@st.fragment
def beside() -> None:
    """One view, two sides, and controls that move both."""
    view, take = choose_view(VIEWS, "beside_view")
    take_it_with_you(take, relative() if view == RELATIVE else _learned(view))


def _learned(view: str) -> Given | None:
    names = learned_checkpoints()
    if not names:
        st.info(HOW_TO_TRAIN)
        return None
    first, second, third = st.columns((3, 4, 4), gap="medium")
    name = first.selectbox("Model with learned positions", names, key="learned", bind="query-params")
    try:
        with st.spinner(f"Loading {name}, and counting how often its training visited each position …"):
            learned = learned_table(name)
    except (OSError, ValueError) as error:
        st.warning(plain(error))
        return None
    if view == "Norms":
        return _norms(learned, name)
    when = second.segmented_control(
        "Learned positions", WHEN, default=WHEN[0], required=True, key="when", bind="query-params"
    )
    when = when or WHEN[0]
    table = learned.trained if when == WHEN[0] else learned.start
    n = learned.n_visited
    if view == "Heat map":
        n = min(third.select_slider("Positions", LENGTHS, 60, key="beside_positions", bind="query-params"), len(table))
    else:
        third.markdown(f"**Rows compared**  \n{_how_many(learned)}")
    rows = table[:n]
    sides = Sides(sinusoidal(len(rows), rows.shape[1] + rows.shape[1] % 2), rows, when, name)
    if view == "Heat map":
        return _heat_maps(sides, learned)
    return COMPARED[view](sides)


def _heat_maps(sides: Sides, learned: LearnedTable) -> Given:
    st.markdown(
        "The paper tried both and found them nearly alike in quality (25.8 and 25.7 BLEU: Table 3, base and row E). "
        "**They do not look alike**: waves on the left; on the right whatever training made of noise, in a table of "
        f"{len(learned.trained):,} rows and no more. {_veil(learned)}"
    )
    (_, _, fixed_title), (_, _, title) = sides.titled
    left, right = st.columns(2, gap="medium")
    left.plotly_chart(
        table_figure(sides.fixed, title=fixed_title, limit=1.0), key="fixed_heat", alt="Sinusoids.", config=CHART
    )
    limit = float(np.abs(sides.rows[: learned.n_visited]).max(initial=0)) or None
    figure = table_figure(sides.rows, title, visits=learned.visits, unvisited_from=learned.n_visited, limit=limit)
    right.plotly_chart(figure, key="learned_heat", alt=f"Learned positions {sides.when}.", config=CHART)
    n = len(sides.rows)
    visits = {} if learned.visits is None else {"visits": learned.visits[:n]}
    return sides.given(
        "positions", "encodings import sinusoidal", "learned, fixed  # (position, dimension)",
        {"learned": partial(table_rows, sides.rows), "sinusoidal": partial(table_rows, sides.fixed)},
        learned=sides.rows, sinusoidal=sides.fixed, **visits,
    )  # fmt: skip


def _norms(learned: LearnedTable, name: str) -> Given:
    shown = min(len(learned.trained), max(2 * learned.n_visited, 20))
    d_model = learned.trained.shape[1]
    sides = Sides(sinusoidal(shown, d_model + d_model % 2), learned.trained[:shown], WHEN[0], name)
    fixed, start, trained = (
        np.linalg.norm(table, axis=1) for table in (sides.fixed, learned.start[:shown], sides.rows)
    )
    st.markdown(
        f"How long the vectors are that are added to words, which start at a length of about √d_model = "
        f"{np.sqrt(d_model):.1f}. Every sinusoid has length √(d_model / 2) = {np.sqrt(d_model / 2):.1f}. **Training "
        "moves the rows it visits**; the less often it comes by, the nearer a row stays to the length it started with."
    )
    visits = None if learned.visits is None else learned.visits[:shown]
    rare = learned.n_visited if learned.n_visited < shown else None
    figure = norms_figure(fixed, start, trained, visits, rare)
    st.plotly_chart(figure, key="norm_chart", alt="Length of each position's vector.", config=CHART)
    columns = {"sinusoidal": fixed, "learned_at_the_start": start, "learned_after_training": trained}
    if visits is not None:
        columns["texts_that_reach_it"] = visits
    return sides.given(
        "norms", "encodings import sinusoidal", '(learned**2).sum(1) ** 0.5  # of each position',
        {"norms": partial(column_rows, position=np.arange(shown), **columns)},
    )  # fmt: skip


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
