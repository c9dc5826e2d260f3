"""A training run small enough to be repeated by the dozen."""

import math
import random
from pathlib import Path
from typing import Any

import torch

from transformer.config import ModelConfig, TrainConfig
from transformer.training.trainer import EncodedPairs, Trainer


def reversals(n: int, seed: int = 0, longest: int = 6) -> EncodedPairs:
    """Strings of a few letters and their reverses, as ids."""
    draw = random.Random(seed)
    strings = [[draw.randrange(4, 14) for _ in range(draw.randint(1, longest))] for _ in range(n)]
    return [(string, string[::-1]) for string in strings]


def model_config(**changes: Any) -> ModelConfig:
    values = {
        "vocab_size": 14, "d_model": 16, "d_ff": 24, "n_heads": 2, "p_drop": 0.0,
        "n_encoder_layers": 1, "n_decoder_layers": 1, "max_length": 16,
    }  # fmt: skip
    return ModelConfig(**(values | changes))


def train_config(**changes: Any) -> TrainConfig:
    values = {"steps": 12, "batch_tokens": 24, "warmup": 10, "save_every": 4, "log_every": 2, "validate_every": 3}
    return TrainConfig(**(values | changes))


def trainer(
    folder: Path,
    training: EncodedPairs | None = None,
    validation: EncodedPairs | None = None,
    model: dict[str, Any] | None = None,
    **train: Any,
) -> Trainer:
    """A Trainer on the CPU in a folder, which is made; `model` and the rest say what differs from the small run."""
    folder.mkdir(parents=True, exist_ok=True)
    return Trainer(
        folder,
        model_config(**(model or {})),
        train_config(**train),
        reversals(40) if training is None else training,
        reversals(10, seed=1) if validation is None else validation,
        torch.device("cpu"),
    )


def learn(run: Trainer, below: float) -> float:
    """Train until a validation's loss is below this, or to the last step; the validation loss then."""
    losses = [math.inf]
    run.run(lambda line: losses.append(line.get("validation_nll", math.inf)), lambda: min(losses) < below)
    return run.validate()
