"""Table 3 of the paper, on newstest2013: perplexity of a wordpiece, BLEU, and millions of parameters where it says."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperRow:
    """One row, under the name of its preset."""

    perplexity: float
    bleu: float
    parameters: int | None = None
    """Millions."""


PAPER: dict[str, PaperRow] = {
    "base": PaperRow(4.92, 25.8, 65),
    "A-h1": PaperRow(5.29, 24.9),
    "A-h4": PaperRow(5.00, 25.5),
    "A-h16": PaperRow(4.91, 25.8),
    "A-h32": PaperRow(5.01, 25.4),
    "B-dk16": PaperRow(5.16, 25.1, 58),
    "B-dk32": PaperRow(5.01, 25.4, 60),
    "C-n2": PaperRow(6.11, 23.7, 36),
    "C-n4": PaperRow(5.19, 25.3, 50),
    "C-n8": PaperRow(4.88, 25.5, 80),
    "C-d256": PaperRow(5.75, 24.5, 28),
    "C-d1024": PaperRow(4.66, 26.0, 168),
    "C-ff1024": PaperRow(5.12, 25.4, 53),
    "C-ff4096": PaperRow(4.75, 26.2, 90),
    "D-drop0": PaperRow(5.77, 24.6),
    "D-drop0.2": PaperRow(4.95, 25.5),
    "D-smooth0": PaperRow(4.67, 25.3),
    "D-smooth0.2": PaperRow(5.47, 25.7),
    "E-learned": PaperRow(4.92, 25.7),
}
ROUNDING = {"perplexity": 0.01, "bleu": 0.1}
"""A difference of two numbers that are rounded like this says nothing up to here."""
