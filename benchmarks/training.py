"""Training tokens per second: the whole optimizer step, ours and the peers', on the same batches."""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.peers import Marian, TorchTransformer, XTransformers
from benchmarks.table import OURS, Row
from benchmarks.timing import interleaved
from benchmarks.work import LABEL_SMOOTHING, SHAPE, equal_batch, equal_pairs, mixed_batches, n_tokens
from transformer.config import ModelConfig, TrainConfig
from transformer.text.batches import Batch
from transformer.text.tokenizer import PAD
from transformer.training.trainer import Trainer

Step = Callable[[Batch], float]
"""One optimizer step on a batch; its mean label-smoothed loss, in nats a target token."""

CONFIG = TrainConfig(label_smoothing=LABEL_SMOOTHING, precision="float32")


def our_step(config: ModelConfig, folder: Path) -> Step:
    """The optimizer step of `roundtable train`, with all that it counts and logs."""
    pairs = equal_pairs(2, 4, config.vocab_size)
    trainer = Trainer(folder, config, CONFIG, pairs, pairs, torch.device("cpu"))

    def step(batch: Batch) -> float:
        before = trainer.progress.window.smoothed
        trainer._step([batch])
        return (trainer.progress.window.smoothed - before) / batch.n_target_tokens

    return step


def peer_step(make: Callable[[ModelConfig], nn.Module], config: ModelConfig, folder: Path) -> Step:
    """A peer's optimizer step: torch's own label-smoothed loss over the real tokens, and torch's fused Adam."""
    model = make(config).train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=1e-4, betas=(CONFIG.beta1, CONFIG.beta2), eps=CONFIG.epsilon, fused=True)

    def step(batch: Batch) -> float:
        optimizer.zero_grad(set_to_none=True)
        logits, gold = model(batch).flatten(0, 1), batch.target_out.flatten()
        loss = F.cross_entropy(logits, gold, ignore_index=PAD, label_smoothing=LABEL_SMOOTHING)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


TRAINERS: dict[str, Callable[[ModelConfig, Path], Step]] = {
    OURS: our_step,
    "nn.Transformer": partial(peer_step, TorchTransformer),
    "HF MarianMT": partial(peer_step, Marian),
    "x-transformers": partial(peer_step, XTransformers),
}


WHY = "matrix products, the same for everybody, take most of a step; the share of the peak that they reach is below."


def rows() -> list[Row]:
    """Tokens per second on 96 pairs of 20 tokens, and on pairs of mixed lengths."""
    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(0)
        steps = {name: make(SHAPE, Path(folder)) for name, make in TRAINERS.items()}
        equal = _rates(steps, [equal_batch(96, 20, SHAPE.vocab_size)], repetitions=7)
        mixed = _rates(steps, mixed_batches(4, 1024, SHAPE.vocab_size), repetitions=7)
    return [
        Row.race("training, 96 × 20 tokens, tokens/s", equal, 1.3, WHY),
        Row.race("training, mixed lengths, tokens/s", mixed, 1.3, WHY),
    ]


def _rates(steps: dict[str, Step], batches: Sequence[Batch], repetitions: int) -> dict[str, float]:
    def over_all(step: Step) -> None:
        for batch in batches:
            step(batch)

    seconds = interleaved({name: partial(over_all, step) for name, step in steps.items()}, repetitions)
    total = sum(map(n_tokens, batches))
    return {name: total / value for name, value in seconds.items()}
