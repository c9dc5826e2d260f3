"""One colour for each run that is shown, in the order of the choice."""

from ui.encoding_theme import ENCODING_COLOURS

RUN_COLOURS = tuple(ENCODING_COLOURS[name] for name in ("rope", "alibi", "none", "sinusoidal", "learned"))
"""The encodings' five, which no eye confuses; those most unlike the colours of kinds come first."""
MOST_RUNS = len(RUN_COLOURS)
"""Shown over each other."""
