"""Training a family of any kind: model after model, by one process or several, resumed until its table is whole."""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from transformer.ablations import rows
from transformer.ablations.facts import Facts, facts_of
from transformer.checkpoint import read_config
from transformer.folders import CheckpointError, runs_folder
from transformer.presets import Preset
from transformer.text.corpora import Corpus
from transformer.text.tokenizer import Tokenizer
from transformer.training import locks
from transformer.training.failures import DivergenceError
from transformer.training.start import resume_training, start_training
from transformer.training.trainer import Trainer
from transformer.weights import named_weights, save_weights


@dataclass(frozen=True, kw_only=True)
class Member:
    """One model of a family."""

    name: str
    seed: int
    folder: str
    """In the checkpoints folder."""
    preset: Preset
    corpus: str
    """Which of the family's corpora it is trained on."""
    given: bool = False
    """Whether it is another family's model, measured here and trained there."""

    def __str__(self) -> str:
        return f"{self.name}, seed {self.seed}"


class Family(ABC):
    """What a family trains, on what, and how each model is measured."""

    table: str
    """File in the checkpoints folder."""
    row: type
    """A dataclass that has the name, the seed and the planned steps of a model."""

    @abstractmethod
    def members(self, only: Sequence[str], steps: int | None) -> list[Member]:
        """The models that `only` names, all where it names none, in the order of training."""

    @abstractmethod
    def corpus(self, name: str, notify: Callable[[str], None]) -> Corpus:
        """The corpus of that name; `notify` is told before a download."""

    @abstractmethod
    def measure(self, member: Member, corpus: Corpus, folder: Path, facts: Facts) -> list[Any]:
        """Rows of the table for a model that is trained, or has diverged; `folder` is where it lies."""

    def tokenizer(self, corpus: Corpus, vocab_size: int) -> Tokenizer:
        """The tokenizer of all models on a corpus."""
        sentences = [sentence for pair in corpus.pairs("train") for sentence in pair]
        return Tokenizer.train(sentences, vocab_size)

    def preset(self, member: Member, corpus: Corpus, tokenizer: Tokenizer) -> Preset:
        """What is trained, once the text and its tokenizer are known."""
        return member.preset

    def given(self, member: Member) -> Path | None:
        """The folder of another family's model, once it is whole."""
        return None

    @property
    def path(self) -> Path:
        return runs_folder() / self.table

    def rows(self) -> list[Any]:
        """Of the table, as far as it is written."""
        return rows.read_rows(self.row, self.path, f"the table {self.table}") if self.path.exists() else []

    def missing(self, members: Sequence[Member]) -> list[Member]:
        """Those that the table has no row of yet."""
        done = {(row.name, row.seed, row.steps) for row in self.rows()}
        return [member for member in members if (member.name, member.seed, member.preset.train.steps) not in done]


def train_family(
    family: Family,
    members: Sequence[Member],
    train: Callable[[Trainer], bool],
    notify: Callable[[str], None] = print,
) -> bool:
    """Train and measure every one of these models that the table does not have yet; False when `train` was stopped.

    Several processes may do this at once: what another is training is left to it. A model that diverges gets its row.
    Raises CheckpointError where a model was begun with another configuration.
    """
    missing = family.missing(members)
    notify(f"{len(missing)} of {len(members)} models are to be trained and measured.")
    corpus_of = lru_cache(maxsize=1)(lambda name: family.corpus(name, notify))
    tokenizer_of = lru_cache(maxsize=1)(lambda name, size: family.tokenizer(corpus_of(name), size))
    for member in missing:
        with _ours(member) as ours:
            if not ours:
                notify(f"{member} is in the hands of another process.")
                continue
            if not family.missing([member]):
                continue  # measured by another process meanwhile
            if member.given:
                folder = family.given(member)
                if folder is None:
                    notify(f"{member} is missing: it is {member.folder}, which `roundtable ablate positions` trains.")
                else:
                    _keep(family, member, corpus_of(member.corpus), folder, facts_of(folder))
                continue
            notify(f"{member} …")
            corpus = corpus_of(member.corpus)
            tokenizer = tokenizer_of(member.corpus, member.preset.train.vocab_size)
            preset = family.preset(member, corpus, tokenizer)
            trainer, diverged_at = _trainer(runs_folder() / member.folder, preset, corpus, tokenizer), None
            try:
                if not train(trainer):
                    return False
            except DivergenceError as error:
                notify(str(error))
                diverged_at = trainer.progress.step
            else:
                # Half the size: what is shipped is what is measured.
                save_weights(named_weights(trainer.model), trainer.folder / "model.safetensors", torch.float16)
            _keep(family, member, corpus, trainer.folder, facts_of(trainer.folder, trainer, diverged_at))
            _tidy(trainer.folder)
    return True


def with_steps(preset: Preset, seed: int, steps: int | None) -> Preset:
    """The preset with a seed, over another number of steps where there is one: its cooldown keeps its share."""
    train = replace(preset.train, seed=seed)
    if steps is not None:
        train = replace(train, steps=steps, cooldown=train.cooldown * steps // train.steps)
    return Preset(preset.model, train)


@contextmanager
def _ours(member: Member) -> Iterator[bool]:
    """Hold the lock of one model, if nobody else does."""
    path = runs_folder() / ".ablate" / f"{member.folder.replace('/', '-')}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = locks.take(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _keep(family: Family, member: Member, corpus: Corpus, folder: Path, facts: Facts) -> None:
    """Measure a model and put its rows into the table, in place of those it had, in the order of all members."""
    measured = family.measure(member, corpus, folder, facts)
    lock = runs_folder() / ".ablate" / f"{family.table}.lock"
    with locks.waiting_for([lock], member.name, lambda: False, lambda holder: None):
        kept = [row for row in family.rows() if (row.name, row.seed) != (member.name, member.seed)]
        order = {(one.name, one.seed): place for place, one in enumerate(family.members((), None))}
        merged = sorted([*kept, *measured], key=lambda row: order.get((row.name, row.seed), len(order)))
        rows.write_rows(merged, family.row, family.path)


def _trainer(folder: Path, preset: Preset, corpus: Corpus, tokenizer: Tokenizer) -> Trainer:
    if not (folder / "config.json").exists():
        return start_training(folder, corpus, preset, tokenizer)
    begun = read_config(folder)
    if begun.train != preset.train or begun.model != replace(preset.model, vocab_size=len(tokenizer)).resolved():
        raise CheckpointError(f"{folder} was begun with another configuration: remove it, or ask for what it was.")
    return resume_training(folder, corpus)


def _tidy(folder: Path) -> None:
    """Remove what a model that is measured needs no more: the optimizer's state and the steps on the way."""
    (folder / "state.pt").unlink(missing_ok=True)
    shutil.rmtree(folder / "steps", ignore_errors=True)
