"""The opened head as a table: the same numbers as its picture, for reading and for screen readers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from transformer.analysis.attention import Attention
from transformer.export.markup import visible

if TYPE_CHECKING:
    import pandas as pd

MASKED = "masked"


def head_table(attention: Attention, layer: int, head: int) -> "pd.DataFrame":
    """A row for each query and a column for each key, numbered because words repeat; masked cells are missing."""
    import pandas as pd

    weights, queries = attention.pattern[layer, head], numbered(attention.queries.labels)
    if np.isfinite(weights[attention.mask]).all():
        cells = np.where(attention.mask, weights, np.nan).astype(np.float64)
        frame = pd.DataFrame(cells, columns=numbered(attention.keys.labels))
    else:
        said = [[_said(*pair) for pair in zip(*row, strict=True)] for row in zip(weights, attention.mask, strict=True)]
        frame = pd.DataFrame(said, columns=numbered(attention.keys.labels))
    frame.insert(0, "query ↓ · key →", queries)
    return frame


def numbered(labels: Sequence[str]) -> list[str]:
    return [f"{place} {visible(label)}" for place, label in enumerate(labels)]


def _said(weight: float, allowed: bool) -> str | None:
    if not allowed:
        return None
    return f"{weight:.3f}" if np.isfinite(weight) else "not a number"
