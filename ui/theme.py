"""Colours: one sequential palette for weights, one diverging palette for differences, one colour for each kind.

They hold for colour-blind eyes and on both themes; tests/ui/test_theme.py checks it with numbers.
"""

from collections.abc import Sequence

import numpy as np

# The same three stand first among the chart colours in .streamlit/config.toml, and in ui/style.css.
KIND_COLOURS = {"encoder": "#2f7fd3", "decoder": "#c96a12", "cross": "#b8579b"}
KIND_NAMES = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Encoder–decoder attention",
}

# Viridis, and RdBu from ColorBrewer: stops at equal distances.
WEIGHTS = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
)  # fmt: skip
DIFFERENCES = (
    "#053061", "#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7",
    "#fddbc7", "#f4a582", "#d6604d", "#b2182b", "#67001f",
)  # fmt: skip

# Where a query may not look there is no weight, not a weight of 0: a neutral hatch that neither theme hides.
MASKED_FILL = "rgba(128, 128, 128, 0.14)"
MASKED_LINE = "rgba(128, 128, 128, 0.45)"


def to_rgb(colour: str) -> tuple[int, int, int]:
    """'#rrggbb' as three numbers from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def lookup_table(stops: Sequence[str], size: int = 256) -> np.ndarray:
    """A palette as uint8 (size, 3), linear between its stops."""
    colours = np.array([to_rgb(stop) for stop in stops], dtype=float)
    at, places = np.linspace(0, 1, size), np.linspace(0, 1, len(stops))
    return np.rint(np.stack([np.interp(at, places, channel) for channel in colours.T], axis=1)).astype(np.uint8)


def colour_scale(stops: Sequence[str]) -> list[list]:
    """A palette as Plotly takes it: [[0.0, '#…'], …, [1.0, '#…']]."""
    return [[place, stop] for place, stop in zip(np.linspace(0, 1, len(stops)).tolist(), stops, strict=True)]
