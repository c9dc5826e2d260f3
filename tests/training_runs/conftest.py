"""A checkpoints folder of its own for every test, and a corpus and a model that train in a moment."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from transformer.training import locks
from transformer.training.request import RunRequest
from transformer.training.runs import list_runs, stop
from transformer.training.status import LOCK_FILE

TINY = {
    "d_model": 16, "d_ff": 16, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "p_drop": 0.1,
    "batch_tokens": 40, "vocab_size": 300, "steps": 6, "warmup": 4,
    "log_every": 1, "validate_every": 3, "save_every": 2,
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The checkpoints folder; runs that a test leaves behind are ended."""
    path = tmp_path / "checkpoints"
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(path))
    yield path
    for run in list_runs():
        if locks.is_held(run.folder / LOCK_FILE):
            stop(run.name, grace=0)


@pytest.fixture(scope="session")
def tsv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """400 strings of up to six letters and their reverses."""
    draw = random.Random(1)
    strings: dict[str, None] = {}
    while len(strings) < 400:
        strings[" ".join(draw.choice("abcdef") for _ in range(draw.randint(1, 6)))] = None
    path = tmp_path_factory.mktemp("corpus") / "letters.tsv"
    path.write_text("".join(f"{string}\t{string[::-1]}\n" for string in strings))
    return path


@pytest.fixture
def ask(tsv: Path) -> Callable[..., RunRequest]:
    """Makes a request for a tiny run; names of fields of the model or of training change those."""

    def make(name: str, corpus: str | None = None, **changes) -> RunRequest:
        rest = {field: changes.pop(field) for field in ("minutes", "epochs", "device", "probes") if field in changes}
        rest.setdefault("device", "cpu")
        return RunRequest.from_preset(name, corpus or str(tsv), "small", {**TINY, **changes}, **rest)

    return make
