"""The table of scores by length: a row for each model and range of lengths. Light, so that a page can read it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from transformer.ablations import rows
from transformer.ablations.lengths import SHIFT, n_tested

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
    """What lengths count on the longer side of a pair: words | letters."""
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

    @property
    def n_judged(self) -> int:
        """Tokens that accuracy is over: all but </s>, in shift-3 those from the fourth letter on."""
        if self.part == f"shift-{SHIFT}":
            return sum(n_tested(length) * max(0, length - SHIFT) for length in range(self.shortest, self.longest + 1))
        return self.n_tokens - self.n_pairs

    @property
    def name(self) -> str:
        """Of the model, seed aside."""
        return f"{self.part}-{self.encoding}"


def write_rows(written: Iterable[Row], path: Path) -> None:
    """Write the table, replacing the file in one step."""
    rows.write_rows(written, Row, path)


def read_rows(path: Path) -> list[Row]:
    """The rows of a table that write_rows wrote. Raises CheckpointError, in one sentence, when it is not one."""
    return rows.read_rows(Row, path, "a table of scores by length")


def find_table() -> Path | None:
    """Your own table in the checkpoints folder, else the shipped one, else None."""
    return rows.find_table(TABLE)
