"""A finished run's weights replaced by the mean of its last saved ones (§6.1)."""

import os
from dataclasses import replace
from pathlib import Path

import torch

from transformer.checkpoint import read_config, write_config
from transformer.folders import CheckpointError
from transformer.training.launch import take_run
from transformer.training.saved import saved_steps
from transformer.weights import average_weights, save_weights


def average_checkpoint(folder: Path, last: int, half: bool = False) -> list[int]:
    """Average the last saved steps of the run in `folder`; the steps that went in.

    Raises CheckpointError when fewer than `last` are there, or the run has a process, which would write over the mean.
    """
    paths = saved_steps(folder)
    if not 1 <= last <= len(paths):
        raise CheckpointError(f"{folder} has {len(paths)} saved steps; {last} cannot be averaged.")
    descriptor = take_run(folder)
    try:
        chosen = paths[-last:]
        save_weights(average_weights(chosen), folder / "model.safetensors", torch.float16 if half else None)
        steps = [int(path.stem) for path in chosen]
        config = replace(read_config(folder), weights=f"average of the last {last}", step=steps[-1])
        write_config(folder, config)
        return steps
    finally:
        os.close(descriptor)
