"""What every contestant is given: one shape, and the same batches."""

import numpy as np

from transformer.config import ModelConfig, TrainConfig
from transformer.text.batches import Batch, Batches, make_batch
from transformer.text.tokenizer import EOS

SHAPE = ModelConfig(
    vocab_size=4000, d_model=128, d_ff=512, n_heads=4, n_encoder_layers=3, n_decoder_layers=3
).resolved()
"""A model that a person trains on a laptop."""
BASE = ModelConfig().resolved()
"""The paper's base model."""
TRAIN = TrainConfig(precision="float32")
"""The paper's loss and optimizer."""

Pairs = list[tuple[list[int], list[int]]]


def equal_pairs(n_pairs: int, n_tokens: int, vocab_size: int, seed: int = 0) -> Pairs:
    """Random pairs whose source and target both have n_tokens tokens, end of sentence included; ids are without it."""
    ids = np.random.default_rng(seed).integers(EOS + 1, vocab_size, size=(n_pairs, 2, n_tokens - 1))
    return [(source.tolist(), target.tolist()) for source, target in ids]


def equal_batch(n_pairs: int, n_tokens: int, vocab_size: int) -> Batch:
    """equal_pairs as one batch, in which nothing is padding."""
    return make_batch(equal_pairs(n_pairs, n_tokens, vocab_size))


def mixed_batches(n_batches: int, batch_tokens: int, vocab_size: int, seed: int = 0) -> list[Batch]:
    """Batches as training makes them, from random pairs of 3 to 60 tokens, 11 at the median, bucketed by length."""
    random = np.random.default_rng(seed)
    source = np.clip(random.lognormal(2.4, 0.45, size=4000), 3, 60).astype(int)
    target = np.clip(source * random.normal(1.0, 0.15, size=4000), 3, 60).astype(int)
    pairs = [
        (
            random.integers(EOS + 1, vocab_size, size=m - 1).tolist(),
            random.integers(EOS + 1, vocab_size, n - 1).tolist(),
        )
        for m, n in zip(source, target, strict=True)
    ]
    batches = Batches(pairs, batch_tokens, seed)
    return [batches.batch(indices) for indices in batches.epoch(0)[:n_batches]]


def n_tokens(batch: Batch) -> int:
    """Source and target tokens of a batch, padding left out."""
    return batch.n_source_tokens + batch.n_target_tokens
