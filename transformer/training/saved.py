"""What a run keeps in its folder to go on from, and how it takes it up again."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from transformer.folders import CheckpointError, replacing
from transformer.model.transformer import Transformer
from transformer.training.metrics import METRICS_FILE
from transformer.training.progress import Progress, Window
from transformer.weights import copy_weights

STATE_FILE = "state.pt"


def saved_steps(folder: Path) -> list[Path]:
    """The weights saved on the way, oldest first."""
    return sorted((folder / "steps").glob("*.safetensors"), key=lambda path: int(path.stem))


def write_state(
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
        weights, optimizer_state = state["model"], state["optimizer"]
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise CheckpointError(f"{path} cannot be read, so this run cannot go on: {reason}.") from error
    copy_weights(weights, model, path)
    optimizer.load_state_dict(optimizer_state)
    torch.set_rng_state(state["random"])
    if state["random_cuda"]:
        torch.cuda.set_rng_state_all(state["random_cuda"])
    window = Window(**state["progress"].pop("window"))
    return Progress(**state["progress"], window=window)


def remove_half_written(folder: Path) -> None:
    """What a process left behind that was killed while it saved."""
    for pattern in ("state.pt.*.tmp", "model.safetensors.*.tmp", f"{METRICS_FILE}.*.tmp", "steps/*.tmp"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
