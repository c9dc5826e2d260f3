"""What the process of a run does, from the queue to the last save. torch is imported once the device is its own."""

import os
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from transformer.config import ConfigError, TrainConfig
from transformer.training import locks
from transformer.training.device import find_device
from transformer.training.distributed import World
from transformer.training.failures import RunError, explain
from transformer.training.reporter import Reporter
from transformer.training.request import RunRequest
from transformer.training.signals import stop_signals
from transformer.training.status import STOP_FILE, saved_step

if TYPE_CHECKING:
    import torch

    from transformer.training.trainer import Trainer


def lead(folder: Path, request: RunRequest | None, descriptor: int, say: Callable[[str], None], world: World) -> bool:
    """Do the run in a folder, in this process, until it is finished (True) or was asked to stop (False).

    `request` is what run.json says, None where there is none; `descriptor` holds the run's lock and is closed at the
    end. Raises RunError, with the sentence that the run's status then shows, when it fails.
    """
    reporter = Reporter(folder, say)
    try:
        locks.sign(descriptor, folder.name, os.getpid())
        with stop_signals() as signals:
            work = _Work(folder, request, reporter, lambda: bool(signals) or (folder / STOP_FILE).exists(), world)
            try:
                finished = work.in_turn()
            except Exception as error:
                sentence = explain(error, folder, reporter.status.device or work.device_name)
                if sentence is None:
                    traceback.print_exc()
                    sentence = f"{type(error).__name__}: {error}. It is a fault in Roundtable; its log says where."
                step = saved_step(folder)
                sentence += f" What was saved at step {step} is whole." if step else " Nothing was saved yet."
                reporter.end("failed", sentence, step)
                raise RunError(sentence) from error
        reporter.end("finished" if finished else "stopped", "", saved_step(folder))
        return finished
    finally:
        os.close(descriptor)


def follow(folder: Path, request: RunRequest | None, world: World) -> bool:
    """Do the part of a process that does not lead, of those that torchrun started for one run."""
    with stop_signals() as signals:
        work = _Work(folder, request, Reporter(folder, print, silent=True), lambda: bool(signals), world)
        return work.train(work.torch_device())


@dataclass
class _Work:
    folder: Path
    request: RunRequest | None
    reporter: Reporter
    should_stop: Callable[[], bool]
    world: World

    @property
    def device_name(self) -> str:
        return self.request.device if self.request else "auto"

    def in_turn(self) -> bool:
        """Wait for the device, then train on it; False if asked to stop on the way."""
        device = find_device(self.device_name)
        self.reporter.status = replace(self.reporter.status, state="queued", device=str(device))
        with self._locked(device.name) as ours:
            if not ours:
                return False
            self.reporter.now("running", "Starting.")
            chosen = self.torch_device()
            if chosen.type == device.kind:
                return self.train(chosen)
            # torch has another opinion of this machine: wait for what it takes, too.
            with self._locked(str(chosen)) as ours_too:
                self.reporter.status = replace(self.reporter.status, device=str(chosen))
                return ours_too and self.train(chosen)

    def torch_device(self) -> "torch.device":
        """The device of this process. Raises ConfigError when the torch that is installed has none of its kind."""
        # Read when torch is loaded. Threads that spin while they wait for one another took 18 times as long where
        # another program, such as the browser that watches, used one of two cores; sleep costs a few percent else.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        import torch

        from transformer.training.trainer import choose_device

        device = choose_device() if self.device_name == "auto" else torch.device(self.device_name)
        usable = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
        if device.type in usable and not usable[device.type]():
            raise ConfigError(f"device is {device}, but this torch finds none; allowed is {choose_device()}.")
        if device.type == "cuda":
            device = torch.device("cuda", (device.index or 0) if self.world.alone else self.world.local_rank)
            torch.cuda.set_device(device)
        return device

    def train(self, device: "torch.device") -> bool:
        """Train to the end (True), or until asked to stop (False)."""
        from transformer.training.board import tensorboard
        from transformer.training.terminal import train_in_terminal

        self.world.join(device)
        trainer = self._trainer(device)
        listeners = [self.reporter.line, tensorboard(self.folder, trainer.progress.step)] if self.world.leads else []
        record = self._recorder(trainer)
        self.reporter.now("running", step=trainer.progress.step, steps=trainer.config.steps)

        def between_steps() -> bool:
            self.reporter.step(trainer.progress.step, trainer.config.steps)
            record()
            return self.should_stop()

        finished = train_in_terminal(trainer, listeners, between_steps)
        record()
        self.world.leave()
        return finished

    @contextmanager
    def _locked(self, device: str) -> Iterator[bool]:
        """Hold the locks of all devices that the processes of this run use on this machine."""
        names = [device]
        if device.startswith("cuda") and not self.world.alone:
            names = [f"cuda:{index}" for index in range(self.world.local_size)]
        paths = [locks.device_lock(self.folder.parent, name) for name in names]

        def waits(holder: str) -> None:
            self.reporter.now("queued", f"Waiting for {holder}, which uses {device}.")

        with locks.waiting_for(paths, self.folder.name, self.should_stop, waits) as ours:
            yield ours

    def _trainer(self, device: "torch.device") -> "Trainer":
        from transformer.presets import Preset
        from transformer.training.budget import plan_epochs, plan_minutes
        from transformer.training.start import corpus_of_run, resume_training, start_training

        folder, request, world = self.folder, self.request, self.world
        began = time.perf_counter()
        resumes = world.any(world.leads and (folder / "config.json").exists())
        corpus = corpus_of_run(folder, request, partial(self.reporter.now, "running"))
        self.reporter.now("running", f"Preparing {len(corpus.pairs('train')):,} sentence pairs of {corpus.name} …")
        if resumes:
            return resume_training(folder, corpus, device, world)
        assert request is not None

        def plan(trainer: "Trainer") -> TrainConfig:
            if request.epochs is not None:
                return plan_epochs(trainer, request.epochs)
            assert request.minutes is not None
            self.reporter.now("running", "Measuring the speed …")
            return plan_minutes(trainer, request.minutes, time.perf_counter() - began)

        preset = Preset(request.model, request.train)
        return start_training(folder, corpus, preset, None, device, world, plan if request.steps is None else None)

    def _recorder(self, trainer: "Trainer") -> Callable[[], None]:
        """What records the run's probes when they are due."""
        from transformer.text.algorithmic import answer
        from transformer.text.tokenizer import Tokenizer
        from transformer.training.recorder import ProbeRecorder

        if self.request is None or not self.request.probes or not self.world.leads:
            return lambda: None
        tokenizer = Tokenizer.load(self.folder / "tokenizer.model")
        recorder = ProbeRecorder(trainer, tokenizer, self.request.probes, partial(answer, self.request.corpus))
        if recorder.n_left_out:
            self.reporter.say(f"{recorder.n_left_out} probe sentences are too long for the model: not recorded.")
        return recorder
