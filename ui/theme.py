"""Colours: one sequential palette for weights, one diverging palette for differences, one colour for each kind.

They hold for colour-blind eyes and on both themes; tests/ui/test_theme.py checks it with numbers.
"""

from collections.abc import Sequence

import numpy as np

from transformer.export.palette import (
    AXIS_TITLES,
    DIFFERENCES,
    KIND_COLOURS,
    KIND_NAMES,
    WEIGHTS,
    lookup_table,
    to_rgb,
)

__all__ = [
    "AXIS_TITLES",
    "DIFFERENCES",
    "KIND_COLOURS",
    "KIND_NAMES",
    "MASKED_FILL",
    "MASKED_LINE",
    "WEIGHTS",
    "colour_scale",
    "lookup_table",
    "to_rgb",
]

# Where a query may not look there is no weight, not a weight of 0: a neutral hatch that neither theme hides.
MASKED_FILL = "rgba(128, 128, 128, 0.14)"
MASKED_LINE = "rgba(128, 128, 128, 0.45)"


def colour_scale(stops: Sequence[str]) -> list[list]:
    """A palette as Plotly takes it: [[0.0, '#…'], …, [1.0, '#…']]."""
    return [[place, stop] for place, stop in zip(np.linspace(0, 1, len(stops)).tolist(), stops, strict=True)]
