"""How long a person waits: from `streamlit run` to the first page, from a click or a new sentence to its picture.

The model has 6 layers of 8 heads and the sentences 64 tokens, as in the design's budget; one pair has 512 on each side.
Clicks and sentences are timed in the browser, from the event to the frame in which what it asks for is there.
"""

import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.browsing import IDLE, WAIT, chromium, latency, place_of, server
from benchmarks.checkpoints import sentence_of, untrained_checkpoint
from benchmarks.table import Row
from transformer.config import ModelConfig

SHAPE = ModelConfig(vocab_size=4000, d_model=128, d_ff=512, n_encoder_layers=6, n_decoder_layers=6)
N_TOKENS, N_LONG = 64, 512
STARTS, CLICKS, SENTENCES = 3, 9, 5
TURNS = ("decoder", "cross", "encoder") * 3
"""Kinds of attention that are switched to; each gives the grid all new weights."""

HEAD_OPENED = f"""grid => {{ {WAIT}
  const picture = () => document.querySelector('.heatmaplayer image')?.getAttribute('href');
  const before = picture();
  window.roundtable = painted('pointerdown', () => picture() && picture() !== before);
}}"""
GRID_PAINTED = f"""(grid, event) => {{ {WAIT}
  const before = grid.dataset.painted;
  window.roundtable = painted(event, () => grid.dataset.painted !== before);
}}"""


def rows() -> list[Row]:
    """Seconds to the first page, milliseconds to an opened head and to grids; no row without a browser."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        if browser is None:
            return []
        checkpoint = untrained_checkpoint(Path(folder) / "bench", SHAPE)
        sentences = [sentence_of(N_TOKENS, checkpoint.tokenizer, seed) for seed in range(SENTENCES + 1)]
        query = urlencode({"model": "bench", "sentence": sentences[0]})
        starts = [_first_page(browser, Path(folder), query) for _ in range(STARTS)]
        with server(Path(folder)) as url:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{url}/?{query}")
            _settle(page)
            clicks = [_click(page, layer=turn % 6, head=1 + turn % 7) for turn in range(1 + CLICKS)][1:]
            grids = [_type(page, sentence) for sentence in sentences[1:]]
            pair = (sentence_of(N_LONG, checkpoint.tokenizer, seed) for seed in (0, 1))
            page.goto(f"{url}/?{urlencode({'model': 'bench', **dict(zip(('sentence', 'target'), pair, strict=True))})}")
            _settle(page)
            long = [_switch(page, kind) for kind in TURNS]
    heads = f"{SHAPE.n_encoder_layers} × {SHAPE.n_heads}"
    shape = f"{heads} × {N_TOKENS}"
    return [
        latency("`streamlit run` to the first heading, s", starts, "s", 5),
        latency(f"click to opened head, {shape}, ms", clicks, "ms", 250),
        latency(f"new sentence to encoder grid, {shape}, ms", grids, "ms", 250),
        latency(f"click on a kind to its grid, {heads} × {N_LONG}, ms", long, "ms", 400),
    ]


def _first_page(browser: Any, checkpoints: Path, query: str) -> float:
    """Seconds from starting a server to its first page's heading."""
    page = browser.new_page()
    start = time.perf_counter()
    with server(checkpoints) as url:
        page.goto(f"{url}/?{query}", wait_until="commit")
        page.locator("h1").first.wait_for()
        seconds = time.perf_counter() - start
        page.close()
    return seconds


def _settle(page: Any) -> None:
    """Wait until everything is drawn, for the width that the page has, and the translation is there."""
    page.locator(".grid[data-painted]").wait_for(timeout=60_000)
    page.locator(".heatmaplayer image").first.wait_for(state="attached", timeout=60_000)
    page.locator(".translation").wait_for(timeout=60_000)
    page.wait_for_timeout(600)
    page.locator(IDLE).wait_for(timeout=60_000)


def _click(page: Any, layer: int, head: int) -> float:
    """Milliseconds from a click on a head's map to the frame that shows it large."""
    grid = page.locator(".grid")
    place = place_of(grid, layer, head)
    grid.evaluate(HEAD_OPENED)
    grid.locator("canvas").click(position=place)
    milliseconds = page.evaluate("window.roundtable")
    _settle(page)
    return milliseconds


def _type(page: Any, sentence: str) -> float:
    """Milliseconds from Ctrl + Enter in the sidebar to the frame that shows the sentence's encoder grid."""
    box = page.get_by_role("textbox", name="Sentence")
    box.fill(sentence)
    page.keyboard.down("Control")
    page.locator(".grid").evaluate(GRID_PAINTED, "keydown")
    page.keyboard.press("Enter")
    page.keyboard.up("Control")
    milliseconds = page.evaluate("window.roundtable")
    _settle(page)
    return milliseconds


def _switch(page: Any, kind: str) -> float:
    """Milliseconds from a click on a kind of attention to the frame that shows its grid; the trace is there already."""
    page.locator(".grid").evaluate(GRID_PAINTED, "pointerdown")
    page.get_by_role("radio", name=kind).click()
    milliseconds = page.evaluate("window.roundtable")
    _settle(page)
    return milliseconds
