"""Training: the loop, and everything that lets it stop anywhere and go on as if it had not."""

import json
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import read_config, write_config
from transformer.config import ModelConfig, TrainConfig
from transformer.folders import CheckpointError, replacing
from transformer.model.transformer import Transformer
from transformer.text.batches import Batch, Batches
from transformer.training.distributed import ALONE, World
from transformer.training.failures import DivergenceError
from transformer.training.loss import Loss, balance_loss, batch_loss
from transformer.training.metrics import METRICS_FILE, read_metrics
from transformer.training.schedule import cooldown_share, learning_rate
from transformer.weights import copy_weights, named_weights, save_weights

EncodedPairs = list[tuple[list[int], list[int]]]


@dataclass
class Window:
    """Sums since the last line of metrics.jsonl."""

    nll: float = 0.0
    smoothed: float = 0.0
    n_tokens: int = 0
    grad_norm: float = 0.0
    n_steps: int = 0


@dataclass
class Progress:
    """Where training stands."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    """Batches of this epoch that are done."""
    n_tokens: int = 0
    """Target tokens seen so far, padding left out."""
    window: Window = field(default_factory=Window)


def choose_device() -> torch.device:
    """CUDA where there is a GPU, else Apple's MPS, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


class _BatchLoss(nn.Module):
    """The loss as a module's forward pass, which is where DistributedDataParallel looks."""

    def __init__(self, model: Transformer, balance: float) -> None:
        """balance: weight of the load-balance loss of a model with experts."""
        super().__init__()
        self.model, self.balance = model, balance

    def forward(self, batch: Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        loss = batch_loss(self.model, batch, label_smoothing)
        if self.model.config.n_experts == 1:
            return loss.smoothed, loss.nll
        return loss.smoothed + self.balance * loss.n_tokens * balance_loss(self.model), loss.nll


class Trainer:
    """Trains one model on encoded pairs and keeps everything about it in a checkpoint folder.

    If the folder holds state.pt, training goes on from there, bit by bit as if it had never stopped (on the CPU, with
    as many threads). Pairs longer than a learned position table are left out; `n_left_out` says how many.
    """

    def __init__(
        self,
        folder: Path,
        model_config: ModelConfig,
        train_config: TrainConfig,
        training: EncodedPairs,
        validation: EncodedPairs,
        device: torch.device | None = None,
        world: World = ALONE,
    ) -> None:
        self.folder, self.config, self.world = folder, train_config, world
        self.device = choose_device() if device is None else device
        fitting = _fitting(training, model_config)
        self.n_left_out = len(training) - len(fitting)
        if not fitting:
            raise ValueError("There is no sentence pair to train on that is short enough for this model.")
        torch.manual_seed(train_config.seed)
        self.model = Transformer(model_config).to(self.device)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            betas=(train_config.beta1, train_config.beta2),
            eps=train_config.epsilon,
            fused=self.device.type in ("cpu", "cuda"),
        )
        self.batches = Batches(fitting, train_config.batch_tokens, train_config.seed)
        self.validation = Batches(_fitting(validation, model_config), train_config.batch_tokens, 0)
        self.progress = Progress()
        if (folder / "state.pt").exists():
            self._load_state()
        if world.leads:
            # Also where a run was killed before it first saved: it starts anew.
            _cut_metrics(folder / METRICS_FILE, self.progress.step)
            _remove_half_written(folder)
        self._shared_loss = world.share(_BatchLoss(self.model, train_config.balance))

    def run(
        self,
        report: Callable[[dict[str, Any]], None] = lambda line: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Train until the planned steps are done (True) or should_stop says so (False); save at the end.

        should_stop is asked between steps and between batches of a validation; report is given every line that goes to
        metrics.jsonl. Raises DivergenceError, and saves nothing more, when the loss is no number any more.
        """
        config, progress = self.config, self.progress
        stream = self._stream()
        started, tokens_before = time.perf_counter(), progress.n_tokens
        owes_validation, saved = self._owes_validation(), (self.folder / "state.pt").exists()
        path = self.folder / METRICS_FILE if self.world.leads else Path(os.devnull)
        with path.open("a", encoding="utf-8") as metrics:

            def log(**line: Any) -> None:
                metrics.write(json.dumps({"step": progress.step, **line}) + "\n")
                metrics.flush()
                report({"step": progress.step, **line})

            while True:
                paused = time.perf_counter()
                if owes_validation:
                    validation_nll = self.validate(should_stop)
                    if validation_nll is None:
                        break
                    log(validation_nll=validation_nll)
                    owes_validation = False
                if not saved and progress.step and progress.step % config.save_every == 0:
                    self.save()
                    saved = True
                if progress.step >= config.steps or self.world.any(should_stop()):
                    break
                started += time.perf_counter() - paused
                rate = self._step([next(stream) for _ in range(config.accumulate)])
                saved, last = False, progress.step == config.steps
                if progress.step % config.log_every == 0 or last:
                    seconds = time.perf_counter() - started
                    speed = (progress.n_tokens - tokens_before) / seconds
                    log(**self._averages(), lr=rate, n_tokens=progress.n_tokens, tokens_per_second=round(speed, 1))
                    progress.window = Window()
                    started, tokens_before = time.perf_counter(), progress.n_tokens
                owes_validation = progress.step % config.validate_every == 0 or last
        if not saved:
            self.save()
        return progress.step >= config.steps and not owes_validation

    def validate(self, should_stop: Callable[[], bool] = lambda: False) -> float | None:
        """Mean negative log-likelihood of a validation token, in nats, without smoothing or dropout.

        None if should_stop said so on the way; processes that share a run do not ask it.
        """
        self.model.eval()
        nll, n_tokens = 0.0, 0
        with torch.inference_mode():
            for indices in self.validation.epoch(0)[self.world.rank :: self.world.size]:
                if self.world.alone and should_stop():
                    return None
                loss = self._loss(self.validation.batch(indices), label_smoothing=0.0)
                nll += float(loss.nll)
                n_tokens += loss.n_tokens
        nll, n_tokens = self.world.sum(nll, n_tokens)
        return nll / max(1, n_tokens)

    def save(self) -> None:
        """Write steps/N.safetensors, model.safetensors, config.json's step and, last, state.pt, each in one step."""
        if not self.world.leads:
            return
        weights = named_weights(self.model)
        steps = self.folder / "steps"
        steps.mkdir(exist_ok=True)
        if self.progress.step % self.config.save_every == 0 or self.progress.step >= self.config.steps:
            # A stop in between leaves none, so that an average is of the same steps whether a run was stopped or not.
            save_weights(weights, steps / f"{self.progress.step}.safetensors")
        save_weights(weights, self.folder / "model.safetensors")
        if (self.folder / "config.json").exists():
            config = replace(read_config(self.folder), weights="last", step=self.progress.step)
            write_config(self.folder, config)
        # Before the state: a run that is killed once that is there and was its last never comes here again.
        for path in saved_steps(self.folder)[: -self.config.keep]:
            path.unlink()
        state = {
            "model": weights,
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state_all() if self.device.type == "cuda" else [],
            "progress": {**vars(self.progress), "window": vars(self.progress.window)},
            "steps": self.config.steps,
        }
        with replacing(self.folder / "state.pt") as temporary:
            torch.save(state, temporary)

    def _stream(self) -> Iterator[Batch]:
        """Batches from where training stands, epoch after epoch."""
        progress = self.progress
        while True:
            plan = self.batches.epoch(progress.epoch)
            while progress.batch < len(plan):
                progress.batch += 1
                yield self.batches.batch(plan[progress.batch - 1])
            progress.epoch, progress.batch = progress.epoch + 1, 0

    def _step(self, batches: list[Batch]) -> float:
        """One optimizer step on one or more batches, every token of them counting the same; the learning rate used."""
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        n_tokens = sum(batch.n_target_tokens for batch in batches)
        window, world = self.progress.window, self.world
        world.reseed(self.config.seed, self.progress.step)
        for index, batch in enumerate(batches):
            part, counts = world.part_of(batch)
            with world.summing(self._shared_loss, last=index == len(batches) - 1):
                with self._autocast():
                    smoothed, nll = self._shared_loss(part.to(self.device), self.config.label_smoothing)
                # The mean over processes, which is what gradients meet in, times their number is their sum.
                (smoothed * (counts * world.size) / n_tokens).backward()
            nll, smoothed = world.sum(counts * float(nll), counts * float(smoothed.detach()))
            window.nll += nll
            window.smoothed += smoothed
        longest = self.config.clip_norm or float("inf")
        window.grad_norm += float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), longest))
        window.n_tokens += n_tokens
        window.n_steps += 1
        self.progress.n_tokens += n_tokens
        self.progress.step += 1
        config, step = self.config, self.progress.step
        rate = learning_rate(step, self.model.config.d_model, config.warmup, config.lr_factor, config.schedule)
        rate *= cooldown_share(step, config.steps, config.cooldown)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        return rate

    def _loss(self, batch: Batch, label_smoothing: float) -> Loss:
        with self._autocast():
            return batch_loss(self.model, batch.to(self.device), label_smoothing)

    def _autocast(self) -> AbstractContextManager[Any]:
        half = self.config.precision == "bfloat16" or (self.config.precision == "auto" and self.device.type == "cuda")
        return torch.autocast(self.device.type, torch.bfloat16) if half else nullcontext()

    def _owes_validation(self) -> bool:
        """Whether a stop came in the middle of the validation that belongs to this step."""
        step, config = self.progress.step, self.config
        if step == 0 or not (step % config.validate_every == 0 or step >= config.steps):
            return False
        lines = read_metrics(self.folder)
        return all("validation_nll" not in line or line["step"] != step for line in lines)

    def _averages(self) -> dict[str, float]:
        window = self.progress.window
        if not math.isfinite(window.smoothed):
            raise DivergenceError(
                f"The loss became {window.smoothed} before step {self.progress.step}: training diverged. "
                "Choose a smaller lr_factor, a longer warmup, or clip_norm, and start anew."
            )
        return {
            "nll": window.nll / window.n_tokens,
            "smoothed": window.smoothed / window.n_tokens,
            "grad_norm": window.grad_norm / window.n_steps,
        }

    def _load_state(self) -> None:
        path = self.folder / "state.pt"
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
            weights, optimizer = state["model"], state["optimizer"]
        except Exception as error:
            reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
            raise CheckpointError(f"{path} cannot be read, so this run cannot go on: {reason}.") from error
        copy_weights(weights, self.model, path)
        self.optimizer.load_state_dict(optimizer)
        torch.set_rng_state(state["random"])
        if state["random_cuda"]:
            torch.cuda.set_rng_state_all(state["random_cuda"])
        window = Window(**state["progress"].pop("window"))
        self.progress = Progress(**state["progress"], window=window)


def saved_steps(folder: Path) -> list[Path]:
    """The weights saved on the way, oldest first."""
    return sorted((folder / "steps").glob("*.safetensors"), key=lambda path: int(path.stem))


def _fitting(pairs: EncodedPairs, config: ModelConfig) -> EncodedPairs:
    """The pairs that a model with a table of learned positions has room for, end of sentence included."""
    if config.positions != "learned":
        return pairs
    return [pair for pair in pairs if max(len(pair[0]), len(pair[1])) < config.max_length]


def _remove_half_written(folder: Path) -> None:
    """What a process left behind that was killed while it saved."""
    for pattern in ("state.pt.*.tmp", "model.safetensors.*.tmp", f"{METRICS_FILE}.*.tmp", "steps/*.tmp"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def _cut_metrics(path: Path, step: int) -> None:
    """Drop what was logged after the step that training goes on from, and a last line torn by a crash."""
    if not path.exists():
        return
    with replacing(path) as temporary, path.open("rb") as old, temporary.open("wb") as new:
        for line in old:
            if line.endswith(b"\n") and json.loads(line)["step"] <= step:
                new.write(line)
            else:
                break
        new.flush()
        os.fsync(new.fileno())
