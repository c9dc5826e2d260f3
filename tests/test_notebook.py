"""docs/notebook.ipynb: every cell runs, from top to bottom, and what it shows can be shown. Jupyter is not needed."""

import ast
import json
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT

NOTEBOOK = json.loads((ROOT / "docs" / "notebook.ipynb").read_text("utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def ran() -> tuple[dict[str, Any], list[Any]]:
    """The names after the last cell, and what each cell ends with."""
    names: dict[str, Any] = {}
    shown = []
    for source in CODE:
        *body, last = ast.parse(source).body
        exec(compile(ast.Module(body, []), "notebook", "exec"), names)
        assert isinstance(last, ast.Expr), "a cell ends with what it shows"
        shown.append(eval(compile(ast.Expression(last.value), "notebook", "eval"), names))
    return names, shown


def test_no_output_is_kept_in_it():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    assert all(
        cell["outputs"] == [] and cell["execution_count"] is None
        for cell in NOTEBOOK["cells"]
        if cell["cell_type"] == "code"
    )
    assert len({cell["id"] for cell in NOTEBOOK["cells"]}) == len(NOTEBOOK["cells"])


def test_every_cell_runs_and_shows_something(ran):
    _, shown = ran
    assert len(shown) == len(CODE)
    for picture in shown:
        assert picture is not None
        assert "<script src" not in str(getattr(picture, "data", "")), "it asks no other host for anything"


def test_it_gets_the_numbers_of_the_trace(ran):
    names, _ = ran
    trace, view = names["trace"], names["view"]
    assert trace.target_text.startswith("Das Tier")
    merged = trace.cross.without_special().words().pattern
    assert np.allclose(view.pattern, np.where(merged < 0.1, 0, merged))
    assert np.allclose(names["by_norm"].pattern.sum(-1), 1, atol=1e-5)
    assert names["untrained"].target == trace.target
    assert names["page"].startswith("&lt;!doctype html&gt;")
