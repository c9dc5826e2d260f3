"""Named sources of sentence pairs, and the user's own files, all with train, validation and test splits."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from transformer.text.algorithmic import TASKS, algorithmic_splits
from transformer.text.downloads import multi30k_splits, tatoeba_splits
from transformer.text.lines import CorpusError, Pairs
from transformer.text.own_files import read_tsv, read_two_files, split_by_source

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Corpus:
    """Sentence pairs in three splits, and on what terms they come."""

    name: str
    licence: str
    attribution: str
    """Whom to name where the text, or weights trained on it, are shown."""
    size: int
    """Bytes that a download takes, about; 0 where nothing is downloaded."""
    languages: tuple[str, str]
    """Of source and target, as ISO 639-1 codes where they are known."""
    splits: Mapping[str, Pairs] = field(repr=False)

    def pairs(self, split: str) -> Pairs:
        """The (source, target) pairs of "train", "validation" or "test"; raises ValueError for another name."""
        if split not in SPLITS:
            raise CorpusError(f"The corpus {self.name} has no split {split!r}; allowed is {' | '.join(SPLITS)}.")
        return self.splits[split]

    @cached_property
    def sha256(self) -> str:
        """Of every pair in its split and order: the same text gives the same number, however it was stored."""
        digest = hashlib.sha256()
        for split in SPLITS:
            pairs = self.splits[split]
            digest.update(f"{split} {len(pairs)}\n".encode())
            # No sentence holds a line feed, so no two different lists of pairs read the same.
            digest.update("".join(f"{source}\n{target}\n" for source, target in pairs).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class _Download:
    licence: str
    attribution: str
    size: int
    splits: Callable[[Callable[[], None], Callable[[int], None]], dict[str, Pairs]]


DOWNLOADS = {
    "tatoeba": _Download(
        licence="CC BY 2.0 FR",
        attribution="tatoeba.org and www.manythings.org/anki",
        size=10_000_000,
        splits=tatoeba_splits,
    ),
    "multi30k": _Download(
        licence="non-commercial research and educational purposes",
        attribution="Elliott et al. 2016, Multi30K (W16-3210), github.com/multi30k/dataset",
        size=1_296_271,
        splits=multi30k_splits,
    ),
}
CORPORA = (*TASKS, *DOWNLOADS)
"""Names that `load_corpus` knows."""


def load_corpus(name_or_path: str | Path, seed: int = 0, notify: Callable[[str], None] = print) -> Corpus:
    """A corpus by name, or the user's own text: a .tsv file, or "source.txt,target.txt".

    `seed` draws the strings of copy, reverse and sort, and means nothing elsewhere. `notify` is told licence and size
    before anything is downloaded, and then how much of it has come. Raises ValueError if there is no such corpus or its
    text cannot be used.
    """
    name = str(name_or_path)
    if name in TASKS:
        splits = algorithmic_splits(name, seed)
        return Corpus(name, "generated, free of any", "none", 0, ("letters", "letters"), splits)
    if name in DOWNLOADS:
        source = DOWNLOADS[name]
        splits = source.splits(partial(notify, _announcement(name, source)), _in_tenths(name, source.size, notify))
        return Corpus(name, source.licence, source.attribution, source.size, ("en", "de"), splits)
    return _own_corpus(name)


def _announcement(name: str, source: _Download) -> str:
    size = f"about {source.size / 1e6:.0f} MB"
    return f"Downloading {name}: {size}; licence: {source.licence}; attribution: {source.attribution}."


def _in_tenths(name: str, size: int, notify: Callable[[str], None]) -> Callable[[int], None]:
    """Takes the number of bytes that came, and notifies at every tenth of the size."""
    come, told = 0, 0

    def arrived(n_bytes: int) -> None:
        nonlocal come, told
        come += n_bytes
        tenths = min(10, 10 * come // size)
        if tenths > told:
            told = tenths
            notify(f"Downloading {name}: {10 * tenths} % of about {size / 1e6:.0f} MB.")

    return arrived


def own_files(name: str) -> list[Path]:
    """The files of a user's corpus: a .tsv, or source and target, which a comma parts; paths may hold commas too.

    Raises CorpusError where the name means neither. Whether a .tsv is there, who reads it will see.
    """
    path = Path(name)
    is_tsv = path.suffix.lower() == ".tsv"
    if not (is_tsv and os.path.isfile(path)):
        for place in (place for place, letter in enumerate(name) if letter == ","):
            files = [Path(name[:place]), Path(name[place + 1 :])]
            if all(map(os.path.isfile, files)):
                return files
    if is_tsv:
        return [path]
    raise no_corpus(name)


def no_corpus(name: str) -> CorpusError:
    """What is said of a name that no corpus has."""
    return CorpusError(
        f"There is no corpus {name!r}; allowed is {' | '.join(CORPORA)}, a .tsv file, or source.txt,target.txt."
    )


def _own_corpus(name: str) -> Corpus:
    files = own_files(name)
    pairs = read_tsv(*files) if len(files) == 1 else read_two_files(*files)
    splits = split_by_source(pairs, name)
    return Corpus(files[0].stem, "the owner's", "the owner", 0, ("source", "target"), splits)
