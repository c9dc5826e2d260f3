"""One colour for each run that is shown, in the order of the choice."""

from ui.encoding_theme import ENCODING_COLOURS

RUN_COLOURS = tuple(ENCODING_COLOURS.values())
"""The encodings' five, which no eye confuses; kinds of attention have others."""
MOST_RUNS = len(RUN_COLOURS)
"""Shown over each other."""
