"""`roundtable train`: a run in the foreground, alone or as one of several processes."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from transformer.commands.console import say
from transformer.config import ModelConfig, TrainConfig
from transformer.folders import check_name, find_checkpoint, runs_folder
from transformer.presets import get_preset

if TYPE_CHECKING:
    from transformer.training.request import RunRequest


@dataclass
class Train:
    """Train a model, in a new folder of that name, or go on with one that stopped. Ctrl-C saves and stops."""

    name: str
    """What to call it; the folder lies in $ROUNDTABLE_CHECKPOINTS, by default ./checkpoints."""
    corpus: str = ""
    """copy | reverse | sort | reverse-small | shift-3 | tatoeba | multi30k, a file.tsv, or source.txt,target.txt."""
    resume: bool = False
    """Go on where the run of this name was last saved; all other options then have no effect."""
    minutes: float | None = None
    """How long to train, instead of train.steps: turned into steps and warmup by the speed of the first seconds."""
    epochs: float | None = None
    """How often to see every sentence pair, instead of train.steps."""
    device: str = "auto"
    """auto | cpu | mps | cuda | cuda:N; auto is the first GPU, else the CPU. One run at a time uses it, others wait."""
    probes: tuple[str, ...] = ()
    """Sentences whose patterns are kept on the way, in probes.npz; a target may follow after a tab."""
    preset: str = "small"
    """Starting values for the model and train options below: base, big, a row of Table 3 such as A-h1, tiny, small,
    reverse-small, yardstick-multi30k."""
    model: ModelConfig = field(default_factory=lambda: get_preset("small").model)
    train: TrainConfig = field(default_factory=lambda: get_preset("small").train)

    def run(self) -> int:
        from transformer.training.distributed import World
        from transformer.training.launch import create, inherited_lock, reopen
        from transformer.training.request import read_request
        from transformer.training.status import saved_step
        from transformer.training.worker import follow, lead

        world = World.from_environment()
        folder = _run_folder(self.name) if self.resume else runs_folder() / check_name(self.name)
        if not world.leads:
            request = read_request(folder) if self.resume else self._request()
            return 0 if follow(folder, request, world) else 130
        if self.resume:
            descriptor = inherited_lock(folder)
            descriptor = reopen(folder) if descriptor is None else descriptor
        else:
            folder, descriptor = create(self._request())
        request = read_request(folder)
        finished = lead(folder, request, descriptor, say, world)
        if not finished:
            say(f"Saved at step {saved_step(folder)}; go on with: roundtable train --name {self.name} --resume")
        return 0 if finished else 130

    def _request(self) -> "RunRequest":
        from transformer.training.request import RunRequest

        if not self.corpus:
            raise ValueError("Say what to train on: --corpus NAME or --corpus FILE.tsv.")
        names = ("name", "corpus", "model", "train", "preset", "minutes", "epochs", "device", "probes")
        return RunRequest(**{name: getattr(self, name) for name in names})


def _run_folder(name: str) -> Path:
    """The folder of a run that has begun, or has been asked for."""
    folder = Path(name) if os.sep in name else runs_folder() / check_name(name)
    return folder if (folder / "run.json").is_file() else find_checkpoint(name)
