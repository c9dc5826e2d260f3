"""Which part of cross-attention is shown, and how it is read."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from jaxtyping import Float

from transformer.analysis.alignment import Direction, Rows

ALL = "all"


class AlignBy(NamedTuple):
    """How cross-attention is read as a word alignment."""

    rows: Rows
    layer: int | None
    """None: the mean over all layers."""
    head: int | None
    """None: the mean over the layer's heads."""
    direction: Direction
    threshold: float | None
    """In place of the direction, where there is one."""


def layer_options(n_layers: int) -> list[str]:
    return [ALL, *(f"L{layer}" for layer in range(n_layers))]


def layer_number(option: str) -> int | None:
    """None for all layers."""
    return None if option == ALL else int(option[1:])


def cross_layer(n_layers: int) -> int | None:
    """Draw the choice; None is the mean of all layers."""
    chosen = st.selectbox(
        "Layer", layer_options(n_layers), key="cross_layer", bind="query-params", width=110,
        help="The mean over its heads; “all” is the mean over all heads of all layers.",
    )  # fmt: skip
    return layer_number(chosen)


def layer_weights(
    pattern: Float[np.ndarray, "layer head query key"], layer: int | None
) -> Float[np.ndarray, "query key"]:
    return pattern.mean((0, 1)) if layer is None else pattern[layer].mean(0)


def said_layer(layer: int | None, n_layers: int, n_heads: int) -> str:
    """In words, with over how many heads it is a mean."""
    return f"mean of all {n_layers * n_heads} heads" if layer is None else f"L{layer}, mean of {n_heads} heads"
