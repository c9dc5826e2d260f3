"""What a trace costs: every head's pattern and scores of a 20-token pair, beside the same forward pass with no hook."""

import tempfile
from pathlib import Path

import torch

from benchmarks.checkpoints import sentence_of, untrained_checkpoint
from benchmarks.table import Row, number
from benchmarks.timing import interleaved
from benchmarks.work import SHAPE
from transformer.checkpoint import Checkpoint
from transformer.text.tokenizer import BOS, EOS

N_TOKENS, PASSES = 20, 10


def rows() -> list[Row]:
    """Milliseconds of a forward pass and of a trace."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = untrained_checkpoint(Path(folder) / "bench", SHAPE)
    sentence, target = (sentence_of(N_TOKENS, checkpoint.tokenizer, seed) for seed in (1, 2))
    works = {
        "trace": lambda: [checkpoint.trace(sentence, target) for _ in range(PASSES)],
        "forward pass": lambda: [forward(checkpoint, sentence, target) for _ in range(PASSES)],
    }
    milliseconds = {name: 1000 * value / PASSES for name, value in interleaved(works, repetitions=9).items()}
    traced, plain = milliseconds["trace"], milliseconds["forward pass"]
    what = f"trace of a pair of {N_TOKENS} tokens, ms"
    others = f"forward pass without capture {number(plain)}"
    return [Row(what, number(traced), others, traced / plain, "×", 1.3, larger_is_better=False)]


def forward(checkpoint: Checkpoint, sentence: str, target: str) -> torch.Tensor:
    """The same pair from text to the target's log-probabilities on the fused path, with nothing kept."""
    source, written = ([*checkpoint.tokenizer.encode(text), EOS] for text in (sentence, target))
    with torch.inference_mode():
        logits = checkpoint.model(torch.tensor([source]), torch.tensor([[BOS, *written[:-1]]]))[0]
        return logits.log_softmax(-1).gather(1, torch.tensor(written)[:, None])
