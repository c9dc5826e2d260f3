"""Standard input and standard error, as the commands use them."""

import sys
from collections.abc import Iterator
from itertools import islice


def input_lines() -> Iterator[str]:
    """Raises ValueError, with its number, for a line that is not UTF-8."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"Line {number} of the input is not UTF-8: {error.reason}.") from error


def chunks(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    while chunk := list(islice(lines, size)):
        yield chunk


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
