"""What stands beside a model's scores in the tables: its size, what it was trained on, how fast, and by which code."""

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

import torch

from transformer import __version__
from transformer.checkpoint import read_config
from transformer.folders import SHIPPED
from transformer.training.estimate import n_parameters
from transformer.training.metrics import read_metrics
from transformer.training.trainer import Trainer


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Columns of the tables, under their names there (see transformer.ablations.results.Result)."""

    parameters: int
    target_tokens: int
    tokens_per_second: float | None
    device: str
    diverged_at: int | None
    version: str


def facts_of(folder: Path, trainer: Trainer | None = None, diverged_at: int | None = None) -> Facts:
    """The facts of a model in a folder, of which `trainer` may know more."""
    logged = [line for line in read_metrics(folder) if "n_tokens" in line]
    speeds = [line["tokens_per_second"] for line in logged]
    here = f"{trainer.device.type}, {torch.get_num_threads()} threads" if trainer is not None else ""
    return Facts(
        parameters=n_parameters(read_config(folder).model),
        target_tokens=trainer.progress.n_tokens if trainer is not None else logged[-1]["n_tokens"] if logged else 0,
        tokens_per_second=round(median(speeds), 1) if speeds else None,
        device=here.replace("1 threads", "1 thread"),
        diverged_at=diverged_at,
        version=code_version(),
    )


@cache
def code_version() -> str:
    """The version, and in a checkout the commit, with a + where files differ from it."""
    git = ["git", "-C", str(SHIPPED.parent), "describe", "--always", "--abbrev=8", "--exclude=*", "--dirty=+"]
    try:
        commit = subprocess.run(git, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return __version__
    return f"{__version__} {commit}"
