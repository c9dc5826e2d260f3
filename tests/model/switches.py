"""Every switch of the model in one place, each as what it changes in the small model."""

from typing import Any

SWITCHES: dict[str, dict[str, Any]] = {
    "unscaled": {"score": "unscaled"},
    "unscaled, W_Q divided": {"score": "unscaled", "divide_query": True},
    "scaled-twice": {"score": "scaled-twice"},
    "additive": {"score": "additive", "positions": "alibi"},
    "qk-norm": {"score": "qk-norm", "positions": "rope"},
    "cosine": {"score": "cosine"},
    "uniform": {"mixing": "uniform"},
    "window": {"mixing": "window", "mixing_width": 3},
    "window, alibi": {"mixing": "window", "mixing_width": 3, "positions": "alibi"},
    "window, additive": {"mixing": "window", "mixing_width": 3, "score": "additive"},
    "convolution": {"mixing": "convolution", "mixing_width": 3},
    "RMSNorm after": {"normalization": "rms"},
    "RMSNorm before": {"normalization": "rms", "norm": "pre"},
    "swiglu": {"activation": "swiglu"},
    "experts": {"n_experts": 4, "top_experts": 2},
    "gated experts": {"n_experts": 4, "top_experts": 2, "activation": "swiglu", "norm": "pre"},
    "gru": {"encoder": "gru", "memory": "last"},
    "last": {"memory": "last"},
}
"""All of them decode step by step as they do at once; `causal` false cannot."""
