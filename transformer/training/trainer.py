"""Training: the loop, and everything that lets it stop anywhere and go on as if it had not."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from transformer.config import ModelConfig, TrainConfig
from transformer.folders import CheckpointError, replacing
from transformer.model.transformer import Transformer
from transformer.text.batches import Batch, Batches
from transformer.training.loss import Loss, batch_loss
from transformer.training.schedule import learning_rate
from transformer.weights import named_weights, save_weights

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


class Trainer:
    """Trains one model on encoded pairs and keeps everything about it in a checkpoint folder.

    If the folder holds state.pt, training goes on from there, bit by bit as if it had never stopped (on the CPU, with as
    many threads). Pairs longer than a learned position table are left out; `n_left_out` says how many.
    """

    def __init__(
        self,
        folder: Path,
        model_config: ModelConfig,
        train_config: TrainConfig,
        training: EncodedPairs,
        validation: EncodedPairs,
        device: torch.device | None = None,
    ) -> None:
        self.folder, self.config = folder, train_config
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

    def run(
        self,
        report: Callable[[dict[str, Any]], None] = lambda line: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Train until the planned steps are done (True) or should_stop says so between steps (False); save at the end.

        report is given every line that goes to metrics.jsonl.
        """
        config, progress = self.config, self.progress
        stream = self._stream()
        started, tokens_before = time.perf_counter(), progress.n_tokens
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as metrics:

            def log(**line: Any) -> None:
                metrics.write(json.dumps({"step": progress.step, **line}) + "\n")
                metrics.flush()
                report({"step": progress.step, **line})

            while progress.step < config.steps and not should_stop():
                rate = self._step([next(stream) for _ in range(config.accumulate)])
                last = progress.step == config.steps
                if progress.step % config.log_every == 0 or last:
                    seconds = time.perf_counter() - started
                    speed = (progress.n_tokens - tokens_before) / seconds
                    log(**self._averages(), lr=rate, n_tokens=progress.n_tokens, tokens_per_second=round(speed, 1))
                    progress.window = Window()
                    started, tokens_before = time.perf_counter(), progress.n_tokens
                if progress.step % config.validate_every == 0 or last:
                    log(validation_nll=self.validate())
                if progress.step % config.save_every == 0:
                    self.save()
        self.save()
        return progress.step == config.steps

    def validate(self) -> float:
        """Mean negative log-likelihood of a validation token, in nats, without smoothing or dropout."""
        self.model.eval()
        nll, n_tokens = 0.0, 0
        with torch.inference_mode():
            for indices in self.validation.epoch(0):
                loss = self._loss(self.validation.batch(indices), label_smoothing=0.0)
                nll += float(loss.nll)
                n_tokens += loss.n_tokens
        return nll / max(1, n_tokens)

    def save(self) -> None:
        """Write steps/N.safetensors, model.safetensors and, last, state.pt, each replaced in one step."""
        weights = named_weights(self.model)
        steps = self.folder / "steps"
        steps.mkdir(exist_ok=True)
        save_weights(weights, steps / f"{self.progress.step}.safetensors")
        save_weights(weights, self.folder / "model.safetensors")
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
        for path in saved_steps(self.folder)[: -self.config.keep]:
            path.unlink()

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
        window = self.progress.window
        for batch in batches:
            loss = self._loss(batch, self.config.label_smoothing)
            (loss.smoothed / n_tokens).backward()
            window.nll += float(loss.nll)
            window.smoothed += float(loss.smoothed.detach())
        longest = self.config.clip_norm or float("inf")
        window.grad_norm += float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), longest))
        window.n_tokens += n_tokens
        window.n_steps += 1
        self.progress.n_tokens += n_tokens
        self.progress.step += 1
        rate = learning_rate(
            self.progress.step, self.model.config.d_model, self.config.warmup, self.config.lr_factor
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        return rate

    def _loss(self, batch: Batch, label_smoothing: float) -> Loss:
        half = self.config.precision == "bfloat16" or (
            self.config.precision == "auto" and self.device.type == "cuda"
        )
        with torch.autocast(self.device.type, torch.bfloat16) if half else nullcontext():
            return batch_loss(self.model, batch.to(self.device), label_smoothing)

    def _averages(self) -> dict[str, float]:
        window = self.progress.window
        return {
            "nll": window.nll / window.n_tokens,
            "smoothed": window.smoothed / window.n_tokens,
            "grad_norm": window.grad_norm / window.n_steps,
        }

    def _load_state(self) -> None:
        path = self.folder / "state.pt"
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            raise CheckpointError(f"{path} cannot be read, so this run cannot go on: {error}.") from error
        with torch.no_grad():
            for name, parameter in named_weights(self.model).items():
                parameter.copy_(state["model"][name])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        if state["random_cuda"]:
            torch.cuda.set_rng_state_all(state["random_cuda"])
        window = Window(**state["progress"].pop("window"))
        self.progress = Progress(**state["progress"], window=window)
        _cut_metrics(self.folder / "metrics.jsonl", self.progress.step)


def saved_steps(folder: Path) -> list[Path]:
    """The weights saved on the way, oldest first."""
    return sorted((folder / "steps").glob("*.safetensors"), key=lambda path: int(path.stem))


def _fitting(pairs: EncodedPairs, config: ModelConfig) -> EncodedPairs:
    """The pairs that a model with a table of learned positions has room for, end of sentence included."""
    if config.positions != "learned":
        return pairs
    return [pair for pair in pairs if max(len(pair[0]), len(pair[1])) < config.max_length]


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
