"""What a run says of itself: status.json, written by its process, and what is made of it by everybody else."""

import json
import math
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from transformer.training.locks import is_held

State = Literal["queued", "running", "stopping", "stopped", "finished", "failed", "lost"]
LIVE: tuple[State, ...] = ("queued", "running", "stopping")
"""States of a run that has a process."""
_ENDED = ("stopped", "finished", "failed")

STATUS_FILE = "status.json"
LOCK_FILE = "lock"
STOP_FILE = "stop"
"""Lies there from the moment on when somebody asked the run to stop, until it is resumed."""

STATE_FILE = "state.pt"
"""What training goes on from."""

LOST = "Its process ended without a word: it was killed, perhaps for lack of memory, or the machine went down."


@dataclass(frozen=True, kw_only=True)
class Status:
    """What status.json holds."""

    state: State = "lost"
    step: int = 0
    """Optimizer steps that are done."""
    steps: int | None = None
    """Planned steps; None until a budget in minutes or epochs has been turned into steps."""
    message: str = ""
    """What the run is doing, waits for, or failed of, for people to read."""
    device: str = ""
    tokens_per_second: float | None = None
    """Target tokens."""
    seconds_left: float | None = None
    created: float = 0.0
    """When the run was first started, in seconds since 1970; only ever shown and sorted by."""
    corpus: str = ""
    preset: str = ""


def write_status(folder: Path, status: Status) -> None:
    """Replace status.json; where the disk has no room for a second one, write over the first.

    Without fsync, since a status outlives its process only as a hint. Raises OSError when neither is possible.
    """
    content = (json.dumps(asdict(status), ensure_ascii=False) + "\n").encode()
    path = folder / STATUS_FILE
    temporary = path.with_name(f"{STATUS_FILE}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        with path.open("r+b") as file:
            file.write(content)
            file.truncate()


def read_status(folder: Path) -> Status | None:
    """What status.json says; None where there is none, or only a part of one."""
    try:
        content = json.loads((folder / STATUS_FILE).read_bytes())
        status = Status(**{field.name: content[field.name] for field in fields(Status)})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return status if _whole(status) else None


def look(folder: Path) -> tuple[State | None, Status | None]:
    """The state that the run in `folder` is in, and its last status; None for what a file does not tell.

    A lock that is held proves a process; ages prove nothing, since clocks may go backwards. The state is None where the
    process is gone and status.json is missing or torn: then the checkpoint must tell whether training was done.
    """
    status = read_status(folder)
    if status is not None and status.state in _ENDED:
        return status.state, status
    held = is_held(folder / LOCK_FILE)
    if not held:
        status = read_status(folder)  # its last words may have come after the first look
        if status is not None and status.state in _ENDED:
            return status.state, status
    asked_to_stop = (folder / STOP_FILE).exists()
    if held:
        return "stopping" if asked_to_stop else status.state if status else "running", status
    if asked_to_stop:
        return "stopped", status
    return "lost" if status else None, status


def saved(folder: Path) -> tuple[int, int, str] | None:
    """Step and planned steps of the weights in a folder, and their corpus, from config.json."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
        return int(config["step"]), int(config["train"]["steps"]), str(config["corpus"]["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def saved_step(folder: Path) -> int:
    """Optimizer steps behind the weights in a folder, 0 where there are none."""
    found = saved(folder)
    return 0 if found is None else found[0]


def _whole(status: Status) -> bool:
    optional = (status.steps or 0, status.tokens_per_second or 0, status.seconds_left or 0)
    numbers: tuple[Any, ...] = (status.step, status.created, *optional)
    texts = (status.message, status.device, status.corpus, status.preset)
    return (
        status.state in (*LIVE, *_ENDED)
        and all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
        and all(isinstance(text, str) for text in texts)
    )
