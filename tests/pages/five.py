"""One small checkpoint of random weights for each encoding."""

import json
from pathlib import Path

import torch

from transformer.ablations.positions import ENCODINGS
from transformer.checkpoint import CheckpointConfig, write_config
from transformer.config import ModelConfig, TrainConfig
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.weights import named_weights, save_weights

SENTENCES = ["The animal was tired.", "Das Tier war müde.", "A street is wide.", "Eine Straße ist breit."] * 4


def make_five(folder: Path) -> Path:
    """Checkpoints named after their encodings; training is said to have visited 12 rows of the learned one."""
    tokenizer = Tokenizer.train(SENTENCES, 310)
    for encoding in ENCODINGS:
        model = ModelConfig(
            vocab_size=len(tokenizer), d_model=16, d_ff=16, n_heads=2, n_encoder_layers=2, n_decoder_layers=1,
            positions=encoding, max_length=160,
        )  # fmt: skip
        torch.manual_seed(0)
        (folder / encoding).mkdir()
        tokenizer.save(folder / encoding / "tokenizer.model")
        save_weights(named_weights(Transformer(model)), folder / encoding / "model.safetensors")
        write_config(folder / encoding, CheckpointConfig(model, TrainConfig(steps=7), {"name": "mine"}, step=7))
    visits = {"position_visits": {"corpus": "mine", "texts": [900 - 80 * at for at in range(12)] + [0] * 148}}
    (folder / "learned" / "evaluation.json").write_text(json.dumps(visits))
    return folder
