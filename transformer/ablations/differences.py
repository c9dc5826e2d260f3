"""What sets one configuration apart from another, in words. Light; needs no torch."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from transformer.config import ModelConfig, TrainConfig

_NAMES = {
    "vocab_size": "pieces in the vocabulary",
    "n_heads": "heads",
    "n_encoder_layers": "encoder layers",
    "n_decoder_layers": "decoder layers",
    "p_drop": "dropout",
    "p_drop_attention": "dropout on attention weights",
    "norm": "normalization, where",
    "normalization": "normalization, which",
    "n_experts": "experts",
    "top_experts": "experts a token",
    "divide_query": "W_Q divided by √d_k at the start",
    "mixing": "mixing in self-attention",
    "mixing_width": "width of mixing",
    "causal": "causal mask",
    "memory": "what the decoder sees of the source",
    "tied_embeddings": "tied embeddings",
    "max_length": "longest text",
    "batch_tokens": "tokens a batch",
    "accumulate": "batches a step",
    "warmup": "warmup steps",
    "lr_factor": "learning rate factor",
    "cooldown": "cooldown steps",
    "clip_norm": "longest gradient",
    "label_smoothing": "label smoothing",
    "balance": "weight of the load-balance loss",
}
_SILENT = {"log_every", "validate_every", "save_every", "keep"}
"""Change nothing about the model."""


def differences(
    one: tuple[ModelConfig, TrainConfig], other: tuple[ModelConfig, TrainConfig], *, seeds: bool = True
) -> list[str]:
    """What the second has in place of what the first has: "heads 1 (not 4)"; empty where they are alike.

    Widths of a head that follow from d_model and heads are said only where they differ. seeds: whether the seed counts.
    """
    (model, train), (other_model, other_train) = one, other
    silent = _SILENT if seeds else {*_SILENT, "seed"}
    before, after = asdict(model.resolved()), asdict(other_model.resolved())
    # Both have a vocab_size: the model's is what there is, the training's what was wished for.
    before |= {name: value for name, value in asdict(train).items() if name not in before}
    after |= {name: value for name, value in asdict(other_train).items() if name not in after}
    return [
        f"{_NAMES.get(name, name)} {_said(after[name])} (not {_said(before[name])})"
        for name in before
        if before[name] != after[name] and name not in silent and _counts(name, before, after)
    ]


def _counts(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """False for a number that belongs to a switch which neither has on."""
    if name == "mixing_width":
        return any(values["mixing"] in ("window", "convolution") for values in (before, after))
    if name in ("top_experts", "balance"):
        return any(values["n_experts"] > 1 for values in (before, after))
    return True


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
