"""Runs without a process: their files as a run leaves them, and one that was really trained."""

import json
import os
from pathlib import Path

import pytest

from tests.pages.conftest import SENTENCES
from transformer.checkpoint import CheckpointConfig, write_config
from transformer.config import ModelConfig, TrainConfig
from transformer.text.tokenizer import Tokenizer
from transformer.training import runs
from transformer.training.request import RunRequest, write_request
from transformer.training.status import Status, write_status

MODEL = ModelConfig(vocab_size=310, d_model=16, d_ff=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=1)
LINES = [
    {"step": 5, "nll": 2.0, "smoothed": 2.5, "grad_norm": 1.5, "lr": 0.001, "n_tokens": 50, "tokens_per_second": 100.0},
    {"step": 5, "validation_nll": 1.0},
    {"step": 10, "nll": 1.0, "smoothed": 1.5, "grad_norm": 1.0, "lr": 0.002, "n_tokens": 99, "tokens_per_second": 90.0},
]


def make_run(folder: Path, name: str, **status) -> Path:
    """A run with a status and a curve, but without weights."""
    path = folder / name
    path.mkdir(parents=True)
    write_status(path, Status(**{"state": "finished", "step": 10, "steps": 10, "corpus": "copy", **status}))
    (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def add_tokenizer(path: Path, size: int = 310) -> None:
    Tokenizer.train(SENTENCES, size).save(path / "tokenizer.model")


def make_loadable(path: Path, probe: str) -> None:
    """What lets the app offer a run's model: a config, something for weights, and the request with its probe."""
    write_config(path, CheckpointConfig(MODEL, TrainConfig(steps=10), {"name": "copy"}, step=10))
    (path / "model.safetensors").write_bytes(b"weights")
    request = RunRequest(name=path.name, corpus="copy", model=MODEL, train=TrainConfig(steps=10), probes=(probe,))
    write_request(path, request)


def no_processes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs are made but no process is started; the names of those for which one would have been."""
    names: list[str] = []

    def spawn(folder: Path, descriptor: int) -> None:
        names.append(folder.name)
        os.close(descriptor)

    monkeypatch.setattr(runs, "spawn", spawn)
    return names
