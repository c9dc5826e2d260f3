"""A user's own sentence pairs: a TSV, or two text files with one sentence a line."""

from collections.abc import Iterable
from pathlib import Path

from transformer.text.lines import CorpusError, Pairs, hash_fraction, pair_lines, read_lines

HELD_OUT = 0.02
"""Share of the source sentences that go to validation, and again to test."""


def read_tsv(path: Path) -> Pairs:
    """Pairs from lines of source, tab, target; raises CorpusError at the first line that is anything else."""
    return pairs_of_tsv(read_lines(path), str(path))


def pairs_of_tsv(lines: Iterable[str], name: str) -> Pairs:
    """The same from the lines of a text called `name`."""
    pairs = []
    for number, line in enumerate(lines, start=1):
        columns = line.split("\t")
        if len(columns) != 2:
            found = "no tab" if len(columns) == 1 else f"{len(columns)} columns"
            raise CorpusError(f"{name}, line {number}: it has {found}; allowed is source, one tab, target.")
        for side, sentence in zip(("source", "target"), columns, strict=True):
            _check_sentence(sentence, side, f"{name}, line {number}")
        pairs.append((columns[0], columns[1]))
    return pairs


def read_two_files(source: Path, target: Path) -> Pairs:
    """Pairs of the lines of two files; raises CorpusError if they differ in length or a line is empty."""
    sides = read_lines(source), read_lines(target)
    for path, lines, side in zip((source, target), sides, ("source", "target"), strict=True):
        for number, line in enumerate(lines, start=1):
            _check_sentence(line, side, f"{path}, line {number}")
    return pair_lines(*sides, str(source), str(target))


def split_by_source(pairs: Pairs, name: str) -> dict[str, Pairs]:
    """96 % train, 2 % validation, 2 % test, by a hash of the source sentence.

    All pairs of one source sentence share a split, and a pair stays in its split when others are added. Where a text
    is so small that a split would be empty, it takes the sentence whose hash is nearest. Raises CorpusError below 3
    different source sentences.
    """
    position = {source: hash_fraction(source) for source, _ in pairs}
    if len(position) < 3:
        found = f"{name} has {len(position)} different source sentences"
        raise CorpusError(f"{found}; allowed is at least 3, one each to train, validate and test.")
    ordered = sorted(position, key=lambda source: (position[source], source))
    n_test = sum(fraction < HELD_OUT for fraction in position.values())
    n_held_out = sum(fraction < 2 * HELD_OUT for fraction in position.values())
    n_test = min(max(n_test, 1), len(ordered) - 2)
    n_held_out = min(max(n_held_out, n_test + 1), len(ordered) - 1)
    test, validation = set(ordered[:n_test]), set(ordered[n_test:n_held_out])
    splits: dict[str, Pairs] = {"train": [], "validation": [], "test": []}
    for pair in pairs:
        split = "test" if pair[0] in test else "validation" if pair[0] in validation else "train"
        splits[split].append(pair)
    return splits


def _check_sentence(sentence: str, side: str, where: str) -> None:
    if not sentence.strip():
        raise CorpusError(f"{where}: the {side} is empty; allowed is a sentence on both sides.")
    if "\0" in sentence:
        raise CorpusError(f"{where}: the {side} holds a NUL character; allowed is text.")
