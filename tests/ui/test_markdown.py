"""Text of persons and files inside Markdown is shown as it is."""

from pathlib import Path

import pytest

from ui.markdown import plain

ROOT = Path(__file__).parents[2]


def test_marks_lose_their_meaning_and_lines_become_one():
    assert plain("![x](http://a)\n*b*") == r"\!\[x\]\(http\://a\) \*b\*"
    assert plain(ValueError("no_such.tsv")) == r"no\_such\.tsv"


@pytest.mark.parametrize(
    "path", sorted((*ROOT.glob("pages/**/*.py"), *ROOT.glob("ui/*.py"))), ids=lambda path: path.stem
)
def test_no_error_reaches_markdown_as_it_stands(path: Path):
    """Its text may hold a path, or what a file from anywhere says."""
    for call in ("warning", "info", "error", "toast", "markdown", "caption"):
        assert f".{call}(str(" not in path.read_text("utf-8")
