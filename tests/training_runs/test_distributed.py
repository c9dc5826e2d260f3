"""A world of processes, seen from one of them without the others."""

import pytest
import torch

from transformer.config import ConfigError
from transformer.text.batches import make_batch
from transformer.training.distributed import ALONE, World

BATCH = make_batch([([5, 6, 7], [7, 6, 5]), ([8], [8]), ([9, 10], [10, 9])])


def test_alone_nothing_is_shared_or_changed():
    module = torch.nn.Linear(2, 2)
    random = torch.get_rng_state()
    ALONE.reseed(1, 2)
    ALONE.wait()
    assert torch.equal(torch.get_rng_state(), random)
    assert ALONE.leads
    assert ALONE.share(module) is module
    assert ALONE.sum(1.5, 2.5) == [1.5, 2.5]
    assert ALONE.any(True)
    assert not ALONE.any(False)
    assert ALONE.part_of(BATCH) == (BATCH, 1.0)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_parts_of_a_batch_are_the_batch(size):
    parts = [World(rank, size).part_of(BATCH) for rank in range(size)]
    assert sum(part.n_target_tokens for part, counts in parts if counts) == BATCH.n_target_tokens
    assert sum(len(part.source) for part, counts in parts if counts) == 3
    assert [counts for _, counts in parts] == [float(rank < 3) for rank in range(size)]
    assert all(len(part.source) for part, _ in parts)


def test_torchrun_describes_the_world(monkeypatch):
    assert World.from_environment().alone
    for name, value in {"RANK": 5, "WORLD_SIZE": 8, "LOCAL_RANK": 1, "LOCAL_WORLD_SIZE": 4}.items():
        monkeypatch.setenv(name, str(value))
    world = World.from_environment()
    assert (world.rank, world.size, world.local_rank, world.local_size) == (5, 8, 1, 4)
    assert not world.leads
    monkeypatch.setenv("RANK", "many")
    assert World.from_environment().alone


def test_processes_draw_apart_and_a_resume_draws_the_same():
    def draw(rank: int, step: int) -> float:
        World(rank, 2).reseed(3, step)
        return float(torch.rand(()))

    assert draw(0, 7) == draw(0, 7)
    assert len({draw(rank, step) for rank in range(2) for step in range(20)}) == 40


def test_several_processes_on_another_device_are_refused():
    with pytest.raises(ConfigError, match="device is mps; several processes can train on cuda or cpu"):
        World(0, 2).join(torch.device("mps"))
