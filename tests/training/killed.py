"""Run by test_resume.py in a process of its own: trains in forked children, each killed with SIGKILL where it is told.

Reads from standard input, line by line, [folder, moments], and answers each with a line: how each child ended, the last
of which nothing kills. Moments:
    ["step", n]              while step n is under way, after its gradients and before its update
    ["half", name, n]        when half of the n-th file of that name is written
    ["before", name, n]      when that file is whole, under its temporary name
    ["after", name, n]       when it has just taken its place
    ["bytes", n]             when a file has n bytes and is to have more
    ["log", n]               when half of the n-th line of metrics.jsonl is written
    ["seconds", s]           that many seconds after training began, wherever it is then; it may be done by then
"""

import json
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from tests.training.small import trainer
from transformer.training import trainer as module

RUN = {"model": {"p_drop": 0.3}, "accumulate": 2, "keep": 2, "clip_norm": 1.0}
"""Dropout draws from the generator that a resume must restore; 12 steps of two batches are more than one epoch."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sabotage(moment: list[Any], folder: Path) -> None:
    """Have this process killed at that moment."""
    kind, *where = moment
    if kind == "step":
        original = module.learning_rate

        def rate(step: int, *rest: Any) -> float:
            if step == where[0]:
                die()
            return original(step, *rest)

        module.learning_rate = rate
    elif kind == "bytes":
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (where[0], where[0]))
    elif kind == "log":
        dumps, lines = json.dumps, iter(range(1, 1000))

        def torn(value: Any, *rest: Any, **options: Any) -> str:
            line = dumps(value, *rest, **options)
            if next(lines) == where[0]:
                with (folder / "metrics.jsonl").open("a") as file:
                    file.write(line[: len(line) // 2])
                die()
            return line

        json.dumps = torn
    elif kind in ("half", "before", "after"):
        replace, count = Path.replace, iter(range(1, 1000))

        def replacing(self: Path, target: Path) -> Path:
            if Path(target).name == where[0] and next(count) == where[1]:
                if kind == "half":
                    os.truncate(self, self.stat().st_size // 2)
                elif kind == "after":
                    replace(self, target)
                die()
            return replace(self, target)

        Path.replace = replacing


def train(folder: str, moment: list[Any] | None) -> str:
    """Train in a child until it is done, killed, or has failed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run = trainer(Path(folder), **RUN)
            if moment is not None:
                sabotage(moment, Path(folder))
            code = 0 if run.run() else 1
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    if moment is not None and moment[0] == "seconds":
        time.sleep(moment[1])
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "killed" if os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXFSZ) else f"signal {os.WTERMSIG(status)}"
    return "done" if os.WEXITSTATUS(status) == 0 else "failed"


def main() -> None:
    torch.set_num_threads(1)
    # What torch loads with its first optimizer takes a second: here once, and not in every child.
    with TemporaryDirectory() as folder:
        trainer(Path(folder))
    for line in sys.stdin:
        folder, moments = json.loads(line)
        print(json.dumps([train(folder, moment) for moment in [*moments, None]]), flush=True)


if __name__ == "__main__":
    main()
