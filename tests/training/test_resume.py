"""Killed anywhere, a run that goes on ends exactly where it would have ended: weights, optimizer, metrics, files."""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conftest import ROOT
from tests.training.small import trainer
from transformer.folders import CheckpointError
from transformer.weights import read_weights

Run = Callable[..., list[str]]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """run(folder, *moments) trains in processes that are killed at those moments, and then once more to the end."""
    command = [sys.executable, "-m", "tests.training.killed"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def train(folder: Path, *moments: list[Any]) -> list[str]:
            process.stdin.write(json.dumps([str(folder), moments]) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield train


@pytest.fixture(scope="module")
def uninterrupted(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    assert run(folder) == ["done"]
    return folder


def metrics(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("tokens_per_second", None)
    return lines


def state(folder: Path) -> dict[str, Any]:
    return torch.load(folder / "state.pt", weights_only=True)


def assert_same_end(folder: Path, expected: Path) -> None:
    """The same bits everywhere but in speeds, and no file beside those of a run that was never killed."""
    files, others = (sorted(str(path.relative_to(base)) for path in base.rglob("*")) for base in (folder, expected))
    assert files == others
    weights, wanted = (read_weights(base / "model.safetensors") for base in (folder, expected))
    assert weights.keys() == wanted.keys()
    for name, weight in weights.items():
        assert torch.equal(weight, wanted[name]), name
    for path in (expected / "steps").iterdir():
        assert path.read_bytes() == (folder / "steps" / path.name).read_bytes()
    found, planned = state(folder), state(expected)
    assert torch.equal(found["random"], planned["random"])
    for key, moments in planned["optimizer"]["state"].items():
        for name, tensor in moments.items():
            assert torch.equal(found["optimizer"]["state"][key][name], tensor)
    assert found["progress"] == planned["progress"]
    assert metrics(folder) == metrics(expected)


def test_an_uninterrupted_run_logs_each_step_once_and_keeps_the_last_files(uninterrupted: Path):
    lines = metrics(uninterrupted)
    assert [line["step"] for line in lines if "nll" in line] == [2, 4, 6, 8, 10, 12]
    assert [line["step"] for line in lines if "validation_nll" in line] == [3, 6, 9, 12]
    assert sorted(path.name for path in (uninterrupted / "steps").iterdir()) == ["12.safetensors", "8.safetensors"]
    assert state(uninterrupted)["progress"]["epoch"] > 0, "it has gone through more than one epoch"


SERIES = {
    "between updates": [["step", 1], ["step", 3], ["step", 5], ["step", 12]],
    "while weights are written": [
        ["half", "4.safetensors", 1],
        ["after", "4.safetensors", 1],
        ["before", "model.safetensors", 1],
        ["after", "model.safetensors", 2],
    ],
    "while a file grows": [["bytes", 20_000], ["step", 5], ["bytes", 1000], ["bytes", 100_000]],
    "while the state is written": [
        ["half", "state.pt", 1],
        ["half", "state.pt", 2],
        ["before", "state.pt", 1],
        ["after", "state.pt", 1],
        ["half", "state.pt", 1],
        ["after", "state.pt", 1],
    ],
    "while metrics are written": [["log", 1], ["log", 3], ["log", 2], ["step", 8], ["log", 4]],
}
"""Where a run is killed, and where those that go on from there are; each counts its own files and lines."""


@pytest.mark.parametrize("moments", SERIES.values(), ids=SERIES)
def test_killed_and_resumed_it_ends_bit_for_bit_the_same(
    run: Run, uninterrupted: Path, tmp_path: Path, moments: list[list[Any]]
):
    assert run(tmp_path, *moments) == [*["killed"] * len(moments), "done"]
    assert_same_end(tmp_path, uninterrupted)


def test_killed_from_outside_at_random_moments_it_ends_the_same(run: Run, uninterrupted: Path, tmp_path: Path):
    ends = run(tmp_path, *(["seconds", random.uniform(0.01, 0.15)] for _ in range(6)))
    assert set(ends) <= {"killed", "done"}
    assert_same_end(tmp_path, uninterrupted)


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return read_weights(folder / "model.safetensors")


def test_stopped_between_steps_it_saves_and_goes_on_as_if_it_had_not_stopped(tmp_path: Path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    dropout = {"model": {"p_drop": 0.3}}
    assert trainer(whole, **dropout).run()
    for stop_at in (0, 3, 4, 9):
        run = trainer(parts, **dropout)
        assert not run.run(should_stop=lambda run=run, stop_at=stop_at: run.progress.step >= stop_at)
        assert run.progress.step == state(parts)["progress"]["step"] == stop_at
    assert trainer(parts, **dropout).run()
    assert all(torch.equal(weight, weights_of(parts)[name]) for name, weight in weights_of(whole).items())
    assert metrics(parts) == metrics(whole)


def test_a_run_that_is_done_stays_done(tmp_path: Path):
    trainer(tmp_path).run()
    before = weights_of(tmp_path), metrics(tmp_path)
    assert trainer(tmp_path).run()
    assert all(torch.equal(weight, weights_of(tmp_path)[name]) for name, weight in before[0].items())
    assert metrics(tmp_path) == before[1]


def test_more_steps_go_on_where_fewer_ended(tmp_path: Path):
    """Only the number of planned steps has changed: the last step of the short run logs a line more."""
    trainer(tmp_path / "long", steps=12).run()
    trainer(tmp_path / "short", steps=8).run()
    trainer(tmp_path / "short", steps=12).run()
    short, long = weights_of(tmp_path / "short"), weights_of(tmp_path / "long")
    assert all(torch.equal(weight, short[name]) for name, weight in long.items())


@pytest.mark.parametrize("damage", ["truncated", "not a state", "another model", "no optimizer", "no progress"])
def test_a_state_that_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path, damage: str):
    trainer(tmp_path).run()
    path, model = tmp_path / "state.pt", {}
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-500])
    elif damage == "not a state":
        path.write_text("hello")
    elif damage == "no optimizer":
        torch.save({**state(tmp_path), "optimizer": {"state": {}, "param_groups": []}}, path)
    elif damage == "no progress":
        torch.save({name: value for name, value in state(tmp_path).items() if name != "progress"}, path)
    else:
        model = {"d_ff": 25}
    with pytest.raises(CheckpointError) as error:
        trainer(tmp_path, model=model)
    message = str(error.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert message.endswith(".")


def test_nothing_in_a_state_is_ever_executed(tmp_path: Path):
    """A pickle that would call a function is refused before it does."""

    class Attack:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "owned",))

    trainer(tmp_path).run()
    torch.save({"model": Attack()}, tmp_path / "state.pt")
    with pytest.raises(CheckpointError):
        trainer(tmp_path)
    assert not (tmp_path / "owned").exists()
