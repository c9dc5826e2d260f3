"""The page Ablations on a checkpoints folder of its own, and what stands on it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT
from transformer.checkpoint import load_checkpoint, read_config, write_config
from transformer.model import Transformer
from transformer.weights import named_weights, save_weights

TARGET = "Das Tier war müde."


@pytest.fixture
def open_page(checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens the page at a tab on copies of the two small checkpoints, with a target that both read.

    Random weights write long: a test that lets them takes a while.
    """
    for name in ("sentences", "letters"):
        shutil.copytree(checkpoints / name, tmp_path / name)
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("transformer.folders.SHIPPED", tmp_path / "nothing")
    monkeypatch.setattr("transformer.ablations.rows.SHIPPED", tmp_path / "nothing")
    monkeypatch.setattr("ui.compare_state.SHIPPED", tmp_path / "nothing")

    def start(tab: str = "Table 3", **parameters: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.query_params.update({"model": "sentences", "ablation": tab, "target": TARGET, **parameters})
        app.switch_page("pages/ablations.py").run()
        assert not app.exception
        assert app.title[0].value == "Ablations"
        return app

    return start


def said(app: AppTest) -> str:
    return " ".join(element.value for kind in (app.markdown, app.info, app.caption, app.warning) for element in kind)


def charts(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def made(folder: Path, of: Path, *, seed: int | None = None, **changes) -> Path:
    """A copy of a checkpoint, or one with random weights whose model has these changes, or was trained with a seed."""
    from dataclasses import replace

    shutil.copytree(of, folder)
    config = read_config(of)
    train = config.train if seed is None else replace(config.train, seed=seed)
    model = replace(config.model, **{"d_k": None, "d_v": None, **changes}) if changes else config.model
    write_config(folder, replace(config, model=model, train=train))
    if changes or seed is not None:
        torch.manual_seed(seed or 5)
        save_weights(named_weights(Transformer(model)), folder / "model.safetensors")
    return folder


def moved(folder: Path, of: Path) -> Path:
    """A copy in which heads 0 and 3 of the first encoder layer have changed places: rows of W_Q, W_K and W_V, columns
    of W_O."""
    shutil.copytree(of, folder)
    model = load_checkpoint(folder).model
    order = [3, 1, 2, 0]
    with torch.no_grad():
        attention = model.encoder[0].attention
        for linear in (attention.query, attention.key, attention.value):
            linear.weight.copy_(linear.weight.unflatten(0, (4, 4))[order].flatten(0, 1))
            linear.bias.copy_(linear.bias.unflatten(0, (4, 4))[order].flatten())
        attention.output.weight.copy_(attention.output.weight.unflatten(1, (4, 4))[:, order].flatten(1))
    save_weights(named_weights(model), folder / "model.safetensors")
    return folder
