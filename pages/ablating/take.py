"""Take it with you: the comparison as files and as Python, each made when it is asked for."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.ablating.choice import what_changed
from pages.ablating.shown import Shown
from transformer.export.about import About
from ui.markdown import plain
from ui.take import file_button, picture_buttons

if TYPE_CHECKING:
    from transformer.export.compare_files import Comparison, Model

PICTURES = ("all heads", "opened head", "divergences")


def take_it_with_you(shown: Shown, *, opened: bool) -> None:
    """What the popover holds; nothing before it is opened."""
    if not opened:
        return
    from transformer.export.compare_files import comparison_json, comparison_npz, heads_csv, weights_csv

    comparison, name = comparison_of(shown), f"{'-'.join(map(_short, shown.names))}-{shown.kind}"
    st.markdown("**The picture**")
    chosen = st.segmented_control(
        "Picture of", PICTURES, default=PICTURES[0], required=True, key="comparison_picture",
        label_visibility="collapsed",
    )  # fmt: skip
    try:
        svg = _picture(comparison, chosen or PICTURES[0])
    except ValueError as error:
        st.info(plain(error))
    else:
        with st.container(horizontal=True, key="comparison_pictures"):
            picture_buttons(svg, f"{name}-{(chosen or PICTURES[0]).replace(' ', '-')}", "comparison")
    st.markdown("**The numbers**: weights of all heads, and how far apart they are")
    makers: dict[str, Callable[[Comparison], bytes]] = {
        "CSV": weights_csv, "NPZ": comparison_npz, "JSON": comparison_json
    }  # fmt: skip
    with st.container(horizontal=True, key="comparison_numbers"):
        for kind, make in makers.items():
            file_button(kind, partial(make, comparison), name, "comparison")
        file_button("CSV", partial(heads_csv, comparison), f"{name}-heads", "comparison_heads", "CSV of divergences")
    st.markdown("**A report** for reading, one file that needs no network")
    file_button("HTML", partial(_report, shown, comparison), name, "comparison")
    st.markdown("**As code**: the same divergences from Python")
    st.code(_code(shown), language="python", wrap_lines=True)
    st.caption("The address bar holds this view: a copy of it shows the same in another browser.")


def comparison_of(shown: Shown) -> "Comparison":
    """What the page shows, for files."""
    from transformer.export.compare_files import Comparison, Model

    first = shown.configs.get(shown.names[0])
    view = "words" if shown.measured.aligned.on_words else ""
    models = []
    for number, (name, trace) in enumerate(zip(shown.names, shown.reading.traces, strict=True)):
        changed = what_changed(first, shown.configs.get(name)) if number else ""
        matches = shown.measured.matches[number] if shown.matched else None
        models.append(
            Model(
                replace(About.of(trace, view), model=name), shown.attentions[number], shown.places[number], changed,
                shown.measured.pairs[number], matches,
            )
        )  # fmt: skip
    return Comparison(models, shown.matched, _seeds(shown, view))


def _seeds(shown: Shown, view: str) -> "tuple[Model, Model] | None":
    from transformer.export.compare_files import Model

    measured, reading = shown.measured, shown.reading
    if measured.seeds is None or reading.seeds is None or reading.seed_traces is None:
        return None
    abouts = (
        replace(About.of(trace, view), model=name)
        for name, trace in zip(reading.seeds, reading.seed_traces, strict=True)
    )
    places = shown.seed_places or (None, None)
    one, other = (Model(*each) for each in zip(abouts, measured.seeds, places, strict=True))
    matches = measured.seed_matches if shown.matched else None
    return one, replace(other, pairs=measured.seed_pairs, matches=matches)


def _picture(comparison: "Comparison", chosen: str) -> str:
    from transformer.export.compare_svg import divergences_svg, grids_svg, opened_svg

    draw = {"opened head": opened_svg, "divergences": divergences_svg}.get(chosen, grids_svg)
    return draw(comparison)


def _report(shown: Shown, comparison: "Comparison") -> bytes:
    from transformer.export.compare_report import comparison_report

    return comparison_report(comparison, shown.reading.traces).encode("utf-8", "backslashreplace")


def _code(shown: Shown) -> str:
    from transformer.export.compare_files import comparison_code

    request = shown.request
    return comparison_code(
        list(shown.models.values()), request.sentence, request.target, shown.kind, one_target=shown.one_target,
        matched=shown.matched,
    )  # fmt: skip


def _short(name: str) -> str:
    return name.rpartition("/")[2]
