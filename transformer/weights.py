"""A model's weights as a safetensors file: tied matrices once, names and shapes checked, averages summed in float64."""

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from transformer.folders import CheckpointError, reason, replacing


def save_weights(weights: dict[str, Tensor], path: Path, dtype: torch.dtype | None = None) -> None:
    """Write named weights, in their own or the given precision, replacing the file in one step."""
    contiguous = {name: weight.detach().to("cpu", dtype).contiguous() for name, weight in weights.items()}
    with replacing(path) as temporary:
        # Not save_file: it writes to a temporary file of its own, under a name that nobody finds when it is killed.
        temporary.write_bytes(save(contiguous))


def named_weights(model: nn.Module) -> dict[str, Tensor]:
    """The model's parameters by name, tied ones once, under the first of their names."""
    return dict(model.named_parameters())


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights in a file. Raises CheckpointError when it is missing or not a whole safetensors file."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be read as weights: {reason(error)}.") from error


def load_weights(model: nn.Module, path: Path) -> None:
    """Copy a file's weights into the model, in the model's precision.

    Raises CheckpointError, naming the weight, when one is missing, unknown, or of another shape.
    """
    copy_weights(read_weights(path), model, path)


def copy_weights(weights: dict[str, Tensor], model: nn.Module, path: Path) -> None:
    """Copy named weights into the model, in its precision; `path` is where they were read.

    Raises CheckpointError, naming the weight, when one is missing, unknown, or of another shape.
    """
    parameters = named_weights(model)
    for name in [*parameters, *weights]:
        if name not in weights:
            raise CheckpointError(f"{path} has no weight {name!r}, which the model in config.json needs.")
        if name not in parameters:
            raise CheckpointError(f"{path} has a weight {name!r}, which the model in config.json does not know.")
        expected, found = tuple(parameters[name].shape), tuple(weights[name].shape)
        if expected != found:
            raise CheckpointError(f"{path}: weight {name!r} has shape {found}; config.json asks for {expected}.")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])


def average_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of several files' weights, summed in float64 and given in float32, or float64 where they are (§6.1).

    Raises CheckpointError when there is no file, or the files do not hold the same weights.
    """
    if not paths:
        raise CheckpointError("There are no saved steps to average; train with save_every and keep first.")
    first = read_weights(paths[0])
    total = {name: torch.zeros_like(weight, dtype=torch.float64) for name, weight in first.items()}
    for path in paths:
        weights = read_weights(path)
        if {name: w.shape for name, w in weights.items()} != {name: w.shape for name, w in first.items()}:
            raise CheckpointError(f"{path} and {paths[0]} do not hold the same weights and cannot be averaged.")
        for name, weight in weights.items():
            total[name] += weight
    # Not in half precision: the mean of weights that fit into it seldom does.
    kept = {name: torch.promote_types(weight.dtype, torch.float32) for name, weight in first.items()}
    return {name: (weight / len(paths)).to(kept[name]) for name, weight in total.items()}
