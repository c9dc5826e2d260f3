"""What a run's process does: it trains, waits, stops, fails with a sentence, and goes on bit by bit."""

import errno
import os
import shutil
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest
import torch
from safetensors import SafetensorError

from tests.training_runs.small_runs import curve, do, go_on, weights
from transformer import load_checkpoint
from transformer.checkpoint import read_config
from transformer.folders import CheckpointError
from transformer.training import locks, trainer
from transformer.training.failures import RunError
from transformer.training.runs import get_run
from transformer.training.status import STOP_FILE
from transformer.training.trainer import Trainer

pytestmark = pytest.mark.filterwarnings("ignore:The text allows a vocabulary")


def test_a_run_leaves_a_whole_checkpoint(ask, folder):
    assert do(ask("one"))
    run = get_run("one")
    assert (run.state, run.step, run.steps, run.message, run.seconds_left) == ("finished", 6, 6, "", None)
    assert run.device.startswith("cpu (")
    checkpoint = load_checkpoint("one")
    assert checkpoint.config.step == 6
    assert checkpoint.config.corpus["name"] == "letters"
    assert not locks.is_held(folder / "one" / "lock")


def test_what_is_saved_on_the_way_can_be_loaded_with_its_step(ask, folder, monkeypatch):
    steps = []
    save = Trainer.save

    def and_load(self: Trainer) -> None:
        save(self)
        steps.append((self.progress.step, load_checkpoint("one").config.step))

    monkeypatch.setattr(Trainer, "save", and_load)
    assert do(ask("one"))
    assert steps == [(2, 2), (4, 4), (6, 6)]


FAILURES = [
    (MemoryError(), "There was not enough memory on cpu"),
    (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), "There was not enough memory"),
    (RuntimeError("[enforce fail at alloc_cpu.cpp:119] . DefaultCPUAllocator: can't allocate"), "not enough memory"),
    (RuntimeError("MPS backend out of memory (MPS allocated: 18.13 GB)"), "There was not enough memory"),
    (OSError(errno.ENOSPC, "No space left on device"), "The disk is full"),
    (OSError(errno.EDQUOT, "Disk quota exceeded"), "The disk is full"),
    (SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"), "The disk is full"),
    (RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 320 vs 210"), "The disk is full"),
    (OSError(errno.EIO, "Input/output error", "state.pt"), "state.pt: Input/output error"),
    (ZeroDivisionError("float division"), "ZeroDivisionError: float division. It is a fault in Roundtable"),
]


@pytest.mark.parametrize(("error", "sentence"), FAILURES, ids=lambda value: type(value).__name__)
def test_what_ends_a_run_is_explained_and_what_was_saved_goes_on(ask, folder, monkeypatch, error, sentence):
    request = ask("one")
    step = Trainer._step

    def fails(self: Trainer, batches) -> float:
        if self.progress.step == 5:
            raise error
        return step(self, batches)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", fails)
        patch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
        with pytest.raises(RunError, match=sentence):
            do(request)
    run = get_run("one")
    assert run.state == "failed"
    assert sentence in run.message
    assert "What was saved at step 4 is whole." in run.message
    assert load_checkpoint("one").config.step == 4
    if isinstance(error, MemoryError):  # once is enough
        assert go_on("one")
        assert get_run("one").message == ""
        assert do(ask("two"))
        assert weights("one") == weights("two")
        assert curve(folder / "one") == curve(folder / "two")


def test_a_run_that_diverges_says_so_and_keeps_what_was_saved(ask, folder):
    with pytest.raises(RunError, match=r"training diverged\. Choose a smaller lr_factor"):
        do(ask("one", lr_factor=1e30, steps=20))
    assert get_run("one").state == "failed"


def test_weights_that_diverged_are_not_saved(ask, folder):
    """Although it saves before it logs: what was saved is whole, as the message says."""
    with pytest.raises(RunError, match=r"training diverged.* Nothing was saved yet\."):
        do(ask("one", lr_factor=1e30, steps=20, save_every=2, log_every=20, validate_every=20))
    assert not (folder / "one" / "state.pt").exists()


def test_a_folder_may_have_brackets_in_its_name(ask, tmp_path, monkeypatch):
    """A terminal's markup is written in brackets too."""
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path / "a[" / "b]c"))
    assert do(ask("one"))


def test_before_the_first_save_there_is_nothing_to_keep(ask, folder, monkeypatch):
    def fails(self: Trainer, batches) -> float:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", fails)
        with pytest.raises(RunError):
            do(ask("one"))
    assert "Nothing was saved yet." in get_run("one").message
    assert not get_run("one").loadable
    assert go_on("one")


def test_a_corpus_that_cannot_be_read_is_a_failure_with_its_line(ask, folder, tmp_path):
    path = tmp_path / "broken.tsv"
    path.write_text("a\tb\nno tab\n")
    with pytest.raises(RunError, match="line 2"):
        do(ask("one", corpus=str(path)))
    assert "line 2" in get_run("one").message
    path.write_text("".join(f"{letter}\t{letter}\n" for letter in "abcdefghij"))
    assert go_on("one")


