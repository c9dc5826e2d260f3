"""What can be taken away of a view of the opened head: its files and its Python, made when they are asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.heads.view import View
from transformer.analysis.filters import Filters
from transformer.export.about import About
from transformer.export.as_code import as_code
from transformer.export.head_files import head_arrays, head_code, head_facts
from transformer.export.svg_lines import lines_svg
from transformer.export.tables import Rows
from ui.export_state import view_about
from ui.lines import Lines
from ui.sidebar import Request
from ui.state import trace
from ui.taken import Arrays, Facts, Origin, Taken, take_views

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts


@dataclass(frozen=True)
class HeadView:
    """What a view shows of one head beside the head's matrices."""

    name: str
    """Of the view and what is chosen in it, for the files' names."""
    draw: Callable[[About], str]
    """Its picture as SVG."""
    tables: Mapping[str, Callable[[], Rows]]
    """By what they hold."""
    shown: str
    """The last line of its Python, after "head."."""


def take_parts(request: Request, view: View, parts: "HeadParts", shown: HeadView) -> None:
    """The view's picture and tables, the head's matrices, a report, and the Python whose last line is what is shown."""
    take = st.popover("Take this view", width="content", key="take_view", on_change="rerun")
    if not take.open:
        return
    with take:
        about = _about(request, Filters(), view.untrained)  # the head as the model computes it
        origin = Origin(about, head_facts(parts, about), request.model, view.untrained)
        pictures = {"picture": lambda about, _: shown.draw(about)}
        name = f"{request.model}-{parts.kind}-L{parts.layer}-H{parts.head}-{shown.name}"
        _take(request, view, origin, pictures, shown.tables, partial(head_arrays, parts), name)
        place = parts.kind, parts.layer, parts.head
        st.markdown("**As code**: the same numbers from Python")
        code = head_code(request.model, request.sentence, request.target, place, shown.shown, untrained=view.untrained)
        st.code(code, language="python", wrap_lines=True)


def take_lines(request: Request, view: View, lines: Lines) -> None:
    """The picture of lines as it stands there, its weights, and the Python that gives them."""
    take = st.popover("Take this view", width="content", key="take_view", on_change="rerun")
    if not take.open:
        return
    with take:
        about = _about(request, view.filters, view.untrained)
        names = tuple(lines.attention.heads[head] for head in lines.heads)
        layer = lines.attention.layers[lines.layer]
        origin = Origin(about, about.facts(lines.attention, (layer,), names), request.model, view.untrained)
        pictures = {
            "picture": lambda about, _: lines_svg(lines.attention, lines.layer, lines.heads, about, lines.queries)
        }
        heads = "-".join(f"H{name}" for name in names)
        name = f"{request.model}-{view.kind}-L{layer}-{heads}-lines"
        tables = {"weights": partial(line_rows, lines)}
        _take(request, view, origin, pictures, tables, partial(line_arrays, lines), name)
        st.markdown("**As code**: the same weights from Python")
        code = as_code(
            request.model, request.sentence, request.target, view.kind, view.filters,
            untrained=view.untrained, opened=(lines.layer, *lines.heads),
        )  # fmt: skip
        st.code(code, language="python", wrap_lines=True)


def line_rows(lines: Lines) -> Rows:
    """One row for each weight of the chosen heads and queries that is not masked."""
    attention = lines.attention
    queries = range(len(attention.queries)) if lines.queries is None else lines.queries
    return [
        {
            "layer": attention.layers[lines.layer],
            "head": attention.heads[head],
            "query_position": lines.rows[query],
            "query": attention.queries.labels[query],
            "key_position": lines.columns[key],
            "key": attention.keys.labels[key],
            "weight": float(attention.pattern[lines.layer, head, query, key]),
        }
        for head in lines.heads
        for query in queries
        for key in np.flatnonzero(attention.mask[query]).tolist()
    ]


def line_arrays(lines: Lines) -> Arrays:
    """The chosen heads' weights (head, query, key), and both sides' labels and positions."""
    attention = lines.attention
    queries = list(range(len(attention.queries)) if lines.queries is None else lines.queries)
    return {
        "pattern": attention.pattern[lines.layer, list(lines.heads)][:, queries],
        "mask": attention.mask[queries],
        "queries": [attention.queries.labels[query] for query in queries],
        "query_positions": np.array(lines.rows)[queries],
        "keys": attention.keys.labels,
        "key_positions": np.array(lines.columns),
    }


def _take(
    request: Request,
    view: View,
    origin: Origin,
    pictures: Mapping[str, Callable[[About, Facts], str]],
    tables: Mapping[str, Callable[[], Rows]],
    arrays: Callable[[], Arrays],
    name: str,
) -> None:
    whole = trace(request.model, request.sentence, request.target, view.untrained)
    take_views(Taken(whole, "One head of one sentence", pictures, tables, arrays), origin, name, "view")


def _about(request: Request, filters: Filters, untrained: bool) -> About:
    with st.spinner("Preparing …"):
        return view_about(request, filters, untrained)
