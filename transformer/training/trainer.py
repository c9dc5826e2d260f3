"""Training: the loop, and everything that lets it stop anywhere and go on as if it had not."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch

from transformer.config import ModelConfig, TrainConfig
from transformer.model.transformer import Transformer
from transformer.text.batches import Batch, Batches
from transformer.training.distributed import ALONE, World
from transformer.training.loss import SharedLoss, batch_loss
from transformer.training.metrics import METRICS_FILE, cut_metrics, read_metrics
from transformer.training.progress import Progress, Window
from transformer.training.saved import read_state, remove_half_written, save_run
from transformer.training.schedule import cooldown_share, learning_rate
from transformer.training.status import STATE_FILE

EncodedPairs = list[tuple[list[int], list[int]]]


def choose_device() -> torch.device:
    """CUDA where there is a GPU, else Apple's MPS, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


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
        fitting, validating = _fitting(training, model_config), _fitting(validation, model_config)
        self.n_left_out = len(training) - len(fitting)
        for pairs, purpose in ((fitting, "train"), (validating, "validate")):
            if not pairs:
                raise ValueError(f"There is no sentence pair to {purpose} on that is short enough for this model.")
        torch.manual_seed(train_config.seed)
        self.model = Transformer(model_config).to(self.device)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            betas=(train_config.beta1, train_config.beta2),
            eps=train_config.epsilon,
            fused=self.device.type in ("cpu", "cuda"),
        )
        self.batches = Batches(fitting, train_config.batch_tokens, train_config.seed)
        self.validation = Batches(validating, train_config.batch_tokens, 0)
        self.progress = Progress()
        if (folder / STATE_FILE).exists():
            self.progress = read_state(folder / STATE_FILE, self.model, self.optimizer)
        if world.leads:
            # Also where a run was killed before it first saved: it starts anew.
            cut_metrics(folder / METRICS_FILE, self.progress.step)
            remove_half_written(folder)
        self._shared_loss = world.share(SharedLoss(self.model, train_config.balance))

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
        owes_validation, saved = self._owes_validation(), (self.folder / STATE_FILE).exists()
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
                    progress.window.check(progress.step)
                    means = progress.window.averages()
                    log(**means, lr=rate, n_tokens=progress.n_tokens, tokens_per_second=round(speed, 1))
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
                with self._autocast():  # should_stop may look at the model too, in full precision
                    loss = batch_loss(self.model, self.validation.batch(indices).to(self.device))
                nll += float(loss.nll)
                n_tokens += loss.n_tokens
        nll, n_tokens = self.world.sum(nll, n_tokens)
        return nll / max(1, n_tokens)

    def save(self) -> None:
        """Keep what training goes on from (see save_run). Raises DivergenceError when the loss is no number."""
        self.progress.window.check(self.progress.step)
        if self.world.leads:
            save_run(self.folder, self.model, self.optimizer, self.progress, self.config)

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


def _fitting(pairs: EncodedPairs, config: ModelConfig) -> EncodedPairs:
    """The pairs that a model with a table of learned positions has room for, end of sentence included."""
    if config.positions != "learned":
        return pairs
    return [pair for pair in pairs if max(len(pair[0]), len(pair[1])) < config.max_length]
