"""What each source word is worth: the same target scored without it, beside where cross-attention looks."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from pages.translating.as_code import deletion_code, show_code
from pages.translating.layers import cross_layer, layer_weights, said_layer
from pages.translating.state import deletion
from pages.translating.view import View
from transformer.export.markup import isolated, tag
from transformer.export.numbers import number
from transformer.export.svg_map import Map, map_svg
from transformer.export.tables import Rows
from ui.taken import Taken
from ui.translation_maps import describe_map, map_figure

if TYPE_CHECKING:
    from transformer.analysis.deletion import Deletion

MANY = 60
"""Words from which deleting each takes long enough to be asked for."""
MOST_SAID = 6
CHART, MAP_WIDTH = {"displaylogo": False}, 530


def deleting(view: View) -> Taken | None:
    from transformer.analysis.deletion import NOTICEABLE

    n_words = len(view.trace.source.merged()) - 1
    if n_words > MANY and not st.checkbox(
        f"Delete each of the {n_words} words: about {n_words} passes", key="delete_all"
    ):
        st.info("A long sentence takes a while, so it is not done unasked.")
        return None
    with st.spinner(f"Deleting each of {n_words} words …"):
        found = deletion(view.model, view.sentence, view.read, view.typed is None)
    if not len(found.words):
        st.info("The sentence has no words to delete.")
        return None
    n_layers, n_heads = found.attention.shape[:2]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        layer = cross_layer(n_layers)
        st.markdown(
            f"Left: where {view.read_name} looks ({said_layer(layer, n_layers, n_heads)}). Right: what each token "
            "loses when a source word is deleted. **Red: without the word the token is less likely**; blue: more.",
            width="stretch",
        )
    weights = layer_weights(found.attention, layer)
    compared = found.compare(layer)
    st.html(said_disagreements(found, weights, compared.attended, compared.needed, compared.disagrees))
    maps = both_maps(found, weights, compared.attended, compared.needed)
    for side, (name, shown), key in zip(
        st.columns(2, gap="medium"), maps.items(), ("attended_map", "deletion_map"), strict=True
    ):
        with side:
            st.markdown(f"**{name}**")
            st.plotly_chart(
                map_figure(shown, MAP_WIDTH), width="content", key=key, alt=describe_map(shown), config=CHART
            )
    st.caption(
        f"A frame is the largest value of a row, on the right only from {NOTICEABLE} nats on. The sentence without a "
        "word may be one that nobody would write, and what the model then does is no proof either. What goes to `</s>` "
        "is left out on the left."
    )
    show_code(deletion_code(view))
    return taken(view, found, weights, maps, said_layer(layer, n_layers, n_heads))


def both_maps(found: "Deletion", weights: np.ndarray, attended: np.ndarray, needed: np.ndarray) -> dict[str, Map]:
    """Where the target looks, and what it loses without each word, by their titles."""
    from transformer.analysis.deletion import NOTICEABLE

    sides = found.target.labels, found.words.labels, "query: target token", "key: source word"
    looked_at = {(row, int(column)) for row, column in enumerate(attended)}
    noticed = {(row, int(column)) for row, column in enumerate(needed) if found.drop[row, column] >= NOTICEABLE}
    return {
        "Cross-attention": Map(weights, *sides, "weight", marked=looked_at),
        "Without the word: fall of the log-probability": Map(found.drop, *sides, "fall of log p", True, noticed),
    }


def taken(view: View, found: "Deletion", weights: np.ndarray, maps: dict[str, Map], said: str) -> Taken:
    """Both maps and their numbers."""
    attended, deleted = maps.items()
    pictures = {
        "cross-attention": lambda about, facts: map_svg(attended[1], f"{attended[0]}, {said}", about, facts),
        "deletions": lambda about, facts: map_svg(deleted[1], deleted[0], about, facts),
    }
    return Taken(
        view.trace, "What each source word is worth", pictures,
        {"deletions": partial(deletion_rows, found, weights)}, partial(deletion_arrays, found),
    )  # fmt: skip


def said_disagreements(
    found: "Deletion", weights: np.ndarray, attended: np.ndarray, needed: np.ndarray, disagrees: np.ndarray
) -> str:
    """In sentences: on how many tokens the two disagree, and where most."""
    rows = [int(row) for row in np.flatnonzero(disagrees)]
    total = len(found.target)
    if not rows:
        return tag("div", f"On all {total} tokens the word attended to most is, or is close to, the one needed most.")
    gap = {row: float(found.drop[row, needed[row]] - found.drop[row, attended[row]]) for row in rows}
    rows.sort(key=lambda row: -gap[row])
    said = [
        tag("li", _disagreement(found, weights, row, int(attended[row]), int(needed[row]))) for row in rows[:MOST_SAID]
    ]
    more = f" The {MOST_SAID} largest:" if len(rows) > MOST_SAID else ""
    count = f"On <b>{len(rows)} of {total} tokens</b> the word attended to most is not the one needed most.{more}"
    return tag("div", tag("div", count), tag("ul", *said), class_="disagreements")


def _disagreement(found: "Deletion", weights: np.ndarray, row: int, attended: int, needed: int) -> str:
    token, looks, needs = (
        f"“{isolated(label)}”"
        for label in (found.target.labels[row], found.words.labels[attended], found.words.labels[needed])
    )
    cost, other = found.drop[row, needed], found.drop[row, attended]
    return (
        f"{token} looks most at {looks} ({weights[row, attended]:.2f}), but needs {needs} most: without it "
        f"{number(cost)} nats, without {looks} {number(other)}."
    )


def deletion_rows(found: "Deletion", weights: np.ndarray) -> Rows:
    """Every cell of both maps."""
    return [
        {
            "target_position": row,
            "target": found.target.labels[row],
            "source_position": column,
            "source": found.words.labels[column],
            "weight": float(weights[row, column]),
            "drop_nats": float(found.drop[row, column]),
        }
        for row, column in np.ndindex(*found.drop.shape)
    ]


def deletion_arrays(found: "Deletion") -> dict[str, Any]:
    """Drops in nats (target, word), and attention (layer, head, target, word)."""
    return {
        "drop": found.drop,
        "attention": found.attention,
        "target": found.target.labels,
        "words": found.words.labels,
    }
