"""The same numbers as in metrics.jsonl, for TensorBoard, where it is installed."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def tensorboard(folder: Path, step: int) -> Callable[[dict[str, Any]], None]:
    """What writes lines of metrics.jsonl to an event file in the folder; it does nothing without tensorboard.

    step: where training goes on from; what older event files say of later steps no longer counts.
    """
    if find_spec("tensorboard") is None:
        return lambda line: None
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(folder), purge_step=step + 1)

    def write(line: dict[str, Any]) -> None:
        for name, value in line.items():
            if name != "step":
                writer.add_scalar(name, value, line["step"])
        writer.flush()

    return write
