"""How long a person waits on Ablations: from a click into one of four models' grids to the frame that shows its head.

Four models of 6 layers of 8 heads read 64 tokens, as in issue 6's budget. Timed in the browser, from the click to the
frame in which the outlines of all four grids and the four opened maps have changed.
"""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import torch

from benchmarks.browsing import IDLE, WAIT, chromium, latency, place_of, server
from benchmarks.checkpoints import sentence_of, untrained_checkpoint
from benchmarks.pages import N_TOKENS, SHAPE
from benchmarks.table import Row
from transformer.checkpoint import write_config
from transformer.config import TrainConfig
from transformer.model import Transformer
from transformer.weights import named_weights, save_weights

MODELS, CLICKS, BUDGET = 4, 9, 600
TARGET = "a b c d e f g h"

MAPS = ".st-key-opened_heads .heatmaplayer image"
HEAD_OPENED = f"""elements => {{ {WAIT}
  const grids = () => elements.filter(one => one.isConnected).map(one => one.dataset.selected);
  const maps = () => [...document.querySelectorAll('{MAPS}')].map(one => one.getAttribute('href'));
  const selected = grids(), drawn = maps(), moved = () => grids().every((one, at) => one !== selected[at]);
  const changed = () => maps().filter((one, at) => one && one !== drawn[at]).length;
  window.roundtable = painted('pointerdown', () => moved() && changed() >= {MODELS});
}}"""


def rows() -> list[Row]:
    """Milliseconds from a click to four opened heads; no row without a browser."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        if browser is None:
            return []
        names, sentence = four_models(Path(folder))
        query = {"model": names[0], "beside": names[1:], "sentence": sentence, "target": TARGET, "match": "same place"}
        with server(Path(folder)) as url:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{url}/ablations?{urlencode(query, doseq=True)}")
            _settle(page)
            times = [_click(page, layer=turn % 6, head=1 + turn % 7) for turn in range(1 + CLICKS)][1:]
    shape = f"{MODELS} × {SHAPE.n_encoder_layers} × {SHAPE.n_heads} × {N_TOKENS}"
    return [latency(f"click to one head in four models, {shape}, ms", times, "ms", BUDGET)]


def four_models(folder: Path) -> tuple[Sequence[str], str]:
    """Names of untrained checkpoints in a folder that differ in their seed alone, and a sentence for them."""
    first = untrained_checkpoint(folder / "bench-1", SHAPE)
    for seed in range(2, MODELS + 1):
        copy = folder / f"bench-{seed}"
        shutil.copytree(folder / "bench-1", copy)
        torch.manual_seed(seed)
        save_weights(named_weights(Transformer(first.config.model)), copy / "model.safetensors")
        write_config(copy, replace(first.config, train=TrainConfig(seed=seed)))
    names = [f"bench-{seed}" for seed in range(1, MODELS + 1)]
    return names, sentence_of(N_TOKENS, first.tokenizer, seed=0)


def _settle(page: Any) -> None:
    """Wait until every grid and every map is drawn, and the script has run to its end."""
    page.locator(".grid[data-painted]").nth(MODELS - 1).wait_for(timeout=120_000)
    page.locator(MAPS).nth(2 * MODELS - 1).wait_for(state="attached", timeout=120_000)
    page.wait_for_timeout(600)
    page.locator(IDLE).wait_for(timeout=120_000)


def _click(page: Any, layer: int, head: int) -> float:
    """Milliseconds from a click on a head's map in the first grid to the frame that shows it in all."""
    grid = page.locator(".grid").first
    place = place_of(grid, layer, head)
    page.locator(".grid").evaluate_all(HEAD_OPENED)
    grid.locator("canvas").click(position=place)
    milliseconds = page.evaluate("window.roundtable")
    _settle(page)
    return milliseconds
