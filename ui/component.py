"""What our components share: how they are made, the bytes that some draw on a canvas, and a script and style before
their own (component.js, component.css).

A weight is one byte. Cells that are masked and weights that are no numbers have bytes of their own, so that neither
looks like a weight of 0.
"""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.components.v2 import component
from streamlit.components.v2.types import ComponentRenderer

from transformer.export.palette import NOT_A_NUMBER
from ui.theme import WEIGHTS, lookup_table

FULL, BROKEN, MASKED = 253, 254, 255
"""Weights from 0 to 1 are the bytes from 0 to FULL."""

PALETTE = lookup_table(WEIGHTS, FULL + 1).tobytes().hex() + NOT_A_NUMBER.removeprefix("#")
"""The colours of the bytes from 0 to BROKEN, six hexadecimal digits each."""


def own_component(name: str, html: str, *scripts: str) -> ComponentRenderer:
    """The component of ui/`name`.js and ui/`name`.css, with further scripts of ui/ put before its own."""
    return component(
        f"roundtable.{name}",
        html=html,
        css=_text("component.css") + _text(f"{name}.css"),
        js="".join(_text(script) for script in ("component.js", *scripts, f"{name}.js")),
    )


def to_bytes(pattern: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Weights (layer, head, query, key) as bytes: MASKED where the query may not attend, BROKEN where not finite."""
    weights = np.rint(np.clip(np.nan_to_num(pattern), 0, 1) * FULL)
    weights = np.where(np.isfinite(pattern), weights, BROKEN)
    return np.where(mask, weights, MASKED).astype(np.uint8)


def packed(header: Mapping[str, Any], body: bytes) -> bytes:
    """What the browser gets: the header's length (uint32, little-endian), the header (JSON), the body.

    The header is filled up with spaces, so that the body begins at a multiple of four bytes.
    """
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<I", len(text)) + text + body


def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
