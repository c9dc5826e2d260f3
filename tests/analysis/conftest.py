"""A whole checkpoint small enough to be made in a moment: random weights, a tokenizer of its own."""

from pathlib import Path

import pytest
import torch

from transformer.checkpoint import Checkpoint, CheckpointConfig
from transformer.config import ModelConfig, TrainConfig
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

SENTENCES = ["The animal was tired.", "Das Tier war müde.", "A street is wide.", "Eine Straße ist breit."] * 4


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """Two encoder layers, three decoder layers, four heads, d_k ≠ d_v."""
    tokenizer = Tokenizer.train(SENTENCES, 310)
    model = ModelConfig(
        vocab_size=len(tokenizer), d_model=16, d_ff=24, n_heads=4, d_k=3, d_v=5, n_encoder_layers=2, n_decoder_layers=3
    )
    train = TrainConfig(steps=1, seed=3)
    torch.manual_seed(3)
    config = CheckpointConfig(model.resolved(), train, {"name": "test"}, step=0)
    folder: Path = tmp_path_factory.mktemp("checkpoint")
    return Checkpoint("test", config, tokenizer, Transformer(model).eval(), folder)
