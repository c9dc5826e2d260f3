"""Locks that live exactly as long as whoever holds them: flock on a file, freed by the kernel whatever ends a process.

A run's lock is held by the process that trains it, a device's lock by the run that uses it. Linux and macOS.
"""

import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 0.5
"""Seconds for which taking a lock is tried: somebody who only looks at it holds it for a moment too."""
_POLL = 0.1


@dataclass(frozen=True)
class Owner:
    """Who holds a lock, as it wrote itself into the file."""

    pid: int
    host: str
    what: str
    """For people: the name of a run."""

    @property
    def is_here(self) -> bool:
        """Whether its process number means anything on this machine."""
        return self.host == socket.gethostname()


def is_held(path: Path) -> bool:
    """Whether a process holds the lock; False where there is no such file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def take(path: Path, patience: float = _PATIENCE) -> int | None:
    """The descriptor that holds the lock, until it is closed by all that inherited it; None if another holds it.

    Raises OSError when the file cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    end = time.monotonic() + patience
    while not _try(descriptor):
        if time.monotonic() > end:
            os.close(descriptor)
            return None
        time.sleep(0.01)
    if not refers_to(descriptor, path):  # its folder was renamed or deleted while this one waited
        os.close(descriptor)
        return None
    return descriptor


def refers_to(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one that now lies at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def sign(descriptor: int, what: str, pid: int) -> None:
    """Write into a lock that is held which process holds it."""
    text = f"{pid} {socket.gethostname()} {what}\n".encode()
    with suppress(OSError):  # a full disk: the lock holds without a signature
        os.pwrite(descriptor, text, 0)
        os.ftruncate(descriptor, len(text))


def unsign(descriptor: int) -> None:
    """Wipe the signature that the holder before left, so that nobody takes it for the present one's."""
    os.ftruncate(descriptor, 0)


def owner(path: Path) -> Owner | None:
    """Who signed the lock last; None where nobody did, or the signature is not whole."""
    try:
        pid, host, what = path.read_text("utf-8").split("\n")[0].split(" ", 2)
        return Owner(int(pid), host, what)
    except (OSError, ValueError):
        return None


def device_lock(folder: Path, device: str) -> Path:
    """The lock of a device, named as torch names it, that the runs of a checkpoints folder take in turn."""
    name = "cuda:0" if device == "cuda" else device
    return folder / f".device-{name.replace(':', '-')}.lock"


@contextmanager
def waiting_for(
    paths: list[Path], what: str, should_stop: Callable[[], bool], waits: Callable[[str], None]
) -> Iterator[bool]:
    """Hold all the locks, waiting for each in turn; False, and none held, if should_stop said so before.

    `waits` is told who is in the way. Waiters are served about in the order in which they came.
    """
    held: list[int] = []
    try:
        for path in paths:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            held.append(descriptor)
            if not _try(descriptor) and not _wait(descriptor, path, should_stop, waits):
                yield False
                return
            sign(descriptor, what, os.getpid())
        yield True
    finally:
        for descriptor in held:
            os.close(descriptor)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(descriptor: int, path: Path, should_stop: Callable[[], bool], waits: Callable[[str], None]) -> bool:
    # The kernel's own queue is fair and a loop of tries is not; in a thread, since a signal does not always end a wait.
    waiter = threading.Thread(target=_queue, args=(os.dup(descriptor),), daemon=True)
    waiter.start()
    told = ""
    while waiter.is_alive():
        if should_stop():
            return False
        holder = owner(path)
        name = holder.what if holder else "another run"
        if name != told:
            told = name
            waits(name)
        waiter.join(_POLL)
    return True


def _queue(duplicate: int) -> None:
    """Block until the lock is free and take it for all duplicates of the descriptor, this one being closed again."""
    try:
        fcntl.flock(duplicate, fcntl.LOCK_EX)
    finally:
        os.close(duplicate)
