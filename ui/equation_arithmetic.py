"""Names that moved to transformer/analysis/equation.py."""

from transformer.analysis.equation import COLUMNS, MATRICES, ROWS, Cell, divided_by, matrices

__all__ = ["COLUMNS", "MATRICES", "ROWS", "Cell", "divided_by", "matrices"]
