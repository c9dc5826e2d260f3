"""What a form shows before a run is started."""

import subprocess
from pathlib import Path

import pytest
import torch

from tests.model.small import small_config
from tests.model.switches import SWITCHES
from transformer.config import ConfigError, ModelConfig
from transformer.model import Transformer
from transformer.presets import PRESETS
from transformer.training import device
from transformer.training.device import Device, devices, find_device
from transformer.training.estimate import estimate, n_parameters
from transformer.training.request import RunRequest


@pytest.fixture(autouse=True)
def _devices_anew():
    devices.cache_clear()
    yield
    devices.cache_clear()


@pytest.mark.parametrize(
    "model",
    [
        *(preset.model for preset in PRESETS.values()),
        ModelConfig(norm="pre", tied_embeddings=False, positions="learned", max_length=99),
        *(small_config(**changes) for changes in SWITCHES.values()),
        small_config(score="qk-norm", mixing="convolution", normalization="rms", norm="pre", d_k=3, d_v=5),
        ModelConfig(d_k=4, d_v=5, n_heads=7, n_encoder_layers=1, n_decoder_layers=3, positions="rope", d_ff=11),
    ],
)
def test_parameters_are_counted_exactly(model):
    with torch.device("meta"):
        assert n_parameters(model) == Transformer(model).n_parameters


def test_a_task_has_the_pieces_that_its_letters_make():
    found = estimate(RunRequest.from_preset("x", "reverse", "tiny", device="cpu"))
    assert found.parameters == n_parameters(ModelConfig(**{**vars(PRESETS["tiny"].model), "vocab_size": 313}))


def test_memory_and_time_grow_with_what_is_asked():
    def of(**changes):
        return estimate(RunRequest.from_preset("x", "tatoeba", "small", changes, device="cpu"))

    small = of()
    assert of(d_model=512).memory > small.memory
    assert of(batch_tokens=8192).memory > small.memory
    assert of(steps=12_000).seconds == pytest.approx(2 * small.seconds)
    assert of(accumulate=2).seconds == pytest.approx(2 * small.seconds)
    # Resident memory was 949 MB in training this on the CPU, on one thread.
    assert 0.7 * 949 < small.memory / 2**20 < 1.4 * 949
    assert small.fits
    assert not of(d_model=8192, d_ff=65_536, n_encoder_layers=48, n_decoder_layers=48).fits


def test_a_budget_in_minutes_is_the_time_and_one_in_epochs_is_unknown():
    assert estimate(RunRequest.from_preset("x", "copy", "tiny", minutes=2.5, device="cpu")).seconds == 150
    assert estimate(RunRequest.from_preset("x", "copy", "tiny", epochs=2, device="cpu")).seconds is None


def test_the_cpu_is_always_there():
    assert devices()[-1].name == "cpu"
    assert find_device("cpu").memory > 2**28
    assert "cpu (" in str(find_device("cpu"))


def machine(
    monkeypatch: pytest.MonkeyPatch, answer: str, built_for_cuda: bool = True, shown: str | None = None
) -> None:
    """A machine where nvidia-smi gives this answer."""
    monkeypatch.setattr(device, "_torch_has_cuda", lambda: built_for_cuda)
    monkeypatch.setattr(device.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    run = lambda *_, **__: subprocess.CompletedProcess([], 0, stdout=answer)  # noqa: E731
    monkeypatch.setattr(device.subprocess, "run", run)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if shown is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)


TWO = "NVIDIA H200, 143771\nTesla T4, 15360\n"


def test_gpus_come_first_and_are_described(monkeypatch):
    machine(monkeypatch, TWO)
    assert devices()[:2] == (
        Device("cuda:0", "NVIDIA H200", 143771 * 2**20),
        Device("cuda:1", "Tesla T4", 15360 * 2**20),
    )
    assert find_device("auto").name == find_device("cuda").name == "cuda:0"
    assert str(find_device("cuda:1")) == "cuda:1 (Tesla T4, 15 GiB)"
    with pytest.raises(ConfigError, match=r"no device 'cuda:2' here; allowed is auto \| cuda:0 \| cuda:1 \| cpu"):
        find_device("cuda:2")


def test_hidden_gpus_are_not_there(monkeypatch):
    machine(monkeypatch, TWO, shown="1")
    assert [found.title for found in devices() if found.kind == "cuda"] == ["Tesla T4"]


@pytest.mark.parametrize("shown", ["", "-1", "-1,0", "2", "2,0"])
def test_no_gpu_may_be_shown(monkeypatch, shown):
    """CUDA reads the list up to the first number that no GPU has."""
    machine(monkeypatch, TWO, shown=shown)
    assert find_device("auto").name == "cpu"


def test_gpus_are_shown_in_their_order_up_to_a_number_that_none_has(monkeypatch):
    machine(monkeypatch, TWO, shown="1,0,-1,1")
    assert [found.title for found in devices() if found.kind == "cuda"] == ["Tesla T4", "NVIDIA H200"]


def test_a_torch_without_cuda_uses_no_gpu(monkeypatch):
    machine(monkeypatch, TWO, built_for_cuda=False)
    assert find_device("auto").name == "cpu"


@pytest.mark.parametrize("answer", ["", "NVIDIA-SMI has failed", "x, y\n"])
def test_a_driver_that_does_not_answer_is_no_gpu(monkeypatch, answer):
    machine(monkeypatch, answer)
    assert find_device("auto").name == "cpu"


def test_the_torch_that_is_installed_is_known_without_importing_it():
    assert device._torch_has_cuda() == (torch.version.cuda is not None)


@pytest.mark.parametrize("name", ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "cpu:0", "CUDA"])
def test_a_name_that_no_device_has_is_refused(name):
    with pytest.raises(ConfigError, match="allowed is auto, cpu, mps, cuda"):
        find_device(name)


def test_a_container_has_the_memory_that_it_may_use(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: "1073741824\n")
    assert device._memory_limit(2**40) == 2**30
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: "max\n")
    assert device._memory_limit(2**40) == 2**40
