"""Training in a terminal: a progress bar."""

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from transformer.training.trainer import Trainer


def train_in_terminal(
    trainer: Trainer, listeners: list[Callable[[dict[str, Any]], None]], should_stop: Callable[[], bool]
) -> bool:
    """Train until done (True) or stopped (False), with a bar; `listeners` get every line of metrics.jsonl.

    Where standard error is not a terminal, each logged line is printed instead of a bar.
    """
    console = Console(stderr=True, quiet=not trainer.world.leads, markup=False)
    model = trainer.model
    console.print(f"{model.n_parameters:,} parameters on {trainer.device}; checkpoint folder {trainer.folder}")
    if trainer.n_left_out:
        console.print(f"{trainer.n_left_out:,} pairs are longer than max_length {model.config.max_length}: left out")
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=trainer.config.steps, completed=trainer.progress.step)

        def report(line: dict[str, Any]) -> None:
            text = _describe(line)
            if console.is_terminal:
                bar.update(task, completed=line["step"], description=text)
            else:
                console.print(f"step {line['step']}/{trainer.config.steps}  {text}", highlight=False, soft_wrap=True)
            for listener in listeners:
                listener(line)

        return trainer.run(report, should_stop)


def _describe(line: dict[str, Any]) -> str:
    if "validation_nll" in line:
        return f"validation loss {line['validation_nll']:.3f}"
    return f"loss {line['nll']:.3f}  {line['tokens_per_second']:,.0f} tokens/s"
