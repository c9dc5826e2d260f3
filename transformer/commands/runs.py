"""`roundtable runs …`: training runs listed, shown, stopped, resumed, deleted and renamed."""

import sys
from dataclasses import dataclass
from typing import Annotated, Union

import tyro

from transformer.training import runs


@dataclass
class ListRuns:
    """Every run, newest first."""

    def run(self) -> int:
        for run in runs.list_runs():
            columns = f"{run.name:24} {run.state:9} {_progress(run):17} {run.corpus:14} {run.preset:14} {_left(run)}"
            print(columns.rstrip())
        return 0


@dataclass
class ShowRun:
    """What one run is doing, and the last lines that its process said."""

    name: Annotated[str, tyro.conf.Positional]
    """Name of the run."""
    lines: int = 10
    """Lines of its log."""

    def run(self) -> int:
        run = runs.get_run(self.name)
        rows = {
            "state": " ".join(filter(None, (run.state, run.message and f"({run.message})"))),
            "step": _progress(run),
            "time left": _left(run),
            "speed": run.tokens_per_second and f"{run.tokens_per_second:,.0f} target tokens/s",
            "device": run.device,
            "corpus": run.corpus,
            "preset": run.preset,
            "folder": run.folder,
        }
        for title, value in rows.items():
            if value:
                print(f"{title:9}  {value}")
        log = run.log(self.lines)
        print(f"\n{log}" if log else "", end="\n" if log else "")
        return 0


@dataclass
class StopRun:
    """Ask a run to save and end, and wait until it has."""

    name: Annotated[str, tyro.conf.Positional]
    """Name of the run."""
    grace: float = runs.GRACE
    """Seconds after which it is killed; what it saved before stays."""

    def run(self) -> int:
        print(f"{self.name}: {runs.stop(self.name, self.grace)}")
        return 0


@dataclass
class ResumeRun:
    """Go on, in the background, where a run was last saved."""

    name: Annotated[str, tyro.conf.Positional]
    """Name of the run."""

    def run(self) -> int:
        runs.resume(self.name)
        print(f"{self.name}: {runs.get_run(self.name).state}")
        return 0


@dataclass
class DeleteRun:
    """Remove a run and all its files, after asking."""

    name: Annotated[str, tyro.conf.Positional]
    """Name of the run."""
    yes: Annotated[bool, tyro.conf.arg(aliases=["-y"])] = False
    """Do not ask."""

    def run(self) -> int:
        run = runs.get_run(self.name)
        if not self.yes:
            if not sys.stdin.isatty():
                raise ValueError(f"{self.name} was not deleted: nobody is there to ask; --yes says so beforehand.")
            try:
                answer = input(f"Delete {run.folder}, {_progress(run)}, for good? [y/N] ")
            except EOFError:
                answer = ""
            if answer.strip().lower() not in ("y", "yes"):
                return 1
        runs.delete(self.name)
        return 0


@dataclass
class RenameRun:
    """Give a run that has no process another name."""

    name: Annotated[str, tyro.conf.Positional]
    """Name of the run."""
    new_name: Annotated[str, tyro.conf.Positional]
    """The name that it gets."""

    def run(self) -> int:
        runs.rename(self.name, self.new_name)
        return 0


_COMMANDS = {
    "list": ListRuns,
    "show": ShowRun,
    "stop": StopRun,
    "resume": ResumeRun,
    "delete": DeleteRun,
    "rename": RenameRun,
}
RunsCommand = Union[  # noqa: UP007
    tuple(Annotated[command, tyro.conf.subcommand(word)] for word, command in _COMMANDS.items())  # type: ignore[misc]
]


@dataclass
class Runs:
    """Look at training runs, and stop, resume, delete or rename them."""

    command: RunsCommand  # type: ignore[valid-type]
    """What to do."""

    def run(self) -> int:
        return self.command.run()


def _progress(run: runs.Run) -> str:
    return f"step {run.step:,}" if run.steps is None else f"step {run.step:,}/{run.steps:,}"


def _left(run: runs.Run) -> str:
    if not run.live or run.seconds_left is None:
        return ""
    minutes, seconds = divmod(round(run.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min left" if hours else f"{minutes} min {seconds} s left"
