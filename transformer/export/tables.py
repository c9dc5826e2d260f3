"""Rows of named values as CSV and JSON, and arrays as NPZ; each file says what it is of.

A CSV file has no room for that but its cells: the last column is "about", a JSON text in the first row, empty below it.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

Rows = Sequence[Mapping[str, Any]]
ABOUT = "about"
TABLE_SCHEMA = "roundtable.table"


def table_csv(rows: Rows, facts: Mapping[str, Any]) -> bytes:
    """One line a row, with the names of the first one above them."""
    file = io.StringIO()
    writer = csv.DictWriter(file, [*(rows[0] if rows else ()), ABOUT], lineterminator="\n", restval="")
    writer.writeheader()
    for place, row in enumerate(rows):
        writer.writerow({**row, ABOUT: "" if place else facts_text(facts)})
    return encoded(file.getvalue())


def table_json(name: str, rows: Rows, facts: Mapping[str, Any]) -> bytes:
    """One object: schema, the facts, the table's name, its rows. What is not finite is a string, such as "NaN"."""
    content = {"schema": TABLE_SCHEMA, "schema_version": 1, "about": facts, "table": name, "rows": _said(rows)}
    return encoded(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def arrays_npz(arrays: Mapping[str, np.ndarray | Sequence[str]], facts: Mapping[str, Any]) -> bytes:
    """The arrays, those of texts among them, and about, a JSON text. numpy.load reads it without pickle."""
    stored = {
        name: values if isinstance(values, np.ndarray) else np.array(values, dtype=np.str_)
        for name, values in arrays.items()
    }
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **stored, **{ABOUT: np.array(facts_text(facts))})
    return file.getvalue()


def facts_text(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False)


def encoded(text: str) -> bytes:
    """UTF-8; what it cannot hold, half a surrogate pair, is written \\udc80, which is how JSON says it too."""
    return text.encode("utf-8", "backslashreplace")


def _said(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _said(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_said(each) for each in value]
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value
