"""A user's own sentence pairs: a TSV, or two text files with one sentence a line."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

Pairs = list[tuple[str, str]]
HELD_OUT = 0.02
"""Share of the source sentences that go to validation, and again to test."""


class CorpusError(ValueError):
    """Text that cannot be used; the message names file, line and what is allowed."""


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text, a byte order mark dropped; lines end in LF or CR LF and nothing else.

    Raises CorpusError if the file cannot be read, is empty, or a line of it is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}.") from error
    return split_lines(content, str(path))


def split_lines(content: bytes, name: str) -> list[str]:
    """The lines of `content`, as `read_lines` gives them; `name` stands in messages."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content:
        raise CorpusError(f"{name} is empty; allowed is a text with one sentence a line.")
    lines = []
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            lines.append(line.removesuffix(b"\r").decode("utf-8"))
        except UnicodeDecodeError as error:
            column = error.start + 1
            raise CorpusError(f"{name}, line {number}: byte {column} is not UTF-8; allowed is UTF-8 text.") from error
    return lines


def read_tsv(path: Path) -> Pairs:
    """Pairs from lines of source, tab, target; raises CorpusError at the first line that is anything else."""
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 2:
            found = "no tab" if len(columns) == 1 else f"{len(columns)} columns"
            raise CorpusError(f"{path}, line {number}: it has {found}; allowed is source, one tab, target.")
        for side, sentence in zip(("source", "target"), columns, strict=True):
            _check_sentence(sentence, side, f"{path}, line {number}")
        pairs.append((columns[0], columns[1]))
    return pairs


def read_two_files(source: Path, target: Path) -> Pairs:
    """Pairs of the lines of two files; raises CorpusError if they differ in length or a line is empty."""
    sides = read_lines(source), read_lines(target)
    for path, lines, side in zip((source, target), sides, ("source", "target"), strict=True):
        for number, line in enumerate(lines, start=1):
            _check_sentence(line, side, f"{path}, line {number}")
    return pair_lines(*sides, str(source), str(target))


def pair_lines(source: Sequence[str], target: Sequence[str], source_name: str, target_name: str) -> Pairs:
    """Line n of one text with line n of the other; raises CorpusError if one has more lines."""
    if len(source) != len(target):
        counts = f"{source_name} has {len(source)} lines and {target_name} has {len(target)}"
        raise CorpusError(f"{counts}; allowed is the same number, line by line each other's translation.")
    return list(zip(source, target, strict=True))


def split_by_source(pairs: Pairs, name: str) -> dict[str, Pairs]:
    """96 % train, 2 % validation, 2 % test, by a hash of the source sentence.

    All pairs of one source sentence share a split, and adding pairs moves no other pair, except that a split of a small
    text that would stay empty takes the sentence nearest to it. Raises CorpusError below 3 different source sentences.
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


def hash_fraction(text: str) -> float:
    """A number in [0, 1) that depends on `text` alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / 2**48


def _check_sentence(sentence: str, side: str, where: str) -> None:
    if not sentence.strip():
        raise CorpusError(f"{where}: the {side} is empty; allowed is a sentence on both sides.")
    if "\0" in sentence:
        raise CorpusError(f"{where}: the {side} holds a NUL character; allowed is text.")
