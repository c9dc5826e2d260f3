"""Patterns over training as a film: the grid of heads and one head large, on a slider over steps (film.js, film.css).

The browser gets every frame at once, one byte a cell, so that playing asks nothing of the server.
"""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from transformer.training.probes import Probe
from ui.component import BROKEN, MASKED, PALETTE, own_component, packed, to_bytes
from ui.theme import AXIS_TITLES, KIND_COLOURS, KIND_NAMES

NEWEST = -1
"""In the place of a step."""

_HTML = """
<div class="film">
  <div class="controls">
    <button class="play" type="button">▶ Play</button>
    <input class="slider" type="range" min="0" value="0" step="1" aria-label="Step of training">
    <span class="step"></span>
  </div>
  <div class="pictures">
    <div class="left">
      <canvas class="grid" tabindex="0" role="application" aria-roledescription="grid of attention heads"></canvas>
      <div class="legend"></div>
      <div class="writes"><span>At this step the model writes</span><div class="written" dir="auto"></div></div>
    </div>
    <div class="right">
      <div class="title"></div>
      <div class="stage"><canvas class="opened" role="img"></canvas><div class="tip" hidden></div></div>
    </div>
  </div>
</div>
"""

_component = own_component("film", _HTML)


def film(
    probe: Probe,
    kind: str,
    selected: Sequence[int],
    step: int | None,
    on_rest: Callable[[int | None, int, int], None],
    key: str = "film",
) -> None:
    """Draw the film of one kind of attention on one probe sentence.

    selected: layer and head that are open, and step: where it stands, None for the newest, when it is first seen. Once
    it rests elsewhere, on_rest(step, layer, head) is called.
    """

    def rested() -> None:
        step, layer, head = map(int, st.session_state[key].rested)
        on_rest(None if step == NEWEST else step, layer, head)

    _component(data=payload(probe, kind, selected, step), key=key, on_rested_change=rested)


def payload(probe: Probe, kind: str, selected: Sequence[int], step: int | None = None) -> bytes:
    """What the browser gets; after the header one byte a cell, frame after frame."""
    cells = [to_bytes(trace[kind].pattern, trace[kind].mask) for trace in probe.traces]
    frames, offset = [], 0
    for trace, own, part in zip(probe.traces, probe.translations, cells, strict=True):
        attention = trace[kind]
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
        offset += part.size
    first = probe.traces[0][kind]
    query, key = AXIS_TITLES[kind]
    header: dict[str, Any] = {
        "kind": KIND_NAMES[kind],
        "colour": KIND_COLOURS[kind],
        "query": query,
        "key": key,
        "layers": len(first.layers),
        "heads": first.heads,
        "palette": PALETTE,
        "selected": selected,
        "step": NEWEST if step is None else step,
        "masked": any(bool((part == MASKED).any()) for part in cells),
        "broken": any(bool((part == BROKEN).any()) for part in cells),
        "frames": frames,
    }
    return packed(header, b"".join(part.tobytes() for part in cells))
