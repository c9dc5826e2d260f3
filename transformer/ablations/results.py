"""The tables of our own Table 3 and of the tasks of a minute, a row a model. Light, so that a page can read them."""

from dataclasses import dataclass
from pathlib import Path

from transformer.ablations import rows

TABLE = "table3-small.csv"
MINUTE_TABLE = "minute.csv"
NO_TRANSLATION = 1.0
"""BLEU below which a model has not learned to translate."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """How one model did on the test split: beam 4, α = 0.6, the last weights and no average of them, as in Table 3."""

    group: str
    name: str
    """Of the variant (see transformer.ablations.variants)."""
    seed: int
    differs: str
    """What the variant changes in the base model, in words."""
    checkpoint: str
    """Its folder in the checkpoints folder."""
    perplexity: float | None
    """Of a target piece, without smoothing; None where training diverged."""
    bleu: float | None
    bleu_signature: str
    chrf: float | None
    chrf_signature: str
    parameters: int
    tokens_per_second: float | None
    """Target tokens, the median of what training logged, on this device."""
    device: str
    """What it was trained on; several models may have shared it."""
    diverged_at: int | None
    """The optimizer step before which the loss became no number; None where it never did."""
    steps: int
    """Optimizer steps that were planned."""
    target_tokens: int
    """Target tokens that training has seen."""
    version: str
    """Of the code."""
    command: str
    """That trains and measures it."""

    @property
    def failed(self) -> bool:
        """Whether it was trained to the end, and did not learn to translate."""
        return self.bleu is not None and self.bleu < NO_TRANSLATION

    @property
    def learned(self) -> bool:
        """Whether it neither diverged nor failed."""
        return self.diverged_at is None and not self.failed


def write_results(results: list[Result], path: Path) -> None:
    """Write the table, replacing the file in one step."""
    rows.write_rows(results, Result, path)


def read_results(path: Path) -> list[Result]:
    """The rows of the table. Raises CheckpointError, in one sentence, when it is not one."""
    return rows.read_rows(Result, path, "a table of variants")


def find_results() -> Path | None:
    """Your own table in the checkpoints folder, else the shipped one, else None."""
    return rows.find_table(TABLE)


@dataclass(frozen=True, kw_only=True)
class MinuteResult:
    """How one model did on the test strings of a task, or on those of one distance."""

    task: str
    name: str
    seed: int
    differs: str
    """What sets it apart from the first model of its task, in words."""
    checkpoint: str
    distance: int | None
    """recall: how many places before the end the letter stands; None where a task has no distances."""
    n_pairs: int
    nll: float | None
    """Nats a target token, each predicted after the right ones before it; None where training diverged."""
    accuracy: float | None
    """Share of target tokens, without </s>, that are likeliest after the right ones before them."""
    generated: float | None
    """Share of targets that the model writes without a mistake when it reads what it wrote itself."""
    parameters: int
    tokens_per_second: float | None
    device: str
    diverged_at: int | None
    steps: int
    target_tokens: int
    version: str
    command: str


def find_minute() -> Path | None:
    """Your own table in the checkpoints folder, else the shipped one, else None."""
    return rows.find_table(MINUTE_TABLE)


def read_minute(path: Path) -> list[MinuteResult]:
    """The rows of the table. Raises CheckpointError, in one sentence, when it is not one."""
    return rows.read_rows(MinuteResult, path, "a table of tasks of a minute")
