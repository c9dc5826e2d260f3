"""Training runs, from any process: start, list, stop, resume, delete and rename them. Imports neither torch nor tyro.

A run is a checkpoint folder and, while it lives, a process of its own that survives whoever started it. Nothing is
remembered here: files and locks in the folder say all there is to know, so pages and shells see the same.
"""

import os
import shutil
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from transformer.folders import SHIPPED, CheckpointError, check_name, runs_folder
from transformer.training import locks
from transformer.training.launch import LOG_FILE, create, reopen, spawn, take_run
from transformer.training.request import REQUEST_FILE, RunRequest, read_request
from transformer.training.status import LIVE, LOCK_FILE, LOST, STOP_FILE, State, look, saved

__all__ = ["GRACE", "Run", "RunRequest", "delete", "get_run", "list_runs", "rename", "resume", "start", "stop"]

GRACE = 60.0
"""Seconds that a run is given to save and end before it is killed."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run as it was when somebody looked."""

    folder: Path
    state: State
    step: int
    """Optimizer steps that are done; where its process is gone, those that were saved."""
    steps: int | None
    """Planned steps; None until a budget in minutes or epochs has been turned into steps."""
    message: str = ""
    """What it is doing, waits for, or failed of."""
    device: str = ""
    tokens_per_second: float | None = None
    """Target tokens."""
    seconds_left: float | None = None
    created: float = 0.0
    """Seconds since 1970."""
    corpus: str = ""
    preset: str = ""

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def live(self) -> bool:
        """Whether it has a process."""
        return self.state in LIVE

    @property
    def resumable(self) -> bool:
        return self.state in ("stopped", "failed", "lost")

    @property
    def loadable(self) -> bool:
        """Whether load_checkpoint can open it: something was saved."""
        return all((self.folder / name).exists() for name in ("config.json", "model.safetensors"))

    @cached_property
    def request(self) -> RunRequest | None:
        """What was asked for; None for a run that was not started by these functions."""
        return read_request(self.folder)

    def log(self, lines: int = 20) -> str:
        """The last lines of what its process said; empty where it had a terminal."""
        try:
            with (self.folder / LOG_FILE).open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 200 * lines))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])


def start(request: RunRequest, upload: bytes | None = None) -> str:
    """Start a run in a process of its own; its name. It waits its turn where another run uses the device.

    `upload` is the content of a TSV that then is the corpus. Raises ValueError, in one sentence, when the name is taken
    or not allowed, the folder cannot be written, or there is no such corpus or device.
    """
    folder, descriptor = create(request, upload)
    spawn(folder, descriptor)
    return request.name


def resume(name: str) -> None:
    """Go on, in a process of its own, where a stopped, failed or lost run was last saved.

    Raises CheckpointError when there is no such run, it has a process, or it has finished.
    """
    run = get_run(name)
    if run.state == "finished":
        raise CheckpointError(f"{name} has finished: all {run.steps} steps are done.")
    spawn(run.folder, reopen(run.folder))


