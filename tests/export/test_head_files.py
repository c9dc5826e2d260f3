"""What is taken away of one head: files read back to the same numbers, and code that runs to them."""

import io
import json

import numpy as np
import pytest

from tests import hostile
from tests.ui.one_head import Q, one_head
from tests.ui.samples import tokens
from transformer.analysis.head_parts import head_parts
from transformer.export.about import About
from transformer.export.head_files import (
    as_attention,
    head_arrays,
    head_code,
    head_facts,
    key_rows,
    matrix_rows,
    pair_rows,
)
from transformer.export.tables import arrays_npz, table_csv

ABOUT = About("model", 1200, "a sentence", "ein Satz")
BIAS = np.array([[0, -1, -2], [-1, 0, -1]], np.float32)


def npz(parts, about) -> bytes:
    return arrays_npz(head_arrays(parts), head_facts(parts, about))


def read(data: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return dict(stored)


def test_a_file_holds_every_matrix_its_labels_and_where_it_comes_from():
    parts = one_head()
    stored = read(npz(parts, ABOUT))
    for name in ("q", "k", "v", "scores", "mask", "pattern", "z"):
        assert np.array_equal(stored[name], getattr(parts, name))
    assert stored["queries"].tolist() == ["ja", "nein"]
    assert stored["keys"].tolist() == ["yes", "no", "</s>"]
    facts = json.loads(str(stored["about"]))
    assert {"model": "model", "step": 1200, "kind": "encoder", "layers": ["1"], "heads": ["2"]}.items() <= facts.items()
    assert (facts["score"], facts["scale"]) == ("scaled", 0.5)
    assert "bias" not in stored
    assert "q_before_rotation" not in stored


def test_bias_and_rotation_go_along_where_there_are_any():
    stored = read(npz(one_head(bias=BIAS, unturned={"q": Q + 1, "k": Q}), ABOUT))
    assert np.array_equal(stored["bias"], BIAS)
    assert np.array_equal(stored["q_before_rotation"], Q + 1)


def test_a_pair_is_a_row_for_each_dimension_and_one_for_the_bias():
    rows = pair_rows(one_head(bias=BIAS), 0, 1)
    assert [tuple(row.values()) for row in rows] == [
        (0, 1.0, 0.5, 0.5, 0.25),
        (1, 2.0, 1.0, 2.0, 1.0),
        (2, 0.0, 0.0, 0.0, 0.0),
        (3, -1.0, -1.0, 1.0, 0.5),
        ("bias", -1.0),
    ]
    assert sum(row["term"] for row in rows) == one_head(bias=BIAS).scores[0, 1]
    assert len(pair_rows(one_head(), 0, 1)) == 4
    written = table_csv(rows, ABOUT.facts()).decode().splitlines()
    assert written[0] == "dimension,q,k,product,term,about"
    assert written[-1] == "bias,,,,-1.0,"


def test_a_query_is_a_row_for_each_key():
    mask = np.array([[True, True, True], [True, False, True]])
    rows = key_rows(one_head(mask=mask), 1)
    assert [row["key"] for row in rows] == ["yes", "no", "</s>"]
    assert [row["score"] for row in rows] == [2, 0, 0]
    assert [row["may_attend"] for row in rows] == [True, False, True]
    assert [row["weight"] for row in rows] == pytest.approx([np.e**2 / (np.e**2 + 1), 0, 1 / (np.e**2 + 1)])


def test_every_cell_of_every_matrix_is_a_row_and_none_is_transposed():
    rows = matrix_rows(one_head())
    assert len(rows) == 2 * 4 + 3 * 4 + 3 * (2 * 3) + 3 * 2 + 2 * 2
    cells = {(row["matrix"], row["row"], row["column"]): row for row in rows}
    assert cells["scores", 0, 2]["value"] == -2
    assert (cells["scores", 0, 2]["row_of"], cells["scores", 0, 2]["column_of"]) == ("query ja", "key </s>")
    assert cells["V", 2, 1]["value"] == 4
    assert (cells["V", 1, 1]["row_of"], cells["V", 1, 1]["column_of"]) == ("key no", "dimension 1")
    assert cells["K", 0, 2]["value"] == 1


def test_one_head_is_an_attention_of_its_kind():
    attention = as_attention(one_head())
    assert attention.pattern.shape == (1, 1, 2, 3)
    assert (attention.layers, attention.heads) == (("1",), ("2",))


@pytest.mark.parametrize("untrained", [False, True])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_code_runs_to_the_numbers_of_the_view(checkpoint, monkeypatch, kind, untrained):
    monkeypatch.setattr("transformer.load_checkpoint", {"test": checkpoint}.__getitem__)
    code = head_code("test", "The animal.", "Das Tier.", (kind, 1, 2), "scores[0, 1]", untrained=untrained)
    *lines, shown = code.splitlines()
    space: dict = {}
    exec("\n".join(lines), space)
    model = checkpoint.untrained() if untrained else checkpoint
    trace = model.trace("The animal.", "Das Tier.")
    expected = head_parts(model, trace[kind], trace.source, 1, 2)
    assert shown == "head.scores[0, 1]"
    assert eval(shown, space) == pytest.approx(expected.scores[0, 1], abs=1e-5)
    assert np.allclose(space["head"].pattern, expected.pattern, atol=1e-6)


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_hostile_text_is_a_string_in_code_and_a_label_in_files(text):
    compile(head_code(text, text, text, ("cross", 0, 0)), "view", "exec")
    stored = read(npz(one_head(keys=tokens(text, "b", "c")), About("m", 1, text, text)))
    assert stored["keys"][0] == text.rstrip("\0")
    assert json.loads(str(stored["about"]))["sentence"] == text
