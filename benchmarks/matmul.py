"""How much of the machine's own matrix-multiply speed training reaches, both measured in turns."""

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from benchmarks.table import Row, number
from benchmarks.timing import interleaved
from benchmarks.training import our_step
from benchmarks.work import BASE, SHAPE, equal_batch
from transformer.config import ModelConfig
from transformer.text.batches import Batch

PEAK_SIZE = 2048


@dataclass(frozen=True)
class Case:
    """A shape, a number of pairs of 20 tokens, and the share of the peak that the design asks for."""

    name: str
    config: ModelConfig
    n_pairs: int
    budget: float


CASES = (Case("d_model 128", SHAPE, 96, 0.5), Case("base preset", BASE, 48, 0.8))


def training_flops(config: ModelConfig, batch: Batch) -> int:
    """Floating-point operations of one training step's matrix multiplications: 2 for each multiply–add.

    The backward pass multiplies twice as much as the forward pass. What a kernel computes again is not counted, and
    masked scores are, because they are computed.
    """
    config = config.resolved()
    assert config.d_k is not None and config.d_v is not None
    d_model, heads_k, heads_v = config.d_model, config.n_heads * config.d_k, config.n_heads * config.d_v
    (n_rows, n_key), n_query = batch.source.shape, batch.target_in.shape[1]
    source, target = n_rows * n_key, n_rows * n_query
    queries, keys_and_values, output = d_model * heads_k, d_model * (heads_k + heads_v), heads_v * d_model
    feed_forward = 2 * d_model * config.d_ff
    self_attention = queries + keys_and_values + output
    encoder = source * (self_attention + feed_forward + n_key * (heads_k + heads_v))
    decoder = (
        target * (self_attention + queries + output + feed_forward + (n_query + n_key) * (heads_k + heads_v))
        + source * keys_and_values
    )
    projection = int((batch.target_out != 0).sum()) * d_model * config.vocab_size
    return 3 * 2 * (config.n_encoder_layers * encoder + config.n_decoder_layers * decoder + projection)


def rows() -> list[Row]:
    """The share reached at d_model 128 and at the paper's base model."""
    return [_row(case) for case in CASES]


def _row(case: Case) -> Row:
    batch = equal_batch(case.n_pairs, 20, case.config.vocab_size)
    square = torch.randn(PEAK_SIZE, PEAK_SIZE)
    product = torch.empty_like(square)
    with tempfile.TemporaryDirectory() as folder:
        works = {
            "step": partial(our_step(case.config, Path(folder)), batch),
            "peak": lambda: [torch.mm(square, square, out=product) for _ in range(2)],
        }
        seconds = interleaved(works, repetitions=5)
    reached = training_flops(case.config, batch) / seconds["step"] / 1e9
    peak = 2 * 2 * PEAK_SIZE**3 / seconds["peak"] / 1e9
    what = f"matrix multiplication in training, {case.name}, GFLOP/s"
    others = f"peak {number(peak)}, a {PEAK_SIZE} × {PEAK_SIZE} product"
    return Row(what, number(reached), others, reached / peak, "×", case.budget, larger_is_better=True)
