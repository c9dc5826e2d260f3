"""The table of scores by length: a row for each model and range of lengths. Light, so that a page can read it."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from transformer.folders import SHIPPED, CheckpointError, replacing, runs_folder

TABLE = "positions.csv"
PARTS_IN_ORDER = ("tatoeba", "copy", "reverse", "shift-3", "short")
"""Of the family of positions, in the order in which they are trained."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """How one model did on the test pairs of some lengths (see transformer.analysis.by_length.LengthScore)."""

    part: str
    """Which data, one of PARTS_IN_ORDER."""
    encoding: str
    """Of the model: sinusoidal | learned | rope | alibi | none."""
    seed: int
    unit: str
    """What lengths count: words of the source, or letters."""
    trained_to: int
    """The longest length that the model was trained on, in that unit."""
    shortest: int
    longest: int
    n_pairs: int
    n_too_long: int
    n_tokens: int
    nll: float | None
    accuracy: float | None
    whole: float | None
    steps: int
    target_tokens: int
    """Target tokens that training has seen."""
    version: str
    """Of the code."""


_COLUMNS = [field.name for field in fields(Row)]


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write the table, replacing the file in one step."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    with replacing(path) as temporary:
        temporary.write_text(text.getvalue(), "utf-8")


def read_rows(path: Path) -> list[Row]:
    """The rows of a table that write_rows wrote. Raises CheckpointError, in one sentence, when it is not one."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if list(reader.fieldnames or ()) != _COLUMNS:
                raise ValueError(f"its columns are not {', '.join(_COLUMNS)}")
            return [_row(line) for line in reader]
    except (OSError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is not a table of scores by length: {error}.") from error


def find_table() -> Path | None:
    """Your own table in the checkpoints folder, else the shipped one, else None."""
    return next((path for folder in (runs_folder(), SHIPPED) if (path := folder / TABLE).is_file()), None)


def _row(line: dict[str, str]) -> Row:
    values: dict[str, object] = {}
    for field in fields(Row):
        text = line[field.name]
        if field.type is str:
            values[field.name] = text
        elif field.type is int:
            values[field.name] = int(text)
        else:
            values[field.name] = float(text) if text else None
    return Row(**values)  # type: ignore[arg-type]
