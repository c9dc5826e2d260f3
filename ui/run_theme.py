"""One colour for each run that is shown, in the order of the choice; kinds of attention have other colours."""

# A contrast of 4 on both themes: tests/ui/test_training_figures.py.
RUN_COLOURS = ("#00897b", "#d1495b", "#7b68c8", "#a07800", "#2a86b8", "#c2571a")
MOST_RUNS = len(RUN_COLOURS)
"""Shown over each other."""
