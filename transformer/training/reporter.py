"""A run's process speaking of itself: status.json now and then, and lines in the terminal or the log."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from transformer.training.status import State, Status, read_status, write_status

_INTERVAL = 0.5
"""Seconds between two writings of status.json."""
_MEMORY = 0.9
"""What the mean time of a step keeps from step to step."""


class Reporter:
    """Keeps status.json up to date. A disk without room for it stops no training: the lock tells that it lives.

    A silent one keeps everything to itself: of processes that share a run only one speaks for it.
    """

    def __init__(self, folder: Path, say: Callable[[str], None], *, silent: bool = False) -> None:
        self.folder, self.say, self.silent = folder, say, silent
        self.status = read_status(folder) or Status(created=time.time())
        self._written = float("-inf")
        self._stepped: tuple[float, int] | None = None
        self._a_step: float | None = None

    def now(self, state: State, message: str = "", **details: Any) -> None:
        """Write at once, and say the message to whoever listens."""
        self.status = replace(self.status, state=state, message=message, **details)
        self._write()
        if message and not self.silent:
            self.say(message)

    def end(self, state: State, message: str, step: int) -> None:
        """Write the last words; the message is left for the error that carries it to say."""
        self.status = replace(self.status, state=state, message=message, step=step, seconds_left=None)
        self._write()

    def step(self, step: int, steps: int) -> None:
        """A step is done, or several; written if the last writing is a while ago."""
        now = time.monotonic()
        if self._stepped is not None and step > self._stepped[1]:
            a_step = (now - self._stepped[0]) / (step - self._stepped[1])
            before = a_step if self._a_step is None else self._a_step
            self._a_step = _MEMORY * before + (1 - _MEMORY) * a_step
        self._stepped = now, step
        if now - self._written < _INTERVAL:
            return
        left = None if self._a_step is None else round(self._a_step * (steps - step), 1)
        self.status = replace(self.status, step=step, steps=steps, seconds_left=left)
        self._write()

    def line(self, line: dict[str, Any]) -> None:
        """A line of metrics.jsonl has been written."""
        if "tokens_per_second" in line:
            self.status = replace(self.status, tokens_per_second=line["tokens_per_second"])

    def _write(self) -> None:
        self._written = time.monotonic()
        if self.silent:
            return
        with suppress(OSError):
            write_status(self.folder, self.status)
