"""Real processes: started, watched, killed, resumed and stopped from outside, as pages and shells do."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training_runs.small_runs import curve, do
from tests.training_runs.waiting import wait_for, wait_until
from transformer import load_checkpoint
from transformer.checkpoint import read_config
from transformer.folders import list_checkpoints
from transformer.training import locks, runs
from transformer.training.metrics import MetricsReader, read_metrics
from transformer.training.probes import load_probes

ROOT = Path(__file__).resolve().parent.parent.parent
ENDLESS = {"steps": 1_000_000, "save_every": 5, "validate_every": 7, "log_every": 1}
pytestmark = pytest.mark.filterwarnings("ignore:The text allows a vocabulary")


def test_a_run_from_its_start_by_a_server_that_dies_to_its_end(ask, folder):
    """One story, since processes cost seconds: queued, running, killed, lost, resumed, stopped, renamed, deleted."""
    server = subprocess.run(
        [sys.executable, "-c", SERVER, ask("first", **ENDLESS).corpus], cwd=ROOT, text=True, capture_output=True
    )
    assert server.returncode == 0, server.stderr

    # Both live on without whoever started them: one trains, the other waits, and nothing heavy is in its memory.
    wait_until("first", "running")
    wait_for(lambda: "Waiting for first" in runs.get_run("second").message, "the second run waits for the first")
    assert runs.get_run("second").state == "queued"
    waiting = locks.owner(folder / "second" / "lock")
    assert waiting is not None
    maps = Path(f"/proc/{waiting.pid}/maps")
    assert not maps.exists() or "libtorch" not in maps.read_text()

    # It can be watched and loaded while it trains.
    reader = MetricsReader(folder / "first")
    wait_for(lambda: reader.update() and runs.get_run("first").loadable, "the first run is saved")
    checkpoint = load_checkpoint("first")
    assert checkpoint.config.step % 5 == 0
    assert checkpoint.translate(["a b c"], beam=1)
    run = runs.get_run("first")
    assert (run.state, run.steps, run.corpus) == ("running", 1_000_000, "letters.tsv")
    assert "first" in list_checkpoints()

    # Killed with its whole group, it is found lost; the one that waited takes its turn, and is stopped.
    owner = locks.owner(folder / "first" / "lock")
    assert owner is not None
    assert os.getpgid(owner.pid) == owner.pid
    os.killpg(owner.pid, signal.SIGKILL)
    assert wait_until("first", "lost").resumable
    load_checkpoint("first")
    wait_until("second", "running")
    wait_for(lambda: read_metrics(folder / "second"), "the second run has taken a step")
    assert runs.stop("second", grace=120) == "stopped"
    assert load_checkpoint("second").config.step == runs.get_run("second").step > 0

    # Resumed, it goes on from what was saved.
    saved = read_config(folder / "first").step
    runs.resume("first")
    wait_until("first", "running")
    wait_for(lambda: runs.get_run("first").step > saved, "the first run goes on")
    assert runs.stop("first", grace=120) == "stopped"
    steps = [line["step"] for line in read_metrics(folder / "first") if "nll" in line]
    assert steps == list(range(1, runs.get_run("first").step + 1))
    assert load_probes(folder / "first")[0].steps[:3] == (0, 1, 2)
    assert "step 1/1000000" in runs.get_run("first").log(10_000)

    runs.rename("first", "renamed")
    runs.delete("second")
    assert [run.name for run in runs.list_runs()] == ["renamed"]
    assert not locks.is_held(folder / ".device-cpu.lock")


SERVER = f"""
import sys
import time
from tests.training_runs.conftest import TINY
from transformer.training import runs

for name, probes in (("first", ("a b c",)), ("second", ())):
    changes = TINY | {ENDLESS!r}
    request = runs.RunRequest.from_preset(name, sys.argv[1], "small", changes, device="cpu", probes=probes)
    runs.start(request)
    while runs.get_run("first").state == "queued":
        time.sleep(0.05)
assert "torch" not in sys.modules
"""


def test_two_processes_learn_what_one_learns(ask, folder, tsv):
    """Gradients weigh by the tokens of all ranks: the curve is that of one process with the same batches, to 1e-4."""
    request = ask("alone", p_drop=0.0, steps=12, batch_tokens=30, accumulate=2, warmup=6)
    assert do(request)
    model = ("d_model", "d_ff", "n_heads", "n_encoder_layers", "n_decoder_layers", "p_drop")
    train = ("steps", "batch_tokens", "accumulate", "warmup", "vocab_size", "log_every", "validate_every", "save_every")
    options = {
        **{f"model.{name}": getattr(request.model, name) for name in model},
        **{f"train.{name}": getattr(request.train, name) for name in train},
    }
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d"),
        *("--rdzv-endpoint", "localhost:0", "-m", "transformer", "train", "--name", "together", "--corpus", str(tsv)),
        *("--device", "cpu", "--probes", "a b c"),
        *(f"--{name.replace('_', '-')}={value}" for name, value in options.items()),
    ]
    result = subprocess.run(
        command, cwd=ROOT, text=True, stderr=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert result.returncode == 0, result.stderr
    ours, theirs = curve(folder / "alone"), curve(folder / "together")
    assert [line.keys() for line in ours] == [line.keys() for line in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert a["step"] == b["step"]
        for name, value in a.items():
            assert b[name] == pytest.approx(value, abs=1e-4), (a["step"], name)
    assert runs.get_run("together").state == "finished"
    assert load_checkpoint("together").config.step == 12
    assert len(load_probes(folder / "together")[0].steps) == 13
    assert result.stderr.count("step 12/12  loss") == 1
