"""Named configurations: the paper's base and big models, every row of Table 3, and small ones, each as a difference."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from transformer.config import ConfigError, ModelConfig, TrainConfig


@dataclass(frozen=True)
class Preset:
    """A named ModelConfig and TrainConfig."""

    model: ModelConfig
    train: TrainConfig


def _layers(n: int) -> dict[str, Any]:
    return {"n_encoder_layers": n, "n_decoder_layers": n}


BASE = Preset(ModelConfig(), TrainConfig())

TABLE_3: dict[str, dict[str, Any]] = {
    "A-h1": {"n_heads": 1},
    "A-h4": {"n_heads": 4},
    "A-h16": {"n_heads": 16},
    "A-h32": {"n_heads": 32},
    "B-dk16": {"d_k": 16},
    "B-dk32": {"d_k": 32},
    "C-n2": _layers(2),
    "C-n4": _layers(4),
    "C-n8": _layers(8),
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
"""What each row of Table 3 changes in the base model; the letter is the row's, in the paper's order."""

_SMALL_TRAIN = TrainConfig(steps=6000, batch_tokens=4096, vocab_size=8000, warmup=1000, lr_factor=1.0)

# A batch holds strings of about one length: steps over three of them, and a longer memory of squared gradients than the
# paper's, keep so short a run from forgetting one length while it learns another. 99 % of unseen strings after 350
# steps with every seed tried; with one batch a step and beta2 = 0.98 it took 1,200, and fell back now and then.
_REVERSE_SMALL = Preset(
    ModelConfig(d_model=64, d_ff=128, n_heads=4, p_drop=0.0, **_layers(2)),
    TrainConfig(
        steps=500, batch_tokens=500, accumulate=3, vocab_size=300, warmup=100, lr_factor=0.2, beta2=0.999,
        log_every=5, validate_every=50, save_every=50,
    ),
)  # fmt: skip


# Wu et al., ACL 2021, "Transformer-Tiny": 41.02 BLEU on Multi30k's test_2016_flickr, lower-cased and Moses-tokenised.
# Two batches a step for their two GPUs, and a peak learning rate of 0.005, which is 2.53 times the paper's.
_YARDSTICK = Preset(
    ModelConfig(d_model=128, d_ff=256, n_heads=4, p_drop=0.3, **_layers(4)),
    TrainConfig(
        steps=8000, batch_tokens=4096, accumulate=2, vocab_size=10_000, warmup=2000, lr_factor=2.53, keep=10,
        save_every=100, validate_every=200,
    ),
)  # fmt: skip


def derive(preset: Preset, changes: dict[str, Any]) -> Preset:
    """The preset with some fields changed, each in whichever of the two configurations has it.

    Raises ConfigError for a field that neither has, or a value that is not allowed.
    """
    model, train = asdict(preset.model), asdict(preset.train)
    for field in changes:
        if field not in model and field not in train:
            raise ConfigError(f"There is no field {field!r}; the fields are {', '.join([*model, *train])}.")
    for_model = {field: value for field, value in changes.items() if field in model}
    for_train = {field: value for field, value in changes.items() if field in train}
    return Preset(replace(preset.model, **for_model), replace(preset.train, **for_train))


PRESETS: dict[str, Preset] = {
    "base": BASE,
    "big": derive(BASE, {"d_model": 1024, "d_ff": 4096, "n_heads": 16, "p_drop": 0.3, "steps": 300_000, "keep": 20}),
    **{name: derive(BASE, changes) for name, changes in TABLE_3.items()},
    "tiny": Preset(ModelConfig(d_model=128, d_ff=256, n_heads=4, **_layers(4)), _SMALL_TRAIN),
    "small": Preset(ModelConfig(d_model=256, d_ff=512, n_heads=4, **_layers(3)), _SMALL_TRAIN),
    "reverse-small": _REVERSE_SMALL,
    "yardstick-multi30k": _YARDSTICK,
}


def get_preset(name: str) -> Preset:
    """The preset of that name. Raises ConfigError when there is none."""
    if name not in PRESETS:
        raise ConfigError(f"There is no preset {name!r}; the presets are {', '.join(PRESETS)}.")
    return PRESETS[name]
