"""The table that the page shows: what was written is read, and a file that is no table is named."""

from dataclasses import replace
from pathlib import Path

import pytest

from transformer.ablations.table import TABLE, Row, find_table, read_rows, write_rows
from transformer.folders import CheckpointError

ROW = Row(
    part="copy", encoding="learned", seed=2, unit="letters", trained_to=20, shortest=21, longest=25, n_pairs=0,
    n_too_long=200, n_tokens=0, nll=None, accuracy=None, whole=None, steps=3000, target_tokens=10, version="0.1.0",
)  # fmt: skip


def test_rows_survive(tmp_path: Path):
    rows = [ROW, replace(ROW, encoding="rope", n_pairs=200, n_too_long=0, nll=0.125, accuracy=0.1, whole=1.0)]
    write_rows(rows, tmp_path / TABLE)
    assert read_rows(tmp_path / TABLE) == rows
    assert (tmp_path / TABLE).read_text().splitlines()[0].startswith("part,encoding,seed,unit,trained_to")


@pytest.mark.parametrize("text", ["", "part,encoding\ncopy,rope\n", "\0", "HEADER\n,,x", "HEADER\ncopy"])
def test_a_file_that_is_no_table_is_named(text: str, tmp_path: Path):
    write_rows([], tmp_path / TABLE)
    header = (tmp_path / TABLE).read_text().strip()
    (tmp_path / TABLE).write_text(text.replace("HEADER", header))
    with pytest.raises(CheckpointError, match="is not a table of scores by length"):
        read_rows(tmp_path / TABLE)


def test_your_own_table_comes_before_the_shipped_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    monkeypatch.setattr("transformer.ablations.rows.SHIPPED", shipped)
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(own))
    assert find_table() is None
    for folder in (shipped, own):
        folder.mkdir()
        write_rows([ROW], folder / TABLE)
        assert find_table() == folder / TABLE
