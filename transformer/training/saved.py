"""What a run keeps in its folder to go on from, and how it takes it up again."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from transformer.checkpoint import read_config, write_config
from transformer.config import TrainConfig
from transformer.folders import CheckpointError, reason, replacing
from transformer.model.transformer import Transformer
from transformer.training.metrics import METRICS_FILE
from transformer.training.progress import Progress, Window
from transformer.training.status import STATE_FILE
from transformer.weights import copy_weights, named_weights, save_weights


def saved_steps(folder: Path) -> list[Path]:
    """The weights saved on the way, oldest first; what a person laid beside them is none of ours."""
    paths = (path for path in (folder / "steps").glob("*.safetensors") if path.stem.isdecimal())
    return sorted(paths, key=lambda path: int(path.stem))


def save_run(
    folder: Path, model: Transformer, optimizer: torch.optim.Optimizer, progress: Progress, train: TrainConfig
) -> None:
    """Write steps/N.safetensors, model.safetensors, config.json's step and, last, state.pt, each in one step."""
    weights, step = named_weights(model), progress.step
    steps = folder / "steps"
    steps.mkdir(exist_ok=True)
    if step % train.save_every == 0 or step >= train.steps:
        # A stop in between leaves none, so that an average is of the same steps whether a run was stopped or not.
        save_weights(weights, steps / f"{step}.safetensors")
    save_weights(weights, folder / "model.safetensors")
    if (folder / "config.json").exists():
        write_config(folder, replace(read_config(folder), weights="last", step=step))
    # Before the state: a run that is killed once that is there and was its last never comes here again.
    for path in saved_steps(folder)[: -train.keep]:
        path.unlink()
    _write_state(folder / STATE_FILE, weights, optimizer, progress, train.steps)


def _write_state(
    path: Path, weights: Mapping[str, Tensor], optimizer: torch.optim.Optimizer, progress: Progress, steps: int
) -> None:
    """Keep everything that read_state takes up, in one step; steps: how many are planned."""
    on_cuda = any(weight.is_cuda for weight in weights.values())
    state = {
        "model": weights,
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
        "random_cuda": torch.cuda.get_rng_state_all() if on_cuda else [],
        "progress": {**vars(progress), "window": vars(progress.window)},
        "steps": steps,
    }
    with replacing(path) as temporary:
        torch.save(state, temporary)


def read_state(path: Path, model: Transformer, optimizer: torch.optim.Optimizer) -> Progress:
    """Where training stood; the model, the optimizer and the random numbers go on from there.

    Raises CheckpointError when the file cannot be read.
    """
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        copy_weights(state["model"], model, path)
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        if state["random_cuda"]:
            torch.cuda.set_rng_state_all(state["random_cuda"])
        progress = state["progress"]
        return Progress(**{**progress, "window": Window(**progress["window"])})
    except CheckpointError:
        raise
    except Exception as error:  # what is broken in a pickle, or in what it holds, raises errors of many kinds
        raise CheckpointError(f"{path} cannot be read, so this run cannot go on: {reason(error)}.") from error


def remove_half_written(folder: Path) -> None:
    """What a process left behind that was killed while it saved."""
    for name in (STATE_FILE, "model.safetensors", "config.json", METRICS_FILE, "steps/"):
        for path in folder.glob(f"{name}*.tmp"):
            path.unlink(missing_ok=True)
