"""Runs done in the process of the test."""

from pathlib import Path

from transformer.folders import runs_folder
from transformer.training.distributed import World
from transformer.training.launch import create, reopen
from transformer.training.metrics import read_metrics
from transformer.training.request import RunRequest, read_request
from transformer.training.worker import lead


def silent(_: str) -> None: ...


def do(request: RunRequest, say=silent) -> bool:
    """Start a run and do it here; whether it finished."""
    folder, descriptor = create(request)
    return lead(folder, read_request(folder), descriptor, say, World())


def go_on(name: str, say=silent) -> bool:
    """Resume a run and do it here; whether it finished."""
    folder = runs_folder() / name
    descriptor = reopen(folder)
    return lead(folder, read_request(folder), descriptor, say, World())


def weights(name: str) -> bytes:
    return (runs_folder() / name / "model.safetensors").read_bytes()


def curve(folder: Path) -> list[dict]:
    """Every line of metrics.jsonl without the speed, which is another each time."""
    return [{key: value for key, value in line.items() if key != "tokens_per_second"} for line in read_metrics(folder)]
