"""Dataclasses of plain values as the rows of a CSV file, written in one step and read with their types checked."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from transformer.folders import SHIPPED, CheckpointError, replacing, runs_folder

R = TypeVar("R")


def write_rows(rows: Iterable[Any], cls: type, path: Path) -> None:
    """Write rows of a dataclass, replacing the file in one step."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(cls)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    with replacing(path) as temporary:
        temporary.write_text(text.getvalue(), "utf-8")


def read_rows(cls: type[R], path: Path, what: str) -> list[R]:
    """The rows that write_rows wrote. Raises CheckpointError, in one sentence, when the file is not `what`."""
    columns = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if list(reader.fieldnames or ()) != columns:
                raise ValueError(f"its columns are not {', '.join(columns)}")
            return [_row(cls, line) for line in reader]
    except (OSError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is not {what}: {error}.") from error


def find_table(name: str) -> Path | None:
    """Your own table of that name in the checkpoints folder, else the shipped one, else None."""
    return next((path for folder in (runs_folder(), SHIPPED) if (path := folder / name).is_file()), None)


def _row(cls: type[R], line: dict[str, str]) -> R:
    values: dict[str, object] = {}
    for field in fields(cls):  # type: ignore[arg-type]
        text = line[field.name]
        if field.type is str:
            values[field.name] = text
        elif field.type is int:
            values[field.name] = int(text)
        elif field.type == int | None:
            values[field.name] = int(text) if text else None
        else:
            values[field.name] = float(text) if text else None
    return cls(**values)
