"""A run as it was when somebody looked: what the files and the lock in its folder say. Imports no torch."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from transformer.folders import SHIPPED
from transformer.training.launch import LOG_FILE
from transformer.training.request import REQUEST_FILE, RunRequest, read_request
from transformer.training.status import LIVE, LOST, Status, look, saved


@dataclass(frozen=True, kw_only=True)
class Run(Status):
    """A run's last status, with the state that its lock tells; where its process is gone, the step is the saved one."""

    folder: Path

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


def is_shipped(folder: Path) -> bool:
    """Whether a checkpoint came with the code: it lies there, and nobody here asked for it."""
    return folder.parent.resolve() == SHIPPED and not (folder / REQUEST_FILE).exists()


def run_in(folder: Path) -> Run | None:
    """The run in a folder; None where the folder holds none."""
    state, status = look(folder)
    if status is not None and state not in ("lost", None):
        return Run(folder=folder, **{**vars(status), "state": state})
    found = saved(folder)
    if found is None and status is None and not (folder / REQUEST_FILE).exists():
        return None
    if status is None and is_shipped(folder):
        return None
    step, steps, corpus = found or (0, None, "")
    if state is None:
        state = "finished" if steps is not None and step >= steps else "lost"
    before = status or Status(corpus=corpus)
    return Run(
        folder=folder,
        state=state,
        step=step,
        steps=before.steps or steps,
        message=f"{LOST} It can be resumed from step {step}." if state == "lost" else "",
        device=before.device,
        created=before.created,
        corpus=before.corpus,
        preset=before.preset,
    )
