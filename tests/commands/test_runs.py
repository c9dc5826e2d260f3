"""`roundtable runs …`: what it prints and its exit codes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from transformer.cli import main
from transformer.training import locks, runs
from transformer.training.status import LOCK_FILE, Status, write_status


@pytest.fixture
def roundtable(capsys: pytest.CaptureFixture):
    """Runs one command: its exit code, standard output and standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as leaving:
            main(["runs", *arguments])
        out, err = capsys.readouterr()
        return int(leaving.value.code or 0), out, err

    return run


@pytest.fixture
def one(folder: Path) -> Path:
    path = folder / "one"
    path.mkdir(parents=True)
    write_status(
        path,
        Status(state="stopped", step=1200, steps=3000, corpus="copy", preset="tiny", device="cpu (2 cores, 8 GiB)",
               tokens_per_second=2048.5, message="As you wished."),
    )  # fmt: skip
    (path / "train.log").write_text("".join(f"step {number}\n" for number in range(100)))
    return path


def test_no_runs_are_no_lines(roundtable):
    assert roundtable("list") == (0, "", "")


def test_a_list_has_a_line_a_run(roundtable, one):
    code, out, _ = roundtable("list")
    assert code == 0
    assert out.split() == ["one", "stopped", "step", "1,200/3,000", "copy", "tiny"]


def test_a_run_is_shown_with_the_end_of_its_log(roundtable, one):
    code, out, _ = roundtable("show", "one", "--lines", "2")
    assert code == 0
    assert "stopped (As you wished.)" in out
    assert "2,048 target tokens/s" in out
    assert out.endswith("step 98\nstep 99\n")
    assert "step 97" not in out


def test_time_left_is_told_of_a_live_run(roundtable, one):
    descriptor = locks.take(one / LOCK_FILE)
    assert descriptor is not None
    write_status(one, Status(state="running", step=1, steps=None, seconds_left=125))
    assert "2 min 5 s left" in roundtable("list")[1]
    write_status(one, Status(state="running", step=1, steps=9, seconds_left=7300))
    assert "2 h 1 min left" in roundtable("show", "one")[1]
    os.close(descriptor)
    assert "left" not in roundtable("list")[1]


def test_stop_says_what_became_of_it(roundtable, one):
    assert roundtable("stop", "one") == (0, "one: stopped\n", "")


def test_resume_starts_a_process(roundtable, one, monkeypatch):
    spawned = []
    monkeypatch.setattr(runs, "spawn", lambda folder, descriptor: (spawned.append(folder), os.close(descriptor)))
    assert roundtable("resume", "one")[0] == 0
    assert spawned == [one]


@pytest.mark.parametrize(("answer", "code", "stays"), [("y", 0, False), ("n", 1, True), ("", 1, True)])
def test_delete_asks(roundtable, one, monkeypatch, answer, code, stays):
    asked = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda question: (asked.append(question), answer)[1])
    assert roundtable("delete", "one")[0] == code
    assert one.exists() == stays
    assert "step 1,200/3,000, for good? [y/N]" in asked[0]


@pytest.mark.parametrize(("leaves", "code"), [(EOFError, 1), (KeyboardInterrupt, 130)])
def test_leaving_the_question_deletes_nothing(roundtable, one, monkeypatch, leaves, code):
    def answer(question: str) -> str:
        raise leaves

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", answer)
    assert roundtable("delete", "one") == (code, "", "")
    assert one.exists()


def test_whoever_reads_a_list_may_leave(one):
    command = f"{sys.executable} -m transformer runs list; echo $? >&2"
    result = subprocess.run(["sh", "-c", f"({command}) | true"], cwd=ROOT, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("", "141\n")


def test_delete_without_anybody_to_ask_needs_yes(roundtable, one, monkeypatch):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    code, _, err = roundtable("delete", "one")
    assert code == 2
    assert "--yes says so beforehand" in err
    assert one.exists()
    assert roundtable("delete", "one", "--yes")[0] == 0
    assert not one.exists()


def test_rename(roundtable, one):
    assert roundtable("rename", "one", "two")[0] == 0
    assert [run.name for run in runs.list_runs()] == ["two"]


@pytest.mark.parametrize("command", ["show", "stop", "resume", "delete"])
def test_a_run_that_is_not_there_is_a_sentence(roundtable, command):
    code, _, err = roundtable(command, "nobody")
    assert code == 2
    assert err.startswith("roundtable: There is no run 'nobody'")
    assert err.count("\n") == 1
