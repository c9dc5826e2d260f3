"""All heads at once, layers down and heads across, on one small canvas (ui/head_grid.js, ui/head_grid.css).

The browser gets one byte a pixel. Long sentences are pooled by maximum to at most 32 pixels a side, because a mean
would hide the single bright cell that one looks for; the tooltip says so, and the opened head shows every number.
"""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from transformer.analysis.attention import Attention
from ui.component import BROKEN, MASKED, PALETTE, own_component, packed, to_bytes
from ui.theme import KIND_COLOURS, KIND_NAMES

GAP = 32  # pixels between columns of gap="medium"

_HTML = """
<div class="grid" tabindex="0" role="application" aria-roledescription="grid of attention heads">
  <canvas aria-hidden="true"></canvas>
  <div class="labels" aria-hidden="true"></div>
  <div class="hovered" hidden></div>
  <div class="selected"></div>
  <div class="tip" hidden></div>
  <div class="live" aria-live="polite"></div>
</div>
<div class="legend"></div>
"""

_component = own_component("head_grid", _HTML)


def head_grid(
    attention: Attention, selected: tuple[int, int] | None, on_open: Callable[[str, str], None], key: str = "head_grid"
) -> None:
    """Draw every head. A click, Enter or an arrow key calls on_open(layer, head) before the page runs again.

    `selected`, which is outlined, holds indices along the first two axes, or is None where no head is open; on_open is
    given names.
    """

    def opened() -> None:
        places = zip(st.session_state[key].opened, attention.pattern.shape, strict=False)
        layer, head = (min(max(int(at), 0), length - 1) for at, length in places)
        on_open(attention.layers[layer], attention.heads[head])

    data = payload(attention, selected)
    _component(data=data, key=key, on_opened_change=opened, on_page_change=lambda: None)


def column_width(columns: Sequence[int], place: int) -> int:
    """Pixels across one of the columns of st.columns(columns, gap="medium"), by what the page's first grid measured.

    Before it has measured, of a page of 980. On a narrow screen Streamlit puts columns below each other.
    """
    page = (st.session_state.get("head_grid") or {}).get("page") or {}
    width = int(page.get("width") or 980)
    if page.get("stacked"):
        return width
    return (width - GAP * (len(columns) - 1)) * columns[place] // sum(columns)


def payload(attention: Attention, selected: tuple[int, int] | None) -> bytes:
    """What the browser gets; after the header one byte a pixel."""
    pixels, step = pool(attention.pattern, attention.mask, 32 if len(attention.heads) <= 12 else 24)
    header = {
        "kind": KIND_NAMES[attention.kind],
        "colour": KIND_COLOURS[attention.kind],
        "layers": attention.layers,
        "heads": attention.heads,
        "queries": attention.queries.labels,
        "keys": attention.keys.labels,
        "shape": pixels.shape[2:],
        "step": step,
        "selected": selected,
        "palette": PALETTE,
        "masked": bool((pixels == MASKED).any()),
        "broken": bool((pixels == BROKEN).any()),
    }
    return packed(header, pixels.tobytes())


def pool(pattern: np.ndarray, mask: np.ndarray, limit: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Weights as bytes (layer, head, row, column) with at most `limit` rows and columns, and tokens a pixel each way.

    A pixel holds the largest weight of its tokens, is MASKED only where all of them are, and BROKEN where one of those
    that are not masked is no number.
    """
    n_query, n_key = pattern.shape[2:]
    step = -(-n_query // limit), -(-n_key // limit)
    pattern = np.where(mask, pattern, np.float32(0))
    if step != (1, 1):
        rows, columns = range(0, n_query, step[0]), range(0, n_key, step[1])
        pattern = np.maximum.reduceat(np.maximum.reduceat(pattern, rows, axis=2), columns, axis=3)  # NaN stays
        mask = np.logical_or.reduceat(np.logical_or.reduceat(mask, rows, axis=0), columns, axis=1)
    return to_bytes(pattern, mask), step
