"""A run's folder and its process: made, taken hold of, and let go on its own."""

import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from transformer.folders import CheckpointError, reason, runs_folder
from transformer.training import locks
from transformer.training.device import find_device
from transformer.training.request import UPLOAD_FILE, RunRequest, read_request, with_absolute_corpus, write_request
from transformer.training.status import LOCK_FILE, STATE_FILE, STOP_FILE, Status, read_status, saved, write_status

LOG_FILE = "train.log"
"""What a run's process says, when it has no terminal."""
LOCK_VARIABLE = "ROUNDTABLE_RUN_LOCK"
"""Environment variable that tells a run's process which of its descriptors holds the run's lock."""
_ROOT = Path(__file__).resolve().parent.parent.parent


def create(request: RunRequest, upload: bytes | None = None) -> tuple[Path, int]:
    """A new folder with run.json in it, queued, and the descriptor that holds its lock.

    Raises CheckpointError when the name is taken or the folder cannot be made, ConfigError or CorpusError when there is
    no such device or corpus.
    """
    find_device(request.device)
    request = with_absolute_corpus(replace(request, uploaded=upload is not None))
    folder = runs_folder() / request.name
    try:
        runs_folder().mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except OSError as error:
        if os.path.isdir(folder):
            raise CheckpointError(
                f"{folder} already holds a checkpoint; resume it, or give the new one another name."
            ) from error
        raise CheckpointError(
            f"{folder} cannot be made ({error.strerror}); ROUNDTABLE_CHECKPOINTS can name another place for runs."
        ) from error
    descriptor = None
    try:
        descriptor = take_run(folder)
        if upload is not None:
            (folder / UPLOAD_FILE).write_bytes(upload)
        write_request(folder, request)
        write_status(folder, _queued(request))
    except (OSError, CheckpointError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor is None:
            raise
        os.close(descriptor)
        raise CheckpointError(f"{folder} cannot be written: {reason(error)}.") from error
    return folder, descriptor


def reopen(folder: Path) -> int:
    """Queue a run that has no process again; the descriptor that holds its lock.

    Raises CheckpointError when it has a process, has lost its state.pt, or cannot be written.
    """
    step, steps, corpus = saved(folder) or (0, None, "")
    if step and not (folder / STATE_FILE).exists():
        raise CheckpointError(f"{folder} has no {STATE_FILE}, without which its training cannot go on.")
    descriptor = take_run(folder)
    try:
        (folder / STOP_FILE).unlink(missing_ok=True)
        for half_written in folder.glob("*.tmp"):
            half_written.unlink(missing_ok=True)
        before = read_status(folder)
        if before is None:
            request = read_request(folder)
            trained = Status(steps=steps, corpus=corpus, created=time.time())
            before = trained if request is None else _queued(request)
        write_status(folder, replace(before, state="queued", message="", tokens_per_second=None, seconds_left=None))
    except OSError as error:
        os.close(descriptor)
        raise CheckpointError(f"{folder} cannot be written: {error.strerror}.") from error
    return descriptor


def take_run(folder: Path) -> int:
    """The descriptor that holds the run's lock. Raises CheckpointError when another process has it, or it is gone."""
    try:
        descriptor = locks.take(folder / LOCK_FILE)
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be written: {error.strerror}.") from error
    if descriptor is None:
        raise CheckpointError(f"{folder.name} has a process that trains it; stop it first.")
    locks.unsign(descriptor)
    return descriptor


def inherited_lock(folder: Path) -> int | None:
    """The descriptor that holds this run's lock, if whoever started this process handed it over."""
    text = os.environ.pop(LOCK_VARIABLE, "")
    if not text.isdecimal() or not locks.refers_to(int(text), folder / LOCK_FILE):
        return None
    os.set_inheritable(int(text), False)
    return int(text)


def spawn(folder: Path, descriptor: int) -> None:
    """Train in a process of its own session, which takes over the lock; what it says goes to train.log."""
    command = [sys.executable, "-m", "transformer", "train", f"--name={folder.name}", "--resume"]
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    variables = {
        "ROUNDTABLE_CHECKPOINTS": str(folder.parent.resolve()),
        LOCK_VARIABLE: str(descriptor),
        "PYTHONPATH": path,
        "PYTHONUNBUFFERED": "1",
    }
    try:
        with (folder / LOG_FILE).open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **variables},
                start_new_session=True,
                pass_fds=[descriptor],
            )
        locks.sign(descriptor, folder.name, process.pid)
    finally:
        os.close(descriptor)
    threading.Thread(target=process.wait, daemon=True).start()  # or it would stay behind as a zombie


def _queued(request: RunRequest) -> Status:
    return Status(
        state="queued",
        steps=request.steps,
        device=request.device,
        created=time.time(),
        corpus=Path(request.corpus).name,
        preset=request.preset,
    )
