"""metrics.jsonl, read while it grows, and cut where training goes on from."""

import json
import os
from pathlib import Path
from typing import Any

from transformer.folders import replacing

METRICS_FILE = "metrics.jsonl"


class MetricsReader:
    """Reads only what was appended since it last looked; a last line that is not whole yet waits for the next time.

    A resume cuts the file back by replacing it: the reader then starts over.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / METRICS_FILE
        self.lines: list[dict[str, Any]] = []
        """Every line so far. Training: step, nll, smoothed, grad_norm, lr, n_tokens, tokens_per_second; validation:
        step, validation_nll. Losses are in nats a target token."""
        self._file = 0
        self._offset = 0

    def update(self) -> bool:
        """Read on; whether `lines` changed."""
        try:
            with self.path.open("rb") as file:
                return self._read(file)
        except FileNotFoundError:
            changed = bool(self.lines)
            self._start_over(0)
            return changed

    def _read(self, file: Any) -> bool:
        before = len(self.lines)
        identity, size = _identity(file)
        cut = identity != self._file or size < self._offset
        if cut:
            self._start_over(identity)
        file.seek(self._offset)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        self._offset += whole
        for line in content[:whole].split(b"\n"):
            values = _parse(line)
            if values is not None:
                self.lines.append(values)
        return (cut and before > 0) or len(self.lines) != before

    def _start_over(self, identity: int) -> None:
        self.lines = []
        self._file, self._offset = identity, 0


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Every whole line of a folder's metrics.jsonl; none where there is no such file."""
    reader = MetricsReader(folder)
    reader.update()
    return reader.lines


def _identity(file: Any) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_ino, status.st_size


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        values = json.loads(line)
    except ValueError:
        return None
    return values if isinstance(values, dict) and isinstance(values.get("step"), int) else None


def cut_metrics(path: Path, step: int) -> None:
    """Drop what was logged after the step that training goes on from, and whatever follows a line torn by a crash."""
    if not path.exists():
        return
    with replacing(path) as temporary, path.open("rb") as old, temporary.open("wb") as new:
        for line in old:
            values = _parse(line)
            if values is None or not line.endswith(b"\n") or values["step"] > step:
                break
            new.write(line)
