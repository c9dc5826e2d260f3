"""The same on a GPU, where there is one."""

import pytest
import torch

from tests.training_runs.small_runs import do, go_on
from transformer import load_checkpoint
from transformer.training.probes import load_probes
from transformer.training.runs import get_run
from transformer.training.status import STOP_FILE
from transformer.training.trainer import Trainer

pytestmark = [
    pytest.mark.filterwarnings("ignore:The text allows a vocabulary"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device here"),
]


def test_a_run_on_a_gpu_stops_goes_on_and_finishes(ask, folder, monkeypatch):
    step = Trainer._step

    def stops(self: Trainer, batches) -> float:
        assert self.device.type == "cuda"
        if self.progress.step == 3:
            (folder / "one" / STOP_FILE).touch()
        return step(self, batches)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", stops)
        assert not do(ask("one", device="auto", probes=("a b c",)))
    assert go_on("one")
    run = get_run("one")
    assert (run.state, run.step) == ("finished", 6)
    assert run.device.startswith("cuda:0 (")
    assert load_checkpoint("one").config.step == 6
    assert load_probes(folder / "one")[0].steps == tuple(range(7))


def test_minutes_are_measured_on_a_gpu(ask):
    assert do(ask("one", device="cuda", minutes=0.05))
    assert get_run("one").state == "finished"
