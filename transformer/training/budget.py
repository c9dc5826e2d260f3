"""A budget in minutes or epochs, turned once into steps, and a schedule of the same shape over that many steps.

Imports no torch, so that a form can plan too.
"""

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from transformer.config import TrainConfig

if TYPE_CHECKING:
    from transformer.training.trainer import Trainer

MEASURE_SECONDS = 4.0
"""How long the speed is measured, at most a tenth of the budget."""
_FIRST_STEPS = 2
"""Slower than the rest, and not measured."""
_VALIDATION_SPEED = 3.0
"""Tokens a second in validation, over those in training: there is no backward pass."""


def over_steps(train: TrainConfig, steps: int) -> TrainConfig:
    """The same training over another number of steps.

    Over fewer, the warmup, the cooldown and what is done every so many steps shrink with them, but no warmup falls
    below a tenth of the steps, and 20 validations and saves and 200 log lines are enough. A shorter warmup would raise
    the learning rate's peak, lr_factor / √(d_model · warmup) (§5.3): lr_factor falls, and the peak stays where it is.
    """

    def shrunk(every: int, parts: int) -> int:
        return min(every, max(1, round(every * steps / train.steps), math.ceil(steps / parts)))

    warmup = shrunk(train.warmup, parts=10)
    return replace(
        train,
        steps=steps,
        warmup=warmup,
        cooldown=min(train.cooldown, round(train.cooldown * steps / train.steps)),
        lr_factor=train.lr_factor * math.sqrt(warmup / train.warmup),
        log_every=shrunk(train.log_every, parts=200),
        validate_every=shrunk(train.validate_every, parts=20),
        save_every=shrunk(train.save_every, parts=20),
    )


def plan_epochs(trainer: "Trainer", epochs: float) -> TrainConfig:
    """The trainer's configuration over the steps that so many epochs have, each taken to have as many as the first."""
    steps = epochs * len(trainer.batches.epoch(0)) / trainer.config.accumulate
    return over_steps(trainer.config, max(1, round(steps)))


def plan_minutes(trainer: "Trainer", minutes: float, spent: float = 0.0) -> TrainConfig:
    """The trainer's configuration over the steps that fit into so many minutes, of which `spent` seconds have gone.

    Takes a few steps to measure their speed: the trainer is spoilt, and training begins with a new one. Processes that
    share a run all have to call this, and get the same.
    """
    began = time.perf_counter()
    seconds = 60 * minutes
    a_step, a_token = _speed(trainer, min(MEASURE_SECONDS, seconds / 10))
    a_validation = a_token / _VALIDATION_SPEED * sum(len(target) + 1 for _, target in trainer.validation.pairs)
    left = max(seconds / 2, seconds - spent - (time.perf_counter() - began)) - a_validation
    train = trainer.config
    for _ in range(2):  # how often it validates depends on the steps
        steps = max(1, int(left / (a_step + a_validation / train.validate_every)))
        train = over_steps(trainer.config, int(trainer.world.of_leader(steps)))
    return train


def _speed(trainer: "Trainer", seconds: float) -> tuple[float, float]:
    """Seconds that a step takes, and a target token, measured for so many seconds, or one step if that takes longer."""
    stream = trainer._stream()
    started, n_steps, tokens_before = time.perf_counter(), 0, 0
    while True:
        trainer._step([next(stream) for _ in range(trainer.config.accumulate)])
        n_steps += 1
        passed = time.perf_counter() - started
        if trainer.world.any(passed > seconds and trainer.world.leads):
            n_tokens = trainer.progress.n_tokens - tokens_before
            return passed / n_steps, passed / n_tokens
        if n_steps == _FIRST_STEPS and not tokens_before:
            started, n_steps, tokens_before = time.perf_counter(), 0, trainer.progress.n_tokens
