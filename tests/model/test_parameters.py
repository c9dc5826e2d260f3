"""Parameters of every preset at full size: our exact formula, and the column of Table 3 within 5 million."""

import pytest
import torch

from transformer.config import ModelConfig
from transformer.model import Transformer
from transformer.presets import PRESETS

TABLE_3 = {
    "base": 65, "B-dk16": 58, "B-dk32": 60, "C-n2": 36, "C-n4": 50, "C-n8": 80, "C-d256": 28, "C-d1024": 168,
    "C-ff1024": 53, "C-ff4096": 90, "big": 213,
}  # fmt: skip
"""Millions; the rows in which the paper gives a number."""

OURS = {
    "base": 63.1, "B-dk16": 56.0, "B-dk32": 58.4, "C-n2": 33.7, "C-n4": 48.4, "C-n8": 77.8, "C-d256": 26.8,
    "C-d1024": 163.9, "C-ff1024": 50.5, "C-ff4096": 88.3, "big": 214.2,
}  # fmt: skip
"""Millions, worked out apart from this code."""


def formula(config: ModelConfig) -> int:
    """Weights and biases of attention and feed-forward, two numbers a LayerNorm and dimension, embeddings once."""
    d, h = config.d_model, config.n_heads
    d_k, d_v = config.d_k or d // h, config.d_v or d // h
    attention = 2 * (d + 1) * h * d_k + (d + 1) * h * d_v + (h * d_v + 1) * d
    feed_forward = (d + 1) * config.d_ff + (config.d_ff + 1) * d
    encoder = config.n_encoder_layers * (attention + feed_forward + 2 * 2 * d)
    decoder = config.n_decoder_layers * (2 * attention + feed_forward + 3 * 2 * d)
    final_norms = 2 * 2 * d if config.norm == "pre" else 0
    embeddings = config.vocab_size * d * (1 if config.tied_embeddings else 3)
    positions = config.max_length * d if config.positions == "learned" else 0
    return encoder + decoder + final_norms + embeddings + positions


def count(config: ModelConfig) -> int:
    with torch.device("meta"):
        return Transformer(config).n_parameters


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_as_many_parameters_as_the_formula_says(name: str):
    assert count(PRESETS[name].model) == formula(PRESETS[name].model)


@pytest.mark.parametrize(
    "changes",
    [
        {"norm": "pre"},
        {"tied_embeddings": False},
        {"positions": "none"},
        {"positions": "learned", "max_length": 100},
        {"n_encoder_layers": 1, "n_decoder_layers": 3},
        {"d_k": 3, "d_v": 5, "n_heads": 7},
    ],
)
def test_the_formula_holds_for_what_no_preset_has(changes: dict):
    config = ModelConfig(**changes)
    assert count(config) == formula(config)


@pytest.mark.parametrize("name", TABLE_3)
def test_the_papers_column_within_5_million(name: str):
    assert PRESETS[name].model.vocab_size == 37_000
    n_parameters = count(PRESETS[name].model)
    assert abs(n_parameters - TABLE_3[name] * 1e6) <= 5e6
    assert n_parameters / 1e6 == pytest.approx(OURS[name], abs=0.05)


def test_at_equal_width_the_projections_cost_the_same_whatever_the_number_of_heads():
    assert len({count(PRESETS[name].model) for name in ("base", "A-h1", "A-h4", "A-h16", "A-h32")}) == 1
