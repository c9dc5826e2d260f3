"""Runs as files: listed, named, renamed, deleted, refused; processes are stood in for by whoever holds the lock."""

import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from transformer import folders
from transformer.folders import CheckpointError
from transformer.text.corpora import CorpusError, load_corpus
from transformer.training import average, launch, locks, run, runs
from transformer.training.request import RunRequest, read_request
from transformer.training.status import LOCK_FILE, STOP_FILE, Status, read_status, write_status

ROOT = Path(__file__).resolve().parent.parent.parent
HOSTILE = ["", ".", "..", "../x", "a/b", "/etc/x", "x\0y", "a b", ".hid", "\N{GRINNING FACE}", "x" * 300, "a\nb", "*"]


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the runs for which a process would have been started."""
    names: list[str] = []

    def spawn(folder: Path, descriptor: int) -> None:
        names.append(folder.name)
        os.close(descriptor)

    monkeypatch.setattr(runs, "spawn", spawn)
    return names


def make_run(folder: Path, name: str, **status) -> Path:
    """A run without a process."""
    path = folder / name
    path.mkdir(parents=True)
    write_status(path, Status(**{"state": "finished", "step": 6, "steps": 6, **status}))
    return path


def make_checkpoint(path: Path, step: int, steps: int) -> Path:
    """A folder with the config.json of a training that knew nothing of runs."""
    path.mkdir(parents=True, exist_ok=True)
    config = {"format": 1, "step": step, "train": {"steps": steps}, "corpus": {"name": "copy"}}
    (path / "config.json").write_text(json.dumps(config))
    return path


def test_the_module_imports_neither_torch_nor_tyro():
    code = "import sys; from transformer.training import runs, request, estimate, metrics, probes, device; "
    found = subprocess.run(
        [sys.executable, "-c", code + "print({'torch', 'tyro', 'streamlit', 'rich'} & set(sys.modules))"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout == "set()\n"


def test_a_started_run_is_queued_and_knows_what_was_asked(ask, folder, spawned, tsv):
    request = ask("one", probes=("a b c",))
    assert runs.start(request) == "one"
    assert spawned == ["one"]
    assert read_request(folder / "one") == request
    status = read_status(folder / "one")
    assert status is not None
    assert (status.state, status.step, status.steps, status.corpus) == ("queued", 0, 6, tsv.name)
    # No process took the lock over.
    assert runs.get_run("one").state == "lost"


def test_a_relative_corpus_means_the_same_from_anywhere(ask, folder, spawned, tsv, monkeypatch):
    monkeypatch.chdir(tsv.parent)
    runs.start(ask("one", corpus=tsv.name))
    request = read_request(folder / "one")
    assert request is not None
    assert request.corpus == str(tsv)


@pytest.mark.parametrize("name", ["pairs.txt", "source.txt,", ",target.txt", "source.txt,nowhere.txt"])
def test_files_that_are_no_corpus_are_refused_before_a_run_is_made(ask, folder, spawned, tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in ("pairs.txt", "source.txt", "target.txt"):
        (tmp_path / file).write_text("a\tb\n")
    with pytest.raises(CorpusError, match=f"There is no corpus '{name}'"):
        runs.start(ask("one", corpus=name))
    assert not folder.exists()


def test_two_files_may_lie_in_a_folder_with_a_comma(ask, folder, spawned, tmp_path, monkeypatch):
    (tmp_path / "a,b").mkdir()
    monkeypatch.chdir(tmp_path / "a,b")
    for file in ("source.txt", "target.txt"):
        Path(file).write_text("".join(f"{letter}\n" for letter in "abcdefgh"))
    runs.start(ask("one", corpus="source.txt,target.txt"))
    request = read_request(folder / "one")
    assert request is not None
    assert len(load_corpus(request.corpus).pairs("train")) == 6


def test_an_upload_lies_in_the_runs_folder(ask, folder, spawned):
    runs.start(ask("one", corpus="mine.tsv"), upload=b"a\tb\n")
    assert (folder / "one" / "corpus.tsv").read_bytes() == b"a\tb\n"
    request = read_request(folder / "one")
    assert request is not None
    assert request.uploaded


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_lead_nowhere(ask, folder, spawned, name):
    victim = make_run(folder, "victim")
    for act in (
        lambda: ask(name),
        lambda: runs.get_run(name),
        lambda: runs.stop(name),
        lambda: runs.resume(name),
        lambda: runs.delete(name),
        lambda: runs.rename("victim", name),
        lambda: runs.rename(name, "y"),
    ):
        with pytest.raises(CheckpointError, match="cannot name a checkpoint"):
            act()
    assert victim.is_dir()
    assert sorted(path.name for path in folder.parent.iterdir()) == ["checkpoints"]
    assert not spawned


def test_a_name_longer_than_the_file_system_allows_is_refused_in_a_sentence(ask, folder):
    """100 Chinese letters are 300 bytes."""
    make_run(folder, "one")
    long = "字" * 100
    for act in (
        lambda: runs.start(ask(long)),
        lambda: runs.rename("one", long),
        lambda: runs.get_run(long),
        lambda: runs.delete(long),
    ):
        with pytest.raises(CheckpointError):
            act()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": "nowhere.tsv"}, "There is no corpus 'nowhere.tsv'"),
        ({"device": "cuda:99"}, "There is no device 'cuda:99'"),
        ({"device": "abacus"}, "device is 'abacus'"),
        ({"minutes": 0}, "minutes is 0"),
        ({"minutes": float("nan")}, "minutes is nan"),
        ({"epochs": -1}, "epochs is -1"),
        ({"minutes": 1, "epochs": 1}, "allowed is one"),
        ({"probes": (" ",)}, "The probe ' '"),
        ({"probes": ("a\t",)}, "a tab and its target"),
        ({"probes": ("x" * 501,)}, "501 characters"),
        ({"probes": ("x",) * 9}, "9 probe sentences"),
        ({"probes": ("x",), "encoder": "gru"}, "no heads to record"),
        ({"n_heads": 3}, "n_heads is 3"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_made(ask, folder, spawned, changes, message):
    with pytest.raises(ValueError, match=message):
        runs.start(ask("one", **changes))
    assert not folder.exists()
    assert not spawned


def test_of_two_starts_with_one_name_one_wins(ask, folder, spawned):
    outcomes: list[str] = []

    def start() -> None:
        try:
            outcomes.append(runs.start(ask("one")))
        except CheckpointError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spawned == ["one"]
    assert sum("already holds a checkpoint" in outcome for outcome in outcomes) == 7


def test_of_two_resumes_one_wins(folder, spawned, monkeypatch):
    make_run(folder, "one", state="stopped")
    held = []
    monkeypatch.setattr(runs, "spawn", lambda path, descriptor: held.append(descriptor))
    runs.resume("one")
    with pytest.raises(CheckpointError, match="has a process that trains it"):
        runs.resume("one")
    assert len(held) == 1
    os.close(held[0])


@pytest.mark.parametrize("kind", ["a file in the way", "read-only"])
def test_a_folder_that_cannot_be_written_is_named(ask, folder, kind, monkeypatch):
    if kind == "read-only":
        folder.mkdir()
        make_run(folder, "old")
        mkdir = Path.mkdir

        def refused(path: Path, *arguments, **options) -> None:
            if path == folder / "one":
                raise PermissionError(13, "Permission denied", str(path))
            mkdir(path, *arguments, **options)

        # Permissions do not stop root, who runs tests in containers.
        folder.chmod(0o555)
        if os.geteuid() == 0:
            monkeypatch.setattr(Path, "mkdir", refused)
    else:
        folder.write_text("")
    with pytest.raises(CheckpointError, match=r"one cannot be made \(.*\); ROUNDTABLE_CHECKPOINTS can name another"):
        runs.start(ask("one"))
    assert [run.name for run in runs.list_runs()] == (["old"] if kind == "read-only" else [])
    folder.chmod(0o755)


def test_lists_are_newest_first_and_hold_only_runs(folder):
    assert runs.list_runs() == []
    for number in range(3):
        make_run(folder, f"run{number}", created=float(number))
    (folder / "notes").mkdir()
    (folder / ".hidden").mkdir()
    (folder / "file").write_text("")
    make_checkpoint(folder / "trained-elsewhere", step=6, steps=6)
    make_checkpoint(folder / "broken-off", step=4, steps=6)
    found = {run.name: run for run in runs.list_runs()}
    assert list(found) == ["run2", "run1", "trained-elsewhere", "run0", "broken-off"]
    assert found["trained-elsewhere"].state == "finished"
    assert (found["broken-off"].state, found["broken-off"].step) == ("lost", 4)


def test_a_thousand_old_runs_take_one_read_each(folder, monkeypatch):
    for number in range(1000):
        make_run(folder, f"run{number}", created=float(number), state="stopped" if number % 3 else "finished")
    reads: list[Path] = []
    read_bytes, tried = Path.read_bytes, []
    monkeypatch.setattr(Path, "read_bytes", lambda path: (reads.append(path), read_bytes(path))[1])
    monkeypatch.setattr(locks, "is_held", tried.append)
    assert len(runs.list_runs()) == 1000
    assert len(reads) == 1000
    assert not tried


def test_a_torn_status_falls_back_on_the_checkpoint(folder):
    for name, step in (("done", 6), ("begun", 4)):
        make_checkpoint(make_run(folder, name), step, steps=6)
        (folder / name / "status.json").write_bytes(b'{"state": "fini')
    assert runs.get_run("done").state == "finished"
    assert runs.get_run("begun").state == "lost"
    assert "resumed from step 4" in runs.get_run("begun").message


def test_a_lost_run_stands_where_it_was_saved(folder):
    make_checkpoint(make_run(folder, "one", state="running", step=5), step=4, steps=6)
    run = runs.get_run("one")
    assert (run.state, run.step, run.steps, run.live, run.resumable) == ("lost", 4, 6, False, True)


def test_a_run_can_be_renamed_and_deleted(folder, ask, spawned):
    runs.start(ask("one"))
    runs.rename("one", "two")
    assert [run.name for run in runs.list_runs()] == ["two"]
    request = read_request(folder / "two")
    assert request is not None
    assert request.name == "two"
    runs.delete("two")
    assert list(folder.iterdir()) == []


def test_a_name_in_use_is_not_taken(folder):
    make_run(folder, "one", step=1)
    make_run(folder, "two", step=2)
    with pytest.raises(CheckpointError, match="already there"):
        runs.rename("one", "two")
    assert (runs.get_run("one").step, runs.get_run("two").step) == (1, 2)


def test_a_run_that_cannot_be_renamed_leaves_no_folder_of_the_new_name(folder, monkeypatch):
    make_run(folder, "one")

    def refused(path: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(CheckpointError, match=r"one cannot be renamed: Permission denied\."):
        runs.rename("one", "two")
    assert [path.name for path in folder.iterdir()] == ["one"]


@pytest.mark.parametrize("fails", ["take", "write_request"])
def test_a_run_that_cannot_be_written_leaves_nothing_behind(ask, folder, monkeypatch, fails):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(locks if fails == "take" else launch, fails, full)
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(CheckpointError, match=r"one cannot be written: No space left on device\."):
        runs.start(ask("one"))
    assert list(folder.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_nobody_takes_up_a_run_while_it_is_averaged(folder, monkeypatch):
    path = make_checkpoint(make_run(folder, "one"), step=6, steps=6)
    (path / "steps").mkdir()
    (path / "steps" / "6.safetensors").touch()
    seen = []

    def mean(paths: list[Path]) -> dict:
        seen.append(locks.is_held(path / LOCK_FILE))
        raise CheckpointError("enough seen")

    monkeypatch.setattr(average, "average_weights", mean)
    with pytest.raises(CheckpointError, match="enough seen"):
        average.average_checkpoint(path, 1)
    assert seen == [True]
    assert not locks.is_held(path / LOCK_FILE)


def test_a_live_run_is_neither_renamed_nor_deleted_nor_resumed_nor_averaged(folder):
    path = make_run(folder, "one", state="running")
    (path / "steps").mkdir()
    (path / "steps" / "6.safetensors").touch()
    descriptor = locks.take(path / LOCK_FILE)
    assert descriptor is not None
    for act in (lambda: runs.delete("one"), lambda: runs.rename("one", "two"), lambda: runs.resume("one"),
                lambda: average.average_checkpoint(path, 1)):  # fmt: skip
        with pytest.raises(CheckpointError, match="stop it first"):
            act()
    assert runs.get_run("one").state == "running"
    os.close(descriptor)


def test_a_shipped_checkpoint_is_no_run_and_is_not_touched(folder, monkeypatch):
    shipped = make_checkpoint(folder / "everyday-en-de", step=6, steps=6)
    monkeypatch.setattr(folders, "SHIPPED", folder)
    monkeypatch.setattr(run, "SHIPPED", folder)
    assert runs.list_runs() == []
    for act in (lambda: runs.delete("everyday-en-de"), lambda: runs.rename("everyday-en-de", "x")):
        with pytest.raises(CheckpointError, match="shipped"):
            act()
    for act in (lambda: runs.get_run("everyday-en-de"), lambda: runs.resume("everyday-en-de")):
        with pytest.raises(CheckpointError, match="There is no run"):
            act()
    assert shipped.is_dir()


def test_a_link_is_removed_and_what_it_leads_to_stays(folder, tmp_path):
    elsewhere = make_run(tmp_path / "elsewhere", "real")
    folder.mkdir()
    (folder / "link").symlink_to(elsewhere)
    runs.delete("link")
    assert runs.list_runs() == []
    assert elsewhere.is_dir()


def test_a_finished_run_is_not_resumed(folder, spawned):
    make_run(folder, "one")
    with pytest.raises(CheckpointError, match="has finished: all 6 steps are done"):
        runs.resume("one")
    assert not spawned


def test_resuming_sweeps_away_what_a_killed_process_left(folder, spawned):
    path = make_run(folder, "one", state="running", created=3.0)
    for name in ("config.json.77.tmp", "probes.npz.77.tmp", STOP_FILE):
        (path / name).touch()
    runs.resume("one")
    assert sorted(file.name for file in path.iterdir()) == [LOCK_FILE, "status.json"]
    status = read_status(path)
    assert status is not None
    assert (status.state, status.created) == ("queued", 3.0)


def test_a_run_that_nobody_asked_for_is_queued_with_what_its_checkpoint_tells(folder, spawned):
    (make_checkpoint(folder / "one", step=4, steps=6) / "state.pt").touch()
    runs.resume("one")
    status = read_status(folder / "one")
    assert status is not None
    assert (status.state, status.steps, status.corpus) == ("queued", 6, "copy")


def test_stopping_what_has_no_process_changes_nothing(folder):
    make_run(folder, "one", state="running")
    assert runs.stop("one") == "lost"
    assert runs.get_run("one").state == "lost"


STUBBORN = """
import os, signal, sys, time
from pathlib import Path
from transformer.training import locks
folder, polite = Path(sys.argv[1]), sys.argv[2] == "polite"
lock = locks.take(folder / "lock")
locks.sign(lock, "one", os.getpid())
count = 0
def note(*_):
    global count
    count += 1
    (folder / "signals").write_text(str(count))
