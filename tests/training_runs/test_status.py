"""What a run says of itself, and what others make of it when it is torn, old, or no process is left to say more."""

import errno
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from transformer.training import locks, status
from transformer.training.status import LOCK_FILE, STATUS_FILE, STOP_FILE, Status, look, read_status, write_status

RUNNING = Status(state="running", step=7, steps=20, message="Größe √d", device="cpu", created=5.0, corpus="copy")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_status(tmp_path, RUNNING)
    return tmp_path


@pytest.fixture
def live(run: Path):
    descriptor = locks.take(run / LOCK_FILE)
    assert descriptor is not None
    yield run
    os.close(descriptor)


def test_it_comes_back_as_it_was_written(run):
    assert read_status(run) == RUNNING
    assert [path.name for path in run.iterdir()] == [STATUS_FILE]


def test_every_cut_of_the_file_reads_as_no_status(run):
    content = (run / STATUS_FILE).read_bytes()
    for length in range(len(content) - 1):
        (run / STATUS_FILE).write_bytes(content[:length])
        assert read_status(run) is None


@pytest.mark.parametrize(
    "change",
    [
        {"state": "dancing"},
        {"step": "7"},
        {"steps": [1]},
        {"message": None},
        {"created": None},
        {"tokens_per_second": "fast"},
        {"seconds_left": float("nan")},
        {"seconds_left": float("inf")},
    ],
)
def test_a_value_of_the_wrong_kind_reads_as_no_status(run, change):
    content = json.loads((run / STATUS_FILE).read_text())
    (run / STATUS_FILE).write_text(json.dumps(content | change))
    assert read_status(run) is None


@pytest.mark.parametrize("state", ["queued", "running"])
def test_a_held_lock_makes_it_live(live, state):
    write_status(live, replace(RUNNING, state=state))
    assert look(live)[0] == state


def test_a_live_run_whose_status_is_cut_in_half_runs(live):
    (live / STATUS_FILE).write_bytes(b'{"state": "run')
    assert look(live) == ("running", None)


def test_a_live_run_that_was_asked_to_stop_is_stopping(live):
    (live / STOP_FILE).touch()
    assert look(live)[0] == "stopping"


@pytest.mark.parametrize("state", ["queued", "running"])
def test_without_a_process_it_is_lost_or_was_stopped(run, state):
    write_status(run, replace(RUNNING, state=state))
    assert look(run)[0] == "lost"
    (run / STOP_FILE).touch()
    assert look(run)[0] == "stopped"


@pytest.mark.parametrize("state", ["stopped", "finished", "failed"])
def test_last_words_count_whoever_holds_the_lock(live, state):
    write_status(live, replace(RUNNING, state=state))
    assert look(live)[0] == state


def test_a_torn_status_without_a_process_tells_nothing(run):
    (run / STATUS_FILE).write_bytes(b"")
    assert look(run) == (None, None)


@pytest.mark.parametrize("seconds", [-1e9, 0, 1e9])
def test_clocks_prove_nothing(live, seconds, monkeypatch):
    """Neither a clock that went back nor one that leapt ahead, nor a file from the future, makes a live run lost."""
    monkeypatch.setattr(time, "time", lambda: 1.7e9 + seconds)
    os.utime(live / STATUS_FILE, (1.7e9 - seconds, 1.7e9 - seconds))
    assert look(live)[0] == "running"


def test_last_words_between_two_looks_are_heard(run, monkeypatch):
    """The process writes that it has finished, and ends, after its status was read and before its lock was tried."""

    def ends_now(path: Path) -> bool:
        write_status(run, replace(RUNNING, state="finished"))
        return False

    monkeypatch.setattr(status, "is_held", ends_now)
    assert look(run) == ("finished", replace(RUNNING, state="finished"))


def test_a_full_disk_is_written_over_in_place(run, monkeypatch):
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    write_status(run, replace(RUNNING, state="failed", message="The disk is full."))
    found = read_status(run)
    assert found is not None
    assert (found.state, found.message) == ("failed", "The disk is full.")
