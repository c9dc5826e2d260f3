"""Rows of the table of scores by length, made by hand."""

from transformer.ablations.table import Row


def row(encoding: str, low: int, high: int, accuracy: float | None, seed: int = 1, n_tokens: int = 100) -> Row:
    gone = accuracy is None
    return Row(
        part="copy", encoding=encoding, seed=seed, unit="letters", trained_to=20, shortest=low, longest=high,
        n_pairs=0 if gone else 10, n_too_long=10 if gone else 0, n_tokens=0 if gone else n_tokens,
        nll=None if gone else 0.7, accuracy=accuracy, whole=accuracy, steps=9, target_tokens=9, version="0",
    )  # fmt: skip