def test_a_stop_during_validation_costs_no_line(ask, folder, monkeypatch):
    """The validation that was broken off comes first when the run goes on, and it ends as one that never stopped."""
    batch_loss, calls = trainer.batch_loss, []

    def stops(model, batch, label_smoothing=0.0):
        if not model.training:
            calls.append(batch)
            if len(calls) == 2:
                (folder / "one" / STOP_FILE).touch()
        return batch_loss(model, batch, label_smoothing)

    changes = {"validate_every": 3, "batch_tokens": 8, "save_every": 100}
    with monkeypatch.context() as patch:
        patch.setattr(trainer, "batch_loss", stops)
        assert not do(ask("one", **changes))
    assert (get_run("one").state, get_run("one").step) == ("stopped", 3)
    assert len(calls) == 2
    assert all("validation_nll" not in line for line in curve(folder / "one"))
    assert go_on("one")
    assert do(ask("two", **changes))
    assert weights("one") == weights("two")
    assert curve(folder / "one") == curve(folder / "two")


def test_a_stop_during_the_last_validation_leaves_a_run_to_resume(ask, folder, monkeypatch):
    validate = Trainer.validate

    def stops(self: Trainer, should_stop=lambda: False):
        if self.progress.step == 6:
            (folder / "one" / STOP_FILE).touch()
        return validate(self, should_stop)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "validate", stops)
        assert not do(ask("one"))
    assert (get_run("one").state, get_run("one").step) == ("stopped", 6)
    assert go_on("one")
    assert [line["step"] for line in curve(folder / "one") if "validation_nll" in line] == [3, 6]
    assert get_run("one").state == "finished"


def test_a_run_waits_for_the_device_and_says_for_whom(ask, folder):
    folder.mkdir()
    descriptor = locks.take(folder / ".device-cpu.lock")
    assert descriptor is not None
    locks.sign(descriptor, "the-first", os.getpid())
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if text.startswith("Waiting"):
            run = get_run("one")
            assert (run.state, run.message) == ("queued", "Waiting for the-first, which uses cpu.")
            threading.Timer(0.1, os.close, [descriptor]).start()

    assert do(ask("one"), say)
    assert said[:2] == ["Waiting for the-first, which uses cpu.", "Starting."]


def test_a_queued_run_can_be_stopped_and_started_later(ask, folder):
    folder.mkdir()
    descriptor = locks.take(folder / ".device-cpu.lock")
    assert descriptor is not None
    assert not do(ask("one"), lambda text: (folder / "one" / STOP_FILE).touch())
    assert (get_run("one").state, get_run("one").step) == ("stopped", 0)
    assert not (folder / "one" / "config.json").exists()
    os.close(descriptor)
    assert go_on("one")


def test_minutes_become_steps_once_and_stay(ask, folder, monkeypatch):
    assert do(ask("one", minutes=0.05, warmup=3, steps=7))
    train = read_config(folder / "one").train
    assert train.steps >= 1
    assert get_run("one").steps == train.steps
    assert train.warmup == min(3, max(1, round(3 * train.steps / 7), -(-train.steps // 10)))
    # Broken off and resumed, or given as steps from the start, it is the same run.
    state = folder / "one" / "state.pt"
    assert state.exists()
    assert do(ask("two", **{name: getattr(train, name) for name in (
        "steps", "warmup", "lr_factor", "log_every", "validate_every", "save_every")}))  # fmt: skip
    assert weights("one") == weights("two")
    assert curve(folder / "one") == curve(folder / "two")
    assert go_on("one")
    assert read_config(folder / "one").train == train


def test_a_run_without_the_state_that_its_weights_came_from_is_not_begun_anew(ask, folder):
    assert do(ask("one"))
    before = weights("one")
    (folder / "one" / "state.pt").unlink()
    with pytest.raises(CheckpointError, match=r"has no state\.pt"):
        go_on("one")
    assert get_run("one").state == "finished"
    assert weights("one") == before


def test_tensorboard_is_given_every_number(ask, folder, monkeypatch):
    written: list[tuple[str, float, int]] = []

    class SummaryWriter:
        def __init__(self, path: str, purge_step: int) -> None:
            assert (path, purge_step) == (str(folder / "one"), 1)

        def add_scalar(self, name: str, value: float, step: int) -> None:
            written.append((name, value, step))

        def flush(self) -> None: ...

    fake = ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    monkeypatch.setattr("transformer.training.board.find_spec", lambda name: name)
    assert do(ask("one"))
    lines = curve(folder / "one")
    assert [(step, value) for name, value, step in written if name == "validation_nll"] == [
        (line["step"], line["validation_nll"]) for line in lines if "validation_nll" in line
    ]
    assert {name for name, _, _ in written} >= {"nll", "smoothed", "lr", "grad_norm"}
    assert "step" not in {name for name, _, _ in written}
