"""What somebody asks for when a run is started: run.json, from which its process learns what to do."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from transformer.config import ConfigError, ModelConfig, TrainConfig
from transformer.folders import CheckpointError, check_name, reason, replacing
from transformer.presets import Preset, derive, get_preset
from transformer.training.device import check_device_name

REQUEST_FILE = "run.json"
UPLOAD_FILE = "corpus.tsv"
FORMAT = 1
MAX_PROBES = 8
MAX_PROBE_LENGTH = 500
"""Characters."""


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """A run to be started. Raises ValueError, in one sentence, when something in it is not allowed."""

    name: str
    corpus: str
    """A name that load_corpus knows, a file.tsv, or source.txt,target.txt."""
    model: ModelConfig
    train: TrainConfig
    preset: str = ""
    """What model and train started from, for people to read."""
    minutes: float | None = None
    """How long to train; turned into steps and warmup by the speed of the first seconds."""
    epochs: float | None = None
    """How often to see every pair; without minutes and epochs, train.steps says how long."""
    device: str = "auto"
    probes: tuple[str, ...] = ()
    """Sentences whose patterns are recorded on the way. After a tab a probe may name the target to look at; without one
    it is the answer where the corpus is a task, else the model's own translation of the moment."""
    uploaded: bool = False
    """Whether the corpus is the file corpus.tsv in the run's folder."""

    def __post_init__(self) -> None:
        check_name(self.name)
        check_device_name(self.device)
        if not self.corpus:
            raise ConfigError("There is no corpus; allowed is a name, a file.tsv, or source.txt,target.txt.")
        if self.minutes is not None and self.epochs is not None:
            raise ConfigError(
                f"There are two budgets, {self.minutes} minutes and {self.epochs} epochs; allowed is one."
            )
        for unit in ("minutes", "epochs"):
            amount = getattr(self, unit)
            if amount is not None and not 0 < amount < float("inf"):
                raise ConfigError(f"{unit} is {amount!r}; allowed is a number above 0.")
        if self.probes and self.model.encoder == "gru":
            raise ConfigError("There are probes, but an encoder of gated recurrent units has no heads to record.")
        if len(self.probes) > MAX_PROBES:
            raise ConfigError(f"There are {len(self.probes)} probe sentences; allowed are {MAX_PROBES}.")
        for probe in self.probes:
            source, tab, target = probe.partition("\t")
            if not source.strip() or (tab and not target.strip()) or len(probe) > MAX_PROBE_LENGTH:
                raise ConfigError(
                    f"The probe {probe[:50]!r} has {len(probe)} characters; allowed is a sentence, or a sentence, a "
                    f"tab and its target, of at most {MAX_PROBE_LENGTH} characters in all."
                )

    @classmethod
    def from_preset(cls, name: str, corpus: str, preset: str, changes: Mapping[str, Any] | None = None, **rest) -> Self:
        """A request with a preset's model and train, some of their fields changed (see presets.derive)."""
        chosen: Preset = derive(get_preset(preset), dict(changes or {}))
        return cls(name=name, corpus=corpus, model=chosen.model, train=chosen.train, preset=preset, **rest)

    @property
    def steps(self) -> int | None:
        """Planned steps where they are known before training begins."""
        return self.train.steps if self.minutes is None and self.epochs is None else None


def write_request(folder: Path, request: RunRequest) -> None:
    """Write run.json."""
    content = {"format": FORMAT, **asdict(request)}
    del content["name"]  # the folder's name is: it may be renamed
    with replacing(folder / REQUEST_FILE) as temporary:
        temporary.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_request(folder: Path) -> RunRequest | None:
    """What run.json says; None where there is none. Raises CheckpointError when it cannot be used."""
    path = folder / REQUEST_FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}; this version of Roundtable reads format {FORMAT}")
        texts = (content["corpus"], content.get("preset", ""), content.get("device", ""), *content["probes"])
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("its corpus, preset, device and probes are not all texts")
        known = {field.name for field in fields(RunRequest)} - {"name", "model", "train", "probes"}
        return RunRequest(
            name=folder.name,
            model=ModelConfig(**content["model"]),
            train=TrainConfig(**content["train"]),
            probes=tuple(content["probes"]),
            **{key: value for key, value in content.items() if key in known},
        )
    except FileNotFoundError:
        return None
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} does not describe a run: {reason(error)}.") from error


def with_absolute_corpus(request: RunRequest) -> RunRequest:
    """The same request with paths that mean the same from any folder.

    Raises CorpusError when a corpus is neither a known name nor files that exist.
    """
    from transformer.text.corpora import CORPORA, no_corpus, own_files

    if request.uploaded or request.corpus in CORPORA:
        return request
    files = own_files(request.corpus)
    if not all(map(os.path.isfile, files)):
        raise no_corpus(request.corpus)
    return replace(request, corpus=",".join(str(path.resolve()) for path in files))
