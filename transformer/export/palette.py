"""Colours and names that pages and exported files share, so that a head looks the same in both."""

from collections.abc import Sequence

import numpy as np

# The same three stand first among the chart colours in .streamlit/config.toml, and in ui/style.css.
KIND_COLOURS = {"encoder": "#2f7fd3", "decoder": "#c96a12", "cross": "#b8579b"}
KIND_NAMES = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Encoder–decoder attention",
}
AXIS_TITLES = {
    "encoder": ("query: source token that attends", "key: source token attended to"),
    "decoder": ("query: token being written", "key: token read so far, attended to"),
    "cross": ("query: token being written", "key: source token attended to"),
}

# Viridis: stops at equal distances.
WEIGHTS = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
)  # fmt: skip

# RdBu from ColorBrewer: stops at equal distances.
DIFFERENCES = (
    "#053061", "#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7",
    "#fddbc7", "#f4a582", "#d6604d", "#b2182b", "#67001f",
)  # fmt: skip

# After Okabe and Ito, the pale ones darkened to a contrast of 3 on white. Head n has colour n modulo their number.
HEAD_COLOURS = ("#0072b2", "#d55e00", "#007a5a", "#b8579b", "#a66f00", "#2b93cf", "#6b5b00", "#4d4d4d")

NOT_A_NUMBER = "#e5484d"


def to_rgb(colour: str) -> tuple[int, int, int]:
    """'#rrggbb' as three numbers from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def lookup_table(stops: Sequence[str], size: int = 256) -> np.ndarray:
    """A palette as uint8 (size, 3), linear between its stops."""
    colours = np.array([to_rgb(stop) for stop in stops], dtype=float)
    at, places = np.linspace(0, 1, size), np.linspace(0, 1, len(stops))
    return np.rint(np.stack([np.interp(at, places, channel) for channel in colours.T], axis=1)).astype(np.uint8)


def head_name(layer: str, head: str) -> str:
    """L0·H3, or L0·mean where a view has one summary instead of numbered heads."""
    return f"L{layer}·H{head}" if head.isdigit() else f"L{layer}·{head}"
