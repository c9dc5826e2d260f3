"""One run on several processes, started by torchrun: each takes some rows of every batch, gradients are summed.

A batch means the same however many processes share it: dropout and the balance of experts aside, a run learns the same
on one GPU and on eight, and may go on on another number of them. All processes see the same checkpoints folder; rank 0
writes.
"""

import os
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from transformer.config import ConfigError

if TYPE_CHECKING:
    import torch
    from torch import nn

    from transformer.text.batches import Batch

_QUEUE = timedelta(days=30)
"""How long other ranks wait for rank 0, which may have to wait for the device; torchrun ends them when a rank dies."""


class World:
    """The processes that share a run, seen from one of them; by default it is alone."""

    def __init__(self, rank: int = 0, size: int = 1, local_rank: int = 0, local_size: int = 1) -> None:
        self.rank, self.size = rank, size
        self.local_rank, self.local_size = local_rank, local_size
        self._device: Any = "cpu"

    @classmethod
    def from_environment(cls) -> "World":
        """The world that torchrun describes in the environment of its processes."""
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
        if not all(os.environ.get(name, "").isdecimal() for name in names):
            return cls()
        return cls(*(int(os.environ[name]) for name in names))

    @property
    def leads(self) -> bool:
        """Whether this process writes to the disk and talks to people."""
        return self.rank == 0

    @property
    def alone(self) -> bool:
        return self.size == 1

    def join(self, device: "torch.device") -> None:
        """Meet the other processes: over NCCL on CUDA, over gloo on the CPU. Raises ConfigError for another device."""
        if self.alone:
            return
        import torch.distributed as dist

        if device.type not in ("cuda", "cpu"):
            raise ConfigError(f"device is {device.type}; several processes can train on cuda or cpu.")
        self._device = device
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_QUEUE)

    def leave(self) -> None:
        """Part from the others, if they were met."""
        if not self.alone:
            import torch.distributed as dist

            if dist.is_initialized():
                dist.destroy_process_group()

    def wait(self) -> None:
        """Return when every process has come here."""
        self.sum(0.0)

    def sum(self, *values: float) -> list[float]:
        """Each value summed over all processes, in float64."""
        if self.alone:
            return list(values)
        import torch
        import torch.distributed as dist

        total = torch.tensor(values, dtype=torch.float64, device=self._device)
        dist.all_reduce(total)
        return total.tolist()

    def any(self, flag: bool) -> bool:
        """Whether it is true in any process."""
        return self.sum(float(flag))[0] > 0

    def of_leader(self, value: float) -> float:
        """Rank 0's value, in every process."""
        return self.sum(value if self.leads else 0.0)[0]

    def part_of(self, batch: "Batch") -> tuple["Batch", float]:
        """This process's rows of a batch, and what their loss counts: 0 where it has none of its own and takes any."""
        if self.alone:
            return batch, 1.0
        n_rows = len(batch.source)
        rows = slice(self.rank, None, self.size) if self.rank < n_rows else slice(0, 1)
        part = type(batch)(batch.source[rows], batch.target_in[rows], batch.target_out[rows])
        return part, float(self.rank < n_rows)

    def share(self, module: "nn.Module") -> "nn.Module":
        """The module, its gradients averaged over all processes after each backward pass."""
        if self.alone:
            return module
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(module, broadcast_buffers=False)

    def summing(self, module: "nn.Module", *, last: bool) -> AbstractContextManager[Any]:
        """For a backward pass on a shared module: gradients meet only in the last of those that are summed."""
        return nullcontext() if self.alone or last else module.no_sync()  # type: ignore[operator]

    def reseed(self, seed: int, step: int) -> None:
        """Give each process dropout of its own, a function of seed, step and rank, so that a resume draws the same."""
        if not self.alone:
            import torch

            torch.manual_seed(((seed * 2**32 + step) * self.size + self.rank) % 2**63)


ALONE = World()
