"""Tables and arrays as files: what is read back is what was written, and what they are of stands inside."""

import csv
import io
import json
import math

import numpy as np
import pytest

from tests import hostile
from transformer.export.tables import arrays_npz, table_csv, table_json

FACTS = {"model": "m", "step": 7}


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")))


def test_the_first_row_says_what_the_table_is_of():
    rows = read(table_csv([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], FACTS))
    assert [(row["a"], row["b"]) for row in rows] == [("1", "x"), ("2", "y")]
    assert json.loads(rows[0]["about"]) == FACTS
    assert rows[1]["about"] == ""
    assert table_csv([], FACTS) == b"about\n"


def test_json_holds_rows_facts_and_no_number_that_json_lacks():
    rows = [{"a": math.nan, "b": (math.inf, -math.inf)}, {"a": 1.5, "b": None}]
    text = table_json("a table", rows, FACTS)
    content = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert list(content) == ["schema", "schema_version", "about", "table", "rows"]
    assert (content["about"], content["table"]) == (FACTS, "a table")
    assert content["rows"] == [{"a": "NaN", "b": ["Infinity", "-Infinity"]}, {"a": 1.5, "b": None}]


def test_arrays_are_read_without_pickle():
    stored = np.load(io.BytesIO(arrays_npz({"n": np.arange(3), "words": ("a", "b")}, FACTS)), allow_pickle=False)
    assert (stored["n"].tolist(), stored["words"].tolist()) == ([0, 1, 2], ["a", "b"])
    assert json.loads(str(stored["about"])) == FACTS
    assert np.load(io.BytesIO(arrays_npz({"words": ()}, {})), allow_pickle=False)["words"].size == 0


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_comes_back_unchanged(text):
    facts, rows = {"sentence": text}, [{"text": text, "n": 1}, {"text": text, "n": 2}]
    found = read(table_csv(rows, facts))
    assert [row["text"] for row in found] == [text, text]
    assert json.loads(found[0]["about"]) == facts
    content = json.loads(table_json("t", rows, facts))
    assert (content["rows"], content["about"]) == (rows, facts)
    stored = np.load(io.BytesIO(arrays_npz({"words": [text, "b"]}, facts)), allow_pickle=False)
    assert stored["words"][0] == text.rstrip("\0"), "numpy keeps no zeros at the end of a text"
    assert json.loads(str(stored["about"])) == facts