def list_runs() -> list[Run]:
    """Every run in the checkpoints folder, newest first; one whose files cannot be read is left out."""
    try:
        with os.scandir(runs_folder()) as entries:
            folders = [Path(entry.path) for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except OSError:
        return []
    runs = [run for run in map(_look, folders) if run is not None]
    return sorted(runs, key=lambda run: (run.created, run.name), reverse=True)


def get_run(name: str) -> Run:
    """The run of that name, as it is now. Raises CheckpointError when there is none."""
    run = _look(_folder(name))
    if run is None:
        raise CheckpointError(f"There is no run {name!r} in {runs_folder()}.")
    return run


def stop(name: str, grace: float = GRACE, *, wait: bool = True) -> State:
    """Ask a run to save and end, and kill it where it has not after `grace` seconds; the state that this leads to.

    Asking again never interrupts the saving. Without wait it returns at once, usually with "stopping", and a thread
    stays behind to see to it. Raises CheckpointError when there is no such run.
    """
    folder = get_run(name).folder
    lock = folder / LOCK_FILE
    if locks.is_held(lock) and _note_stop(folder):
        _send(lock, signal.SIGTERM)
    if wait:
        _see_to_end(lock, grace)
    elif locks.is_held(lock):
        threading.Thread(target=_see_to_end, args=(lock, grace), daemon=True).start()
    return get_run(name).state


def delete(name: str) -> None:
    """Remove a run and all its files. Raises CheckpointError for a run with a process, and for a shipped checkpoint."""
    folder = _own_folder(name)
    if folder.is_symlink():
        folder.unlink()
        return
    descriptor = take_run(folder)
    try:
        hidden = folder.with_name(f".{name}.{os.getpid()}.deleted")
        folder.rename(hidden)
        shutil.rmtree(hidden)
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be deleted: {error.strerror}.") from error
    finally:
        os.close(descriptor)


def rename(name: str, new_name: str) -> None:
    """Give a run another name. Raises CheckpointError for one with a process, a shipped one, and a name in use."""
    folder, target = _own_folder(name), _folder(new_name)
    descriptor = take_run(folder)
    try:
        target.mkdir()  # only one of two can make it; a folder may be renamed onto an empty one
        folder.rename(target)
    except FileExistsError as error:
        raise CheckpointError(f"{target} is already there; choose another name.") from error
    except OSError as error:
        with suppress(OSError):
            target.rmdir()
        raise CheckpointError(f"{folder} cannot be renamed: {error.strerror}.") from error
    finally:
        os.close(descriptor)


def _folder(name: str) -> Path:
    return runs_folder() / check_name(name)


def _own_folder(name: str) -> Path:
    """The folder of a run that may be deleted or renamed."""
    folder = _folder(name)
    if not folder.is_dir():
        raise CheckpointError(f"There is no run {name!r} in {runs_folder()}.")
    if _is_shipped(folder):
        raise CheckpointError(f"{name} is shipped with Roundtable and stays as it is.")
    return folder


def _is_shipped(folder: Path) -> bool:
    """Whether a checkpoint came with the code: it lies there, and nobody here asked for it."""
    return folder.parent.resolve() == SHIPPED and not (folder / REQUEST_FILE).exists()


def _look(folder: Path) -> Run | None:
    """The run in a folder; None where the folder holds none."""
    state, status = look(folder)
    if status is not None and state not in ("lost", None):
        details = {key: value for key, value in vars(status).items() if key != "state"}
        return Run(folder=folder, state=state, **details)
    found = saved(folder)
    if found is None and (status is None and not (folder / REQUEST_FILE).exists()):
        return None
    if status is None and _is_shipped(folder):
        return None
    step, steps, corpus = found or (0, None, "")
    if state is None:
        state = "finished" if steps is not None and step >= steps else "lost"
    return Run(
        folder=folder,
        state=state,
        step=step,
        steps=steps if status is None else status.steps or steps,
        message=f"{LOST} It can be resumed from step {step}." if state == "lost" else "",
        device=status.device if status else "",
        created=status.created if status else 0.0,
        corpus=status.corpus if status else corpus,
        preset=status.preset if status else "",
    )


def _note_stop(folder: Path) -> bool:
    """Leave the note that a run's process looks for; False where it lies there already, or cannot be written."""
    try:
        (folder / STOP_FILE).touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        return True  # a full disk: the signal says it too
    return True


def _see_to_end(lock: Path, grace: float) -> None:
    """Wait until a lock is free; after `grace` seconds, kill who holds it."""
    end = time.monotonic() + grace
    while locks.is_held(lock):
        if time.monotonic() > end:
            _send(lock, signal.SIGKILL)
            end = time.monotonic() + 1
        time.sleep(0.05)


def _send(lock: Path, number: int) -> None:
    """Signal the process that holds a lock, to all its group where it leads one and is to be killed."""
    owner = locks.owner(lock)
    if owner is None or not owner.is_here or not locks.is_held(lock):
        return  # a process number means something only while the lock is held, and on its own machine
    with suppress(ProcessLookupError, PermissionError):
        if number == signal.SIGKILL and os.getpgid(owner.pid) == owner.pid:
            os.killpg(owner.pid, number)
        else:
            os.kill(owner.pid, number)
