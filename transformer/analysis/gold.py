"""Gold alignments: sentence pairs in which people linked the words that translate each other."""

import os
from dataclasses import dataclass
from pathlib import Path

from transformer.analysis.alignment import Link


@dataclass(frozen=True)
class GoldPair:
    """A sentence pair with the links that people drew."""

    name: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]
    """Every link that is not wrong; the sure ones are among them."""


def load_gold(folder: str | Path | None = None) -> dict[str, list[GoldPair]]:
    """Every *.tsv of a folder, by default $ROUNDTABLE_DATA/alignments, under its name without .tsv.

    Raises ValueError where there is none, or as read_gold.
    """
    if folder is None:
        folder = Path(os.environ.get("ROUNDTABLE_DATA") or ".") / "alignments"
    files = sorted(Path(folder).glob("*.tsv"))
    if not files:
        raise ValueError(
            f"{folder} has no gold alignments; set ROUNDTABLE_DATA to a folder with alignments/*.tsv in it."
        )
    return {file.stem: read_gold(file) for file in files}


def read_gold(path: str | Path) -> list[GoldPair]:
    """Gold alignments from a TSV: a head line, then name, source, target, sure links, and further possible links.

    Words are separated by spaces, links too: "0-1" links source word 0 to target word 1. Raises ValueError that names
    the line and what is wrong with it.
    """
    try:
        lines = Path(path).read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as gold alignments: {error}.") from error
    pairs = [_gold_pair(line, f"{path}, line {number}") for number, line in enumerate(lines[1:], 2) if line.strip()]
    if not pairs:
        raise ValueError(f"{path} has no sentence pairs below its head line.")
    return pairs


def _gold_pair(line: str, where: str) -> GoldPair:
    columns = line.removesuffix("\r").split("\t")
    if len(columns) != 5:
        raise ValueError(f"{where}: the number of columns is {len(columns)}; allowed is 5, separated by tabs.")
    source, target = tuple(columns[1].split()), tuple(columns[2].split())
    if not source or not target:
        raise ValueError(f"{where}: a sentence is empty; allowed is at least one word on both sides.")
    sure, possible = (_links(column, len(source), len(target), where) for column in columns[3:])
    return GoldPair(columns[0], source, target, sure, sure | possible)


def _links(column: str, n_source: int, n_target: int, where: str) -> frozenset[Link]:
    links = set()
    for link in column.split():
        source, _, target = link.partition("-")
        numbers = source.isdecimal() and target.isdecimal()
        if not numbers or int(source) >= n_source or int(target) >= n_target:
            allowed = f"SOURCE-TARGET, up to {n_source - 1}-{n_target - 1}"
            raise ValueError(f"{where}: {link!r} links no words of this pair; allowed is {allowed}.")
        links.add((int(source), int(target)))
    return frozenset(links)
