"""Where training can run, found out without importing torch, so that a form can show it at once."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from transformer.config import ConfigError

_NAME = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


@dataclass(frozen=True)
class Device:
    """Something to train on."""

    name: str
    """As torch calls it: cpu, mps, cuda:0."""
    title: str
    """The product's name, or the number of cores."""
    memory: int
    """Bytes in all; on cpu and mps this is the machine's memory."""

    @property
    def kind(self) -> str:
        return self.name.partition(":")[0]

    def __str__(self) -> str:
        return f"{self.name} ({self.title}, {self.memory / 2**30:.0f} GiB)"


@cache
def devices() -> tuple[Device, ...]:
    """What this machine has, the one that "auto" takes first."""
    found = list(_cuda()) if _torch_has_cuda() else []
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        found.append(Device("mps", "Apple GPU", memory))
    return (*found, Device("cpu", f"{n_cores()} cores", _memory_limit(memory)))


def n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find_device(name: str) -> Device:
    """The device of that name; "auto" is the first, "cuda" the first CUDA device.

    Raises ConfigError when this machine has none of that name.
    """
    check_device_name(name)
    for device in devices():
        if name in ("auto", device.name, device.kind):
            return device
    raise ConfigError(f"There is no device {name!r} here; allowed is auto | {' | '.join(d.name for d in devices())}.")


def check_device_name(name: str) -> str:
    """The name, if any machine could have a device of that name. Raises ConfigError otherwise."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"device is {name!r}; allowed is auto, cpu, mps, cuda, or cuda: and a number.")
    return name


def _cuda() -> tuple[Device, ...]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    question = [program, "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(question, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = [line.rpartition(",") for line in answer.splitlines()]
    sizes = [(title.strip(), int(size)) for title, _, size in rows if size.strip().isdecimal()]
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    if shown is not None:
        sizes = list(_shown(sizes, shown))
    return tuple(Device(f"cuda:{index}", title, size * 2**20) for index, (title, size) in enumerate(sizes))


def _shown(sizes: list[tuple[str, int]], visible: str) -> Iterator[tuple[str, int]]:
    """Those GPUs that CUDA_VISIBLE_DEVICES names; CUDA reads it up to the first number that no GPU has, such as -1."""
    for entry in filter(None, visible.split(",")):
        # An entry may also be the name of a GPU or of a part of one: its size is not asked for.
        index = int(entry) if re.fullmatch(r"\s*-?\d+\s*", entry) else 0
        if not 0 <= index < len(sizes):
            return
        yield sizes[index]


def _torch_has_cuda() -> bool:
    """Whether the torch that is installed was built for CUDA, read from its version.py."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    try:
        text = (Path(spec.origin).parent / "version.py").read_text("utf-8")
    except OSError:
        return False
    return re.search(r"^cuda\b.*=\s*['\"]", text, re.MULTILINE) is not None


def _memory_limit(memory: int) -> int:
    """The machine's memory, or less where a container may only use less."""
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text("utf-8"))
    except (OSError, ValueError):
        return memory
    return min(memory, limit)
