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
from pathlib import Path

from transformer.folders import CheckpointError, check_name, runs_folder
from transformer.training import locks
from transformer.training.launch import create, reopen, spawn, take_run
from transformer.training.request import RunRequest
from transformer.training.run import Run, is_shipped, run_in
from transformer.training.status import LOCK_FILE, STOP_FILE, State

__all__ = ["GRACE", "Run", "RunRequest", "delete", "get_run", "list_runs", "rename", "resume", "start", "stop"]

GRACE = 60.0
"""Seconds that a run is given to save and end before it is killed."""


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
    runs = [run for run in map(run_in, folders) if run is not None]
    return sorted(runs, key=lambda run: (run.created, run.name), reverse=True)


def get_run(name: str) -> Run:
    """The run of that name, as it is now. Raises CheckpointError when there is none."""
    run = run_in(_folder(name))
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
    if is_shipped(folder):
        raise CheckpointError(f"{name} is shipped with Roundtable and stays as it is.")
    return folder


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