signal.signal(signal.SIGTERM, note)
print("ready", flush=True)
while not (polite and (folder / "go").exists()):
    time.sleep(0.02)
"""


def stand_in(folder: Path, manner: str) -> subprocess.Popen:
    """A process that holds the lock of the run `one`, counts SIGTERM, and ends when it is polite and there is `go`."""
    process = subprocess.Popen(
        [sys.executable, "-c", STUBBORN, str(folder / "one"), manner], cwd=ROOT, stdout=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_a_run_that_does_not_end_is_killed_after_its_grace(folder):
    make_run(folder, "one", state="running")
    process = stand_in(folder, "stubborn")
    assert runs.stop("one", grace=0.3) == "stopped"
    assert process.wait() == -9
    process.communicate()
    assert (folder / "one" / "signals").read_text() == "1"


def test_stopping_twice_sends_one_signal(folder):
    make_run(folder, "one", state="running")
    process = stand_in(folder, "polite")
    assert runs.stop("one", wait=False) == "stopping"
    assert runs.stop("one", wait=False) == "stopping"
    while not (folder / "one" / "signals").exists():
        pass
    (folder / "one" / "go").touch()
    assert runs.stop("one") == "stopped"
    assert process.wait() == 0
    process.communicate()
    assert (folder / "one" / "signals").read_text() == "1"


def test_a_signature_that_an_earlier_holder_left_leads_to_no_kill(folder):
    """A process number is looked at only while the lock is held, and is wiped by the next holder."""
    path = make_run(folder, "one", state="running")
    (path / LOCK_FILE).write_text(f"{os.getpid()} {os.uname().nodename} one\n")
    assert runs.stop("one", grace=0) == "lost"
    descriptor = launch.take_run(path)
    assert locks.owner(path / LOCK_FILE) is None
    assert runs.stop("one", wait=False) == "stopping"
    os.close(descriptor)


def test_a_request_that_is_no_request_is_refused_in_a_sentence(folder):
    path = make_run(folder, "one")
    begun = '{"format": 1, "model": {}, "train": {}, "corpus": "copy", "probes": '
    for content in (
        *("", "{}", '{"format": 9}', "[]", '{"format": 1, "model": {"n_heads": 0}, "train": {}}'),
        *(begun + rest for rest in ("[5]}", "5}", '[], "corpus": 5}', '[], "preset": 5}')),
    ):
        (path / "run.json").write_text(content)
        with pytest.raises(CheckpointError, match=r"does not describe a run: .*[^.]\.$"):
            read_request(path)
    assert [run.name for run in runs.list_runs()] == ["one"]


def test_requests_are_equal_after_a_trip_to_the_disk(ask, folder):
    folder.mkdir()
    request = replace(ask("one"), minutes=2.5, probes=("a\tb",), uploaded=True)
    launch.write_request(folder, request)
    assert read_request(folder) == replace(request, name=folder.name)
    shutil.rmtree(folder)


def test_a_request_from_a_preset_changes_what_it_is_told():
    request = RunRequest.from_preset("x", "copy", "tiny", {"n_heads": 2, "steps": 10}, device="cpu")
    assert (request.model.n_heads, request.train.steps, request.preset, request.steps) == (2, 10, "tiny", 10)
    assert replace(request, minutes=1.0).steps is None
