"""`roundtable ablate …`: a family of models trained, measured, and resumed until its table is whole."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from transformer.ablations.table import PARTS_IN_ORDER, TABLE
from transformer.folders import runs_folder
from transformer.training import locks
from transformer.training.device import find_device
from transformer.training.signals import stop_signals

if TYPE_CHECKING:
    from transformer.training.trainer import Trainer


@dataclass
class Ablate:
    """Train models that differ in one thing each, and write how they do. Ctrl-C saves; the same command goes on."""

    family: Annotated[Literal["positions"], tyro.conf.Positional]
    """positions: the five encodings, otherwise alike, by the length of what they read (§3.5)."""
    parts: tuple[Literal["tatoeba", "copy", "reverse", "shift-3", "short"], ...] = PARTS_IN_ORDER
    """Which data: tatoeba (the checkpoints positions-…); copy, reverse and shift-3, trained to 20 letters and tested to
    60; short, trained to 8 words and tested beyond. All but tatoeba with three seeds."""
    steps: int | None = None
    """Optimizer steps of every model; by default what its part says."""

    def run(self) -> int:
        from transformer.ablations.run import train_positions
        from transformer.training.terminal import train_in_terminal

        if self.steps is not None and self.steps < 1:
            raise ValueError(f"--steps is {self.steps}; allowed is a whole number of at least 1.")
        runs_folder().mkdir(parents=True, exist_ok=True)
        with stop_signals() as signals:

            def should_stop() -> bool:
                return bool(signals)

            def in_turn(trainer: "Trainer") -> bool:
                # As runs do, model by model: whoever waits in between gets the device.
                name = str(trainer.device) if trainer.device.index is not None else find_device("auto").name
                path = runs_folder() / f".device-{name.replace(':', '-')}.lock"
                with locks.waiting_for([path], "ablate", should_stop, _waits) as ours:
                    return ours and train_in_terminal(trainer, [], should_stop)

            finished = train_positions(self.parts, in_turn, self.steps, _say)
        _say(f"The table is {runs_folder() / TABLE}." if finished else "Saved; the same command goes on from here.")
        return 0 if finished else 130


def _waits(holder: str) -> None:
    _say(f"Waiting for {holder}, which uses the device.")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
