"""Presets: base, big, every row of Table 3 as the paper has it, and the small ones."""

from dataclasses import asdict
from typing import Any

import pytest

from transformer.config import ConfigError
from transformer.presets import BASE, PRESETS, TABLE_3, Preset, derive, get_preset

LAYERS = ("n_encoder_layers", "n_decoder_layers")
PAPER: dict[str, dict[str, Any]] = {
    "A-h1": {"n_heads": 1, "d_k": 512, "d_v": 512},
    "A-h4": {"n_heads": 4, "d_k": 128, "d_v": 128},
    "A-h16": {"n_heads": 16, "d_k": 32, "d_v": 32},
    "A-h32": {"n_heads": 32, "d_k": 16, "d_v": 16},
    "B-dk16": {"d_k": 16},
    "B-dk32": {"d_k": 32},
    "C-n2": dict.fromkeys(LAYERS, 2),
    "C-n4": dict.fromkeys(LAYERS, 4),
    "C-n8": dict.fromkeys(LAYERS, 8),
    "C-d256": {"d_model": 256, "d_k": 32, "d_v": 32},
    "C-d1024": {"d_model": 1024, "d_k": 128, "d_v": 128},
    "C-ff1024": {"d_ff": 1024},
    "C-ff4096": {"d_ff": 4096},
    "D-drop0": {"p_drop": 0.0},
    "D-drop0.2": {"p_drop": 0.2},
    "D-smooth0": {"label_smoothing": 0.0},
    "D-smooth0.2": {"label_smoothing": 0.2},
    "E-learned": {"positions": "learned"},
}
"""The cells of Table 3 that are not blank, d_k and d_v of every head written out."""

BIG = {"d_model": 1024, "d_ff": 4096, "n_heads": 16, "p_drop": 0.3, "steps": 300_000, "keep": 20}
"""Its last row, and the 20 checkpoints that §6.1 averages."""


def values(preset: Preset) -> dict[str, Any]:
    """Every field by name, the model's with d_k and d_v filled in."""
    train = {f"train.{name}" if name == "vocab_size" else name: v for name, v in asdict(preset.train).items()}
    return asdict(preset.model.resolved()) | train


def differences(preset: Preset) -> dict[str, Any]:
    base = values(BASE)
    return {name: value for name, value in values(preset).items() if value != base[name]}


def test_table_3_has_18_variants_in_the_papers_order():
    assert list(TABLE_3) == list(PAPER)
    assert len(TABLE_3) == 18
    assert [name[0] for name in TABLE_3] == list("AAAABBCCCCCCCDDDDE")
    assert set(TABLE_3) <= set(PRESETS)


@pytest.mark.parametrize("name", PAPER)
def test_a_row_differs_from_base_in_what_the_paper_says_and_in_nothing_else(name: str):
    assert differences(PRESETS[name]) == PAPER[name]


@pytest.mark.parametrize("name", ["B-dk16", "B-dk32"])
def test_rows_b_keep_d_v_at_64(name: str):
    assert PRESETS[name].model.resolved().d_v == 64


def test_base_and_big():
    assert PRESETS["base"] == BASE
    assert differences(PRESETS["base"]) == {}
    assert differences(PRESETS["big"]) == BIG
    assert (PRESETS["big"].model.resolved().d_k, PRESETS["big"].model.resolved().d_v) == (64, 64)


@pytest.mark.parametrize(("name", "shape"), [("tiny", (4, 4, 128, 256, 4)), ("small", (3, 3, 256, 512, 4))])
def test_small_presets(name: str, shape: tuple[int, ...]):
    model = PRESETS[name].model
    assert (model.n_encoder_layers, model.n_decoder_layers, model.d_model, model.d_ff, model.n_heads) == shape
    assert model.vocab_size <= PRESETS[name].train.vocab_size or model.vocab_size == BASE.model.vocab_size


def test_deriving_changes_whichever_configuration_has_the_field():
    changed = derive(BASE, {"n_heads": 4, "warmup": 10, "vocab_size": 5000})
    assert (changed.model.n_heads, changed.train.warmup) == (4, 10)
    assert changed.model.vocab_size == changed.train.vocab_size == 5000
    assert derive(changed, {"n_heads": 8, "warmup": 4000, "vocab_size": 37_000}) == BASE
    assert derive(BASE, {}) == BASE


def test_a_field_that_neither_has_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match=r"^There is no field 'heads'; the fields are vocab_size, d_model, .*\.$"):
        derive(BASE, {"heads": 4})
    with pytest.raises(ConfigError, match=r"^ModelConfig\.p_drop is 2; allowed is "):
        derive(BASE, {"p_drop": 2})


def test_an_unknown_preset_is_refused_with_those_there_are():
    assert get_preset("B-dk16") == PRESETS["B-dk16"]
    with pytest.raises(ConfigError, match=r"^There is no preset 'huge'; the presets are base, big, A-h1, .*small.*\.$"):
        get_preset("huge")
