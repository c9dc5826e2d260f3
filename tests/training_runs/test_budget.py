"""Budgets: the same schedule over other steps, epochs counted, minutes measured once."""

import math
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.training_runs.small_runs import do
from transformer.checkpoint import read_config
from transformer.config import TrainConfig
from transformer.text.batches import Batches
from transformer.text.corpora import load_corpus
from transformer.text.tokenizer import Tokenizer
from transformer.training import budget
from transformer.training.budget import over_steps, plan_minutes
from transformer.training.distributed import ALONE
from transformer.training.request import read_request
from transformer.training.schedule import learning_rate

pytestmark = pytest.mark.filterwarnings("ignore:The text allows a vocabulary")
TRAIN = TrainConfig(steps=6000, warmup=1000, lr_factor=1.5, log_every=50, validate_every=500, save_every=500)


@pytest.mark.parametrize("steps", [1, 7, 60, 600, 5999])
def test_fewer_steps_keep_the_shape_and_the_peak(steps):
    train = over_steps(TRAIN, steps)
    assert train.steps == steps
    assert train.warmup == max(1, round(steps / 6), math.ceil(steps / 10))
    peak = learning_rate(train.warmup, 256, train.warmup, train.lr_factor)
    assert peak == pytest.approx(learning_rate(1000, 256, 1000, 1.5))
    for name in ("log_every", "validate_every", "save_every"):
        assert 1 <= getattr(train, name) <= getattr(TRAIN, name)
    assert steps / train.log_every <= 200
    assert steps / train.validate_every <= 20


@pytest.mark.parametrize("steps", [6000, 60_000])
def test_more_steps_change_nothing_else(steps):
    train = over_steps(TRAIN, steps)
    assert (train.warmup, train.lr_factor, train.validate_every) == (1000, 1.5, 500)
    assert train.steps == steps


@pytest.mark.parametrize(("steps", "cooldown"), [(1, 0), (60, 12), (600, 120), (6000, 1200), (60_000, 1200)])
def test_the_cooldown_shrinks_with_the_steps(steps, cooldown):
    assert over_steps(replace(TRAIN, cooldown=1200), steps).cooldown == cooldown


class SteadyTrainer:
    """Takes `a_step` seconds of a clock of its own for a step of 100 target tokens, and tenfold for the first two."""

    def __init__(self, a_step: float, validation_tokens: int, monkeypatch: pytest.MonkeyPatch, **train) -> None:
        self.config, self.world = TrainConfig(**train), ALONE
        self.progress = SimpleNamespace(n_tokens=0)
        self.validation = SimpleNamespace(pairs=[([], [0] * (validation_tokens - 1))])
        self.now, self.a_step, self.n_steps = 0.0, a_step, 0
        monkeypatch.setattr(budget.time, "perf_counter", lambda: self.now)

    def _stream(self):
        while True:
            yield None

    def _step(self, batches: list[None]) -> None:
        self.n_steps += 1
        self.now += self.a_step * (10 if self.n_steps <= 2 else 1)
        self.progress.n_tokens += 100


def test_minutes_are_filled_by_steps_and_validations(monkeypatch):
    trainer = SteadyTrainer(0.01, 3000, monkeypatch, steps=100_000, validate_every=100)
    train = plan_minutes(trainer, minutes=5, spent=20)  # type: ignore[arg-type]
    a_validation = 0.0001 / 3 * 3000
    spent = 20 + trainer.now + train.steps * 0.01 + a_validation * (1 + train.steps / train.validate_every)
    assert spent == pytest.approx(300, rel=0.01)
    assert trainer.now < 5


def test_a_step_longer_than_the_budget_is_measured_once(monkeypatch):
    trainer = SteadyTrainer(30, 100, monkeypatch)
    assert plan_minutes(trainer, minutes=1).steps == 1  # type: ignore[arg-type]
    assert trainer.n_steps == 1


def test_preparing_longer_than_the_budget_leaves_half_of_it_for_training(monkeypatch):
    trainer = SteadyTrainer(0.01, 100, monkeypatch)
    assert 2500 < plan_minutes(trainer, minutes=1, spent=1e6).steps <= 3000  # type: ignore[arg-type]


def test_a_wall_clock_that_goes_back_is_not_asked(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: pytest.fail("the wall clock was asked"))
    assert plan_minutes(SteadyTrainer(0.01, 100, monkeypatch), minutes=1).steps > 1  # type: ignore[arg-type]


def test_epochs_are_counted(ask, folder):
    assert do(ask("one", epochs=2, accumulate=3, batch_tokens=100))
    config = read_config(folder / "one")
    request = read_request(folder / "one")
    assert request is not None
    tokenizer = Tokenizer.load(folder / "one" / "tokenizer.model")
    pairs = [tuple(map(tokenizer.encode, pair)) for pair in load_corpus(request.corpus).pairs("train")]
    n_batches = len(Batches(pairs, 100, config.train.seed).epoch(0))
    assert config.train.steps == round(2 * n_batches / 3)
