"""Lines of text and the pairs they make: what the corpora share, whatever files they come from."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

Pairs = list[tuple[str, str]]
"""Source and target sentences."""


class CorpusError(ValueError):
    """Text that cannot be had or used; the message names file, line and what is allowed."""


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text; raises CorpusError if it cannot be read, is empty, or a line is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}.") from error
    return split_lines(content, str(path))


def split_lines(content: bytes, name: str) -> list[str]:
    """The lines of a UTF-8 text called `name`, a byte order mark dropped.

    Lines end in LF or CR LF and nothing else: a sentence may hold U+2028 or U+0085, at which `str.splitlines` would cut
    it and shift all that follow. Raises CorpusError if there is no text or a line is not UTF-8.
    """
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


def pair_lines(source: Sequence[str], target: Sequence[str], source_name: str, target_name: str) -> Pairs:
    """Line n of one text with line n of the other; raises CorpusError if one has more lines."""
    if len(source) != len(target):
        counts = f"{source_name} has {len(source)} lines and {target_name} has {len(target)}"
        raise CorpusError(f"{counts}; allowed is the same number, line by line each other's translation.")
    return list(zip(source, target, strict=True))


def hash_fraction(text: str) -> float:
    """A number in [0, 1) that depends on `text` alone: it decides on a split."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
