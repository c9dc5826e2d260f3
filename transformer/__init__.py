"""Roundtable's Transformers: configuration, training, decoding, and traces of every attention head.

Nothing heavy is imported before it is used, so that an app can paint its first page at once.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Checkpoint": "transformer.checkpoint",
    "load_checkpoint": "transformer.checkpoint",
    "list_checkpoints": "transformer.folders",
    "ModelConfig": "transformer.config",
    "TrainConfig": "transformer.config",
    "PRESETS": "transformer.presets",
    "Transformer": "transformer.model",
    "Trace": "transformer.analysis.trace",
    "load_trace": "transformer.analysis.trace",
    "SwitchOff": "transformer.analysis.interventions",
    "SetUniform": "transformer.analysis.interventions",
    "ReplaceRow": "transformer.analysis.interventions",
}

__all__ = ["__version__", *_HOME]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
