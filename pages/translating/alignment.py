"""Cross-attention read as a word alignment: lines between words, the matrix they come from, and how good it is."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from pages.translating.aligned import (
    Alignment,
    aligned,
    alignment_arrays,
    alignment_svg,
    link_rows,
    weight_rows,
)
from pages.translating.as_code import alignment_code, show_code
from pages.translating.layers import ALL, AlignBy, layer_number, layer_options, said_layer
from pages.translating.view import View
from transformer.analysis.alignment import Direction
from transformer.analysis.attention import Attention
from transformer.export.markup import escape, tag
from transformer.export.numbers import number
from transformer.export.svg_document import framed
from transformer.export.svg_map import Map, map_svg
from ui.state import load
from ui.taken import Taken
from ui.translation_lines import MOST_WORDS
from ui.translation_maps import describe_map, map_figure
from ui.translation_picture import picture

THRESHOLD = "threshold"
LINKS: dict[str, Direction] = {
    "target words": "target",
    "source words": "source",
    "both": "intersection",
    "either": "union",
    THRESHOLD: "target",
}
"""What is offered, and what word_links calls it."""
ROWS = {"written": "that write it", "read": "that read it"}
PREFIX = "alignment "
CHART, MAP_WIDTH, WIDE = {"displaylogo": False}, 560, 1040


def alignment(view: View) -> Taken | None:
    cross, measured = view.trace.cross, gold_scores(load(view.model).evaluation)
    best = measured[0][1]["best_layer"] if measured else {"rows": "written", "layer": None}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="align_controls"):
        how = _controls(cross, best)
    shown = aligned(cross, how)
    if not shown.weights.size:
        st.info("There are no words to align: the translation or the sentence is nothing but special tokens.")
        return None
    if max(shown.weights.shape) > MOST_WORDS:
        st.caption(f"Lines are drawn for up to {MOST_WORDS} words on a side; the matrix has them all.")
        _matrix(shown, WIDE)
    else:
        left, right = st.columns((5, 6), gap="medium")
        with left:
            _lines(shown)
        with right:
            _matrix(shown, MAP_WIDTH)
    st.html(said_scores(*measured[0], how) if measured else _unmeasured(view))
    show_code(alignment_code(view, how))
    return taken(view, shown, how)


def taken(view: View, shown: Alignment, how: AlignBy) -> Taken:
    """The matrix, and the lines where they are drawn."""
    said = said_how(view.trace.cross, how)
    pictures = {"alignment matrix": lambda about, facts: map_svg(_map(shown), f"Word alignment, {said}", about, facts)}
    if max(shown.weights.shape) <= MOST_WORDS:
        pictures["alignment lines"] = lambda about, facts: framed(
            alignment_svg(shown), f"Word alignment, {said}", about, facts, [_said_lines(shown)]
        )
    tables = {"links": partial(link_rows, shown), "weights": partial(weight_rows, shown)}
    return Taken(view.trace, f"Word alignment, {said}", pictures, tables, partial(alignment_arrays, shown))


def said_how(cross: Attention, how: AlignBy) -> str:
    """Which part of cross-attention is read, and how, in words."""
    layer = said_layer(how.layer, *cross.pattern.shape[:2])
    part = layer if how.head is None or how.layer is None else f"L{how.layer}·H{how.head}"
    links = next(name for name, direction in LINKS.items() if direction == how.direction)
    by = f"weights from {how.threshold:g} on" if how.threshold is not None else f"links by {links}"
    return f"{part}, rows {ROWS[how.rows]}, {by}"


def _controls(cross: Attention, best: Mapping[str, Any]) -> AlignBy:
    n_layers, n_heads = cross.pattern.shape[:2]
    layers, heads = layer_options(n_layers), ["mean", *(f"H{head}" for head in range(n_heads))]
    first = f"L{best['layer']}" if f"L{best['layer']}" in layers else ALL
    layer = st.selectbox(
        "Layer", layers, layers.index(first), key="align_layer", bind="query-params", width=90,
        help="“all” is the mean over all layers. It starts with the layer that the gold alignments favour.",
    )  # fmt: skip
    head = st.selectbox(
        "Head", heads, key="align_head", bind="query-params", width=96, disabled=layer == ALL
    )  # fmt: skip
    rows = st.segmented_control(
        "Rows where a word is", list(ROWS), default=best["rows"], required=True,
        key="align_rows", bind="query-params",
        help="The step that writes a word does not know it yet, the next one reads it: better in the lower layers.",
    )  # fmt: skip
    by = st.selectbox(
        "Links", list(LINKS), key="align_by", bind="query-params", width=160,
        help="From each target word to its largest weight, from each source word to the target word that gives it "
        "most, both of these, either of them, or every weight from a threshold on.",
    )  # fmt: skip
    threshold = None
    if by == THRESHOLD:
        threshold = st.slider("At least", 0.05, 1.0, 0.2, 0.05, key="align_threshold", bind="query-params", width=150)
    at = layer_number(layer)
    head_number = None if at is None or head == heads[0] else int(head[1:])
    return AlignBy("read" if rows == "read" else "written", at, head_number, LINKS[by], threshold)


def _map(shown: Alignment) -> Map:
    linked = {(target, source) for source, target in shown.links}
    titles = "query: target word", "key: source word"
    return Map(shown.weights, shown.targets, shown.sources, *titles, "weight", marked=linked)


def _matrix(shown: Alignment, width: int) -> None:
    drawn = _map(shown)
    figure, alt = map_figure(drawn, width), describe_map(drawn)
    st.plotly_chart(figure, width="content", key="alignment_map", alt=alt, config=CHART)
    st.caption("A frame is a link. What a word gives to `<s>` and `</s>` is left out, so rows sum to less than 1.")


def _lines(shown: Alignment) -> None:
    picture(alignment_svg(shown), "alignment_lines")
    st.caption(_said_lines(shown))


def _said_lines(shown: Alignment) -> str:
    return f"{len(shown.links)} links; the darker, the larger the weight."


def gold_scores(evaluation: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """What evaluation.json says of word alignment: names of gold files and their error rates, the largest first."""
    found = [
        (name.removeprefix(PREFIX), result)
        for name, result in evaluation.items()
        if name.startswith(PREFIX) and _is_measured(result)
    ]
    return sorted(found, key=lambda each: -each[1]["n_sentences"])


def _is_measured(result: Any) -> bool:
    """Whether it is what `roundtable align` writes; the file may come from anywhere."""
    try:
        best = result["best_layer"]
        numbers = [best["layer"], best["aer"], result["diagonal_aer"], result["n_sentences"]]
        numbers += [each for kind in ROWS for each in result["layers"][kind]]
        return best["rows"] in ROWS and all(isinstance(each, int | float) for each in numbers)
    except (KeyError, TypeError):
        return False


def said_scores(name: str, result: Mapping[str, Any], how: AlignBy) -> str:
    """Alignment error rates as HTML: the best layer's, the diagonal's beside it, and that of the layer shown."""
    best, n = result["best_layer"], result["n_sentences"]
    said = (
        f"On {n:,} sentence pairs that people aligned ({escape(name)}; the best of each target word): alignment error "
        f"rate <b>{number(best['aer'])}</b> for the best layer (L{best['layer']}, rows {ROWS[best['rows']]}), "
        f"<b>{number(result['diagonal_aer'])}</b> for the diagonal, which needs no model. 0 is perfect."
    )
    here = result["layers"][how.rows]
    is_layer = how.layer is not None and how.head is None and how.layer < len(here)
    if is_layer and (how.layer, how.rows) != (best["layer"], best["rows"]):
        said += f" The layer shown here: {number(here[how.layer])}."
    return tag("div", f"{said} Measured, not tuned on these sentences.", class_="note")


def _unmeasured(view: View) -> str:
    command = f"roundtable align --checkpoint {view.model} --save"
    said = f"No alignment error rate was measured for {escape(view.model)}; {tag('code', escape(command))} does it."
    return tag("div", said, class_="note")
