"""Training tokens per second: the whole optimizer step, ours and the peers', on the same batches."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks import joeynmt
from benchmarks.peers import Marian, TorchTransformer, XTransformers
from benchmarks.table import OURS, Row
from benchmarks.timing import interleaved
from benchmarks.work import SHAPE, TRAIN, equal_batch, equal_pairs, mixed_batches, n_tokens
from transformer.config import ModelConfig
from transformer.model import Transformer
from transformer.text.batches import Batch
from transformer.text.tokenizer import PAD
from transformer.training.trainer import Trainer

Step = Callable[[Batch], float]
"""One optimizer step on a batch; its mean label-smoothed loss, in nats a target token."""


def our_step(config: ModelConfig, folder: Path) -> Step:
    """The optimizer step of `roundtable train`, with all that it counts and logs."""
    pairs = equal_pairs(2, 4, config.vocab_size)
    trainer = Trainer(folder, config, TRAIN, pairs, pairs, torch.device("cpu"))

    def step(batch: Batch) -> float:
        before = trainer.progress.window.smoothed
        trainer._step([batch])
        return (trainer.progress.window.smoothed - before) / batch.n_target_tokens

    return step


def peer_step(make: Callable[[ModelConfig], nn.Module], config: ModelConfig, folder: Path) -> Step:
    """A peer's optimizer step: torch's own label-smoothed loss over the real tokens, and torch's fused Adam."""
    model = make(config).train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=1e-4, betas=(TRAIN.beta1, TRAIN.beta2), eps=TRAIN.epsilon, fused=True)

    def step(batch: Batch) -> float:
        optimizer.zero_grad(set_to_none=True)
        logits, gold = model(batch).flatten(0, 1), batch.target_out.flatten()
        loss = F.cross_entropy(logits, gold, ignore_index=PAD, label_smoothing=TRAIN.label_smoothing)
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
    groups = {
        "96 × 20 tokens": [equal_batch(96, 20, SHAPE.vocab_size)],
        "mixed lengths": mixed_batches(4, 1024, SHAPE.vocab_size),
    }
    torch.manual_seed(0)
    made = []
    with TemporaryDirectory() as folder, joeynmt.started(Transformer(SHAPE), Path(folder), groups) as joey:
        steps = {name: make(SHAPE, Path(folder)) for name, make in TRAINERS.items()}
        for group, batches in groups.items():
            works: dict[str, Callable[[], object]] = {
                name: partial(_over_all, step, batches) for name, step in steps.items()
            }
            if joey is not None:
                works[joeynmt.NAME] = partial(joey.train, group)
            total = sum(map(n_tokens, batches))
            rates = {name: total / seconds for name, seconds in interleaved(works, repetitions=7).items()}
            made.append(Row.race(f"training, {group}, tokens/s", rates, 1.3, WHY))
    return made


def _over_all(step: Step, batches: Sequence[Batch]) -> None:
    for batch in batches:
        step(batch)
