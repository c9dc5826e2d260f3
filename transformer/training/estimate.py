"""How large a run will be, before it is started: parameters, memory and time. Imports no torch."""

import time
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from transformer.config import ModelConfig, TrainConfig
from transformer.text.algorithmic import vocabulary_size
from transformer.training.device import Device, find_device, n_cores
from transformer.training.request import RunRequest

_PROCESS = 300 * 2**20
"""Bytes of a process that has imported torch and holds a corpus."""
_GPU_FLOPS = {"cuda": 4e13, "mps": 2e12}
"""Floating-point operations a second that training reaches, by kind of device; a guess, within a factor of ten."""
_BUSY = 2e-3
"""Seconds that a step spends on each layer, whatever its size."""


@dataclass(frozen=True)
class Estimate:
    """What a run needs, about."""

    parameters: int
    memory: int
    """Bytes, on its device; within a third on the CPU, and too much on a GPU."""
    seconds: float | None
    """Without the wait for the device; None where the budget is in epochs. Within a factor of two on a quiet CPU, and a
    rough guess on a GPU, whose speed is known when training has begun."""
    device: Device

    @property
    def fits(self) -> bool:
        """Whether the device has that much memory."""
        return self.memory < self.device.memory


def estimate(request: RunRequest) -> Estimate:
    """The size of the run that a request asks for. Raises ConfigError when there is no such device."""
    device = find_device(request.device)
    pieces = vocabulary_size(request.corpus) or request.train.vocab_size
    model = replace(request.model, vocab_size=min(pieces, request.train.vocab_size)).resolved()
    seconds = None if request.minutes is None else 60 * request.minutes
    if request.steps is not None:
        seconds = request.steps * _seconds_a_step(model, request.train, device)
    return Estimate(n_parameters(model), _memory(model, request.train), seconds, device)


def n_parameters(model: ModelConfig) -> int:
    """Trained numbers of a model, tied ones counted once: exactly what Transformer(model).n_parameters says."""
    d, layers = model.d_model, _layers(model)
    in_encoder = 2 * model.n_encoder_layers if model.encoder == "attention" else 0
    n_norms = in_encoder + 3 * model.n_decoder_layers + (2 if model.norm == "pre" else 0)
    norms = n_norms * d * (2 if model.normalization == "layer" else 1)
    embeddings = model.vocab_size * d * (1 if model.tied_embeddings else 3)
    return sum(layers) + norms + embeddings + (model.max_length * d if model.positions == "learned" else 0)


def _layers(model: ModelConfig) -> tuple[int, int]:
    """Weights and biases of all encoder layers and of all decoder layers, norms left out."""
    model = model.resolved()
    assert model.d_k is not None and model.d_v is not None
    d, keys, values = model.d_model, model.n_heads * model.d_k, model.n_heads * model.d_v
    mixing = (d + 1) * values + (values + 1) * d
    compared = 2 * (d + 1) * keys + {"additive": keys, "qk-norm": 1}.get(model.score, 0)
    compares = model.mixing in ("softmax", "window")
    own = mixing + (compared if compares else 0)
    if model.mixing == "convolution":
        own += model.n_heads * model.mixing_width
    feed_forward = _feed_forward(model, model.d_ff)
    if model.n_experts > 1:
        feed_forward = model.n_experts * (_feed_forward(model, model.d_ff // model.top_experts) + d)
    encoder = own + feed_forward if model.encoder == "attention" else 6 * d * d + 6 * d
    return model.n_encoder_layers * encoder, model.n_decoder_layers * (own + mixing + compared + feed_forward)


def _feed_forward(model: ModelConfig, d_ff: int) -> int:
    d = model.d_model
    if model.activation == "swiglu":
        width = -(-2 * d_ff // 24) * 8
        return 2 * (d + 1) * width + (width + 1) * d
    return (d + 1) * d_ff + (d_ff + 1) * d


def _memory(model: ModelConfig, train: TrainConfig) -> int:
    """Weights, gradients and Adam's two means in float32, and what a batch leaves behind for the backward pass.

    The factors are fitted to the peak of resident memory in training tiny, small and base on the CPU.
    """
    d, d_ff = model.d_model, model.d_ff
    encoder = model.n_encoder_layers * (19 * d + 1.4 * d_ff)
    decoder = model.n_decoder_layers * (28 * d + 1.4 * d_ff)
    return int(16 * n_parameters(model) + 4 * train.batch_tokens * (encoder + decoder) + _PROCESS)


def _seconds_a_step(model: ModelConfig, train: TrainConfig, device: Device) -> float:
    """6 operations for each weight and token, forward and backward, at the speed that this width reaches."""
    operations = 6 * (sum(_layers(model)) + model.vocab_size * model.d_model) * train.batch_tokens
    if device.kind == "cpu":
        speed = _cpu_flops() * 0.8 * min(1.0, model.d_model / 512) ** 0.35
    else:
        speed = _GPU_FLOPS[device.kind]
    overhead = _BUSY * (model.n_encoder_layers + model.n_decoder_layers)
    return train.accumulate * (operations / speed + overhead)


@cache
def _cpu_flops() -> float:
    """Floating-point operations a second in multiplying matrices, if all cores were free."""
    n = 1024
    a, best = np.ones((n, n), np.float32), float("inf")
    for _ in range(3):
        started = time.process_time()  # of all threads together, without the time that other programs take
        np.matmul(a, a)
        best = min(best, time.process_time() - started)
    return 2 * n**3 / best * n_cores()
