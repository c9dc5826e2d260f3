"""Patterns over training as a film: the grid of heads and one head large, on a slider over steps (film.js, film.css).

The browser gets every frame at once, one byte a cell, so that playing asks nothing of the server.
"""

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.components.v2 import component

from transformer.training.probes import Probe
from ui.theme import AXIS_TITLES, KIND_COLOURS, KIND_NAMES, WEIGHTS, lookup_table

FULL, MASKED = 254, 255
"""Weights from 0 to 1 are the bytes from 0 to FULL."""

_BAR = ", ".join("#" + "".join(f"{channel:02x}" for channel in colour) for colour in lookup_table(WEIGHTS, 9).tolist())
_HTML = f"""
<div class="film">
  <div class="controls">
    <button class="play" type="button">▶ Play</button>
    <input class="slider" type="range" min="0" value="0" step="1" aria-label="Step of training">
    <span class="step"></span>
  </div>
  <div class="pictures">
    <div class="left">
      <canvas class="grid" tabindex="0" role="application" aria-roledescription="grid of attention heads"></canvas>
      <div class="legend">0<span class="bar" style="background: linear-gradient(90deg, {_BAR})"></span>1 weight
        <span class="masked" hidden>masked</span></div>
      <div class="writes"><span>At this step the model writes</span><div class="written" dir="auto"></div></div>
    </div>
    <div class="right">
      <div class="title"></div>
      <div class="stage"><canvas class="opened" role="img"></canvas><div class="tip" hidden></div></div>
    </div>
  </div>
</div>
"""


def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


_component = component("roundtable.film", html=_HTML, css=_file("film.css"), js=_file("film.js"))


def film(name: str, probe: Probe, kind: str, selected: tuple[int, int], key: str = "film") -> None:
    """Draw the film of one kind of attention on one probe sentence; another `name` starts at its own end."""
    _component(data=payload(name, probe, kind, selected), key=key, on_opened_change=lambda: None)


def payload(name: str, probe: Probe, kind: str, selected: tuple[int, int]) -> bytes:
    """What the browser gets: the header's length (uint32, little-endian), the header (JSON), one byte a cell."""
    frames, parts, offset = [], [], 0
    for trace, own in zip(probe.traces, probe.translations, strict=True):
        attention = trace[kind]
        cells = to_bytes(attention.pattern, attention.mask)
        frames.append(
            {
                "step": trace.step,
                "own": own,
                "queries": attention.queries.labels,
                "keys": attention.keys.labels,
                "shape": attention.mask.shape,
                "offset": offset,
            }
        )
        parts.append(cells.tobytes())
        offset += cells.size
    first = probe.traces[0][kind]
    query, key = AXIS_TITLES[kind]
    header: dict[str, Any] = {
        "name": name,
        "kind": KIND_NAMES[kind],
        "colour": KIND_COLOURS[kind],
        "query": query,
        "key": key,
        "layers": len(first.layers),
        "heads": first.heads,
        "palette": lookup_table(WEIGHTS, FULL + 1).tobytes().hex(),
        "selected": selected,
        "masked": not all(trace[kind].mask.all() for trace in probe.traces),
        "frames": frames,
    }
    return _packed(header, parts)


def to_bytes(pattern: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Weights (layer, head, query, key) as bytes; MASKED where the query may not attend."""
    weights = np.clip(np.nan_to_num(pattern, nan=0.0), 0, 1)
    return np.where(mask, np.rint(weights * FULL), MASKED).astype(np.uint8)


def _packed(header: dict[str, Any], parts: Sequence[bytes]) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text + b"".join(parts)
