"""`roundtable ablate …`: a family of models trained, measured, and resumed until its table is whole."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from transformer.ablations.table import PARTS_IN_ORDER
from transformer.commands.console import say
from transformer.folders import runs_folder
from transformer.training import locks
from transformer.training.signals import stop_signals

if TYPE_CHECKING:
    from transformer.ablations.family import Family
    from transformer.training.trainer import Trainer


@dataclass
class Ablate:
    """Train models that differ in one thing each, and write how they do. Ctrl-C saves; the same command goes on."""

    family: Annotated[Literal["positions", "table3-small", "minute"], tyro.conf.Positional]
    """positions: the five encodings, otherwise alike, by the length of what they read (§3.5). table3-small: our own
    Table 3, and what the paper says without an ablation. minute: tasks that a model learns, or cannot, in a minute."""
    parts: tuple[Literal["tatoeba", "copy", "reverse", "shift-3", "short"], ...] = PARTS_IN_ORDER
    """Of positions, which data: tatoeba (the checkpoints positions-…); copy, reverse and shift-3, trained to 20 letters
    and tested to 60; short, trained to 8 words and tested beyond. All but tatoeba with three seeds."""
    only: tuple[str, ...] = ()
    """Of the other families, which models: names such as A-h2, or groups such as A; by default all. Several processes
    may share the work: what one is training the others leave to it. With OMP_NUM_THREADS=1 each takes one core."""
    missing: bool = False
    """Only say which models of that are not measured yet."""
    steps: int | None = None
    """Optimizer steps of every model; by default what its family says."""

    def run(self) -> int:
        if self.steps is not None and self.steps < 1:
            raise ValueError(f"--steps is {self.steps}; allowed is a whole number of at least 1.")
        if self.only and self.family == "positions":
            raise ValueError("--only is for table3-small and minute; of positions, --parts says what to train.")
        if self.parts != PARTS_IN_ORDER and self.family != "positions":
            raise ValueError(f"--parts is for positions; of {self.family}, --only says what to train.")
        from transformer.ablations.family import train_family

        family = self._family()
        members = family.members(self.parts if self.family == "positions" else self.only, self.steps)
        if self.missing:
            for member in family.missing(members):
                print(member)
            return 0
        runs_folder().mkdir(parents=True, exist_ok=True)
        whole = not family.missing(members)
        with stop_signals() as signals:
            finished = train_family(family, members, partial(_in_turn, lambda: bool(signals)), say)
        if not finished:
            say("Saved; the same command goes on from here.")
            return 130
        say(f"The table is {family.path}.")
        if whole:
            say("It was whole already. In another folder (ROUNDTABLE_CHECKPOINTS) the same command begins anew.")
        if missing := "; ".join(map(str, family.missing(members))):
            say(f"Missing: {missing}.")
        return 0

    def _family(self) -> "Family":
        from transformer.ablations.minute import Minute
        from transformer.ablations.positions import Positions
        from transformer.ablations.table3 import Table3

        families = {"positions": Positions, "table3-small": Table3, "minute": Minute}
        return families[self.family]()


def _in_turn(should_stop: Callable[[], bool], trainer: "Trainer") -> bool:
    """Train to the end (True) or until stopped: as runs do, one at a time on a device, model by model.

    A process that has one thread, or one core, of several leaves the others to others, and does not wait for them.
    """
    from transformer.training.terminal import train_in_terminal

    if _uses_one_core(trainer):
        return train_in_terminal(trainer, [], should_stop)

    def waits(holder: str) -> None:
        say(f"Waiting for {holder}, which uses the device.")

    lock = locks.device_lock(runs_folder(), str(trainer.device))
    with locks.waiting_for([lock], "ablate", should_stop, waits) as ours:
        return ours and train_in_terminal(trainer, [], should_stop)


def _uses_one_core(trainer: "Trainer") -> bool:
    import torch

    return trainer.device.type == "cpu" and torch.get_num_threads() == 1 < (os.cpu_count() or 1)
