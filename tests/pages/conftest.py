"""Two checkpoints small enough to be made in a moment, with random weights, where the app looks for them."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT
from transformer.checkpoint import CheckpointConfig, write_config
from transformer.config import ModelConfig, TrainConfig
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.weights import named_weights, save_weights

SENTENCES = ["The animal was tired.", "Das Tier war müde.", "A street is wide.", "Eine Straße ist breit."] * 4


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with "sentences", of 2 encoder and 3 decoder layers with 4 heads, and "letters", trained on reverse."""
    folder = tmp_path_factory.mktemp("checkpoints")
    tokenizer = Tokenizer.train(SENTENCES, 310)
    for name, corpus, n_decoder_layers in (("sentences", "mine", 3), ("letters", "reverse", 1)):
        model = ModelConfig(
            vocab_size=len(tokenizer), d_model=16, d_ff=16, n_heads=4, n_encoder_layers=2,
            n_decoder_layers=n_decoder_layers,
        )  # fmt: skip
        torch.manual_seed(0)
        (folder / name).mkdir()
        tokenizer.save(folder / name / "tokenizer.model")
        save_weights(named_weights(Transformer(model)), folder / name / "model.safetensors")
        about = {"name": corpus, "licence": "made here", "attribution": "nobody"}
        write_config(folder / name, CheckpointConfig(model, TrainConfig(steps=7), about, step=7))
    return folder


@pytest.fixture
def open_app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """A function that opens the app with these query parameters, by default on "sentences", and runs it once."""
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(checkpoints))

    def start(**parameters: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
        app.query_params.update({"model": "sentences", **parameters})
        return app.run()

    return start
