"""Training in a terminal: a progress bar, and Ctrl-C that saves and stops."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from transformer.training.trainer import Trainer


def train_in_terminal(trainer: Trainer) -> bool:
    """Train until done (True), or until Ctrl-C or SIGTERM asks to save and stop (False).

    Where standard error is not a terminal, each logged line is printed instead of a bar.
    """
    console = Console(stderr=True)
    model = trainer.model
    console.print(f"{model.n_parameters:,} parameters on {trainer.device}; checkpoint folder {trainer.folder}")
    if trainer.n_left_out:
        console.print(f"{trainer.n_left_out:,} pairs are longer than max_length {model.config.max_length}: left out")
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar, _stop_signals() as stopping:
        task = bar.add_task("", total=trainer.config.steps, completed=trainer.progress.step)

        def report(line: dict[str, Any]) -> None:
            text = _describe(line)
            if console.is_terminal:
                bar.update(task, completed=line["step"], description=text)
            else:
                console.print(f"step {line['step']}/{trainer.config.steps}  {text}", highlight=False, soft_wrap=True)

        return trainer.run(report, lambda: bool(stopping))


def _describe(line: dict[str, Any]) -> str:
    if "validation_nll" in line:
        return f"validation loss {line['validation_nll']:.3f}"
    return f"loss {line['nll']:.3f}  {line['tokens_per_second']:,.0f} tokens/s"


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """A list that is empty until SIGINT or SIGTERM arrives; a second one ends the process as usual."""
    received: list[int] = []

    def note(number: int, frame: object) -> None:
        received.append(number)
        signal.signal(number, signal.SIG_DFL)

    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, note) for number in signals}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
