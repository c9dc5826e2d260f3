import json
import struct

import numpy as np
import pytest

from tests import hostile
from tests.ui.one_head import SCORES, K, Q, V, many_keys, one_head
from tests.ui.samples import tokens
from transformer.export.equation import Cell
from ui.equation_strip import MOST_TOKENS, cell_of, payload, too_long


def unpack(parts, selected=None) -> tuple[dict, dict[str, np.ndarray]]:
    data = payload(parts, selected or Cell("scores", 0, 0))
    (length,) = struct.unpack_from("<I", data)
    assert length % 4 == 0
    header = json.loads(data[4 : 4 + length])
    numbers, found = np.frombuffer(data[4 + length :], "<f4"), {}
    for matrix in header["matrices"]:
        rows, columns = matrix["shape"]
        found[matrix["name"]], numbers = numbers[: rows * columns].reshape(rows, columns), numbers[rows * columns :]
    assert not len(numbers)
    return header, found


def test_the_browser_gets_every_number_in_the_order_of_the_equation():
    header, found = unpack(one_head(), Cell("V", 2, 1))
    assert list(found) == ["Q", "K", "scores", "mask", "softmax", "V", "z"]
    for name, values in (("Q", Q), ("K", K), ("scores", SCORES), ("V", V), ("z", one_head().z)):
        assert np.array_equal(found[name], values)
    assert header["selected"] == [5, 2, 1]
    assert header["head"] == "L1·H2"
    assert (header["queries"], header["keys"]) == (["ja", "nein"], ["yes", "no", "</s>"])


def test_queries_are_rows_and_keys_are_columns():
    matrices = {matrix["name"]: matrix for matrix in unpack(one_head())[0]["matrices"]}
    assert {name: (one["rows"], one["columns"]) for name, one in matrices.items()} == {
        "Q": ("query", "dimension"), "K": ("key", "dimension"), "scores": ("query", "key"), "mask": ("query", "key"),
        "softmax": ("query", "key"), "V": ("key", "dimension"), "z": ("query", "dimension"),
    }  # fmt: skip
    assert matrices["scores"]["shape"] == [2, 3]
    assert matrices["scores"]["limit"] == 2
    assert matrices["scores"]["made_of"] == "QKᵀ/√4"


def test_a_matrix_of_zeros_has_a_scale():
    zeros = unpack(one_head(q=np.zeros_like(Q)))[0]["matrices"][0]
    assert zeros["limit"] == 1


def test_masked_is_not_0():
    header, found = unpack(one_head(kind="decoder", mask=np.tri(2, 3, dtype=bool)))
    assert found["mask"].tolist() == [[1, 0, 0], [1, 1, 0]]
    assert header["matrices"][3]["made_of"] == "hatched"
    assert unpack(one_head())[0]["matrices"][3]["made_of"] == "all seen"


def test_rotation_and_bias_are_marked():
    header, _ = unpack(one_head(unturned={"q": Q, "k": K}, bias=SCORES))
    assert [header["matrices"][at]["made_of"] for at in (0, 1, 2)] == ["x·W_Q ↻", "x·W_K ↻", "QKᵀ/√4 + b"]


@pytest.mark.parametrize(
    ("picked", "cell"),
    [
        ([2, 1, 0], Cell("scores", 1, 0)),
        ([5, 9, 9], Cell("V", 2, 1)),
        ([-3, -1, -1], Cell("Q", 0, 0)),
        ([99, 0, 1.0], Cell("z", 0, 1)),
    ],
)
def test_what_the_browser_says_is_brought_inside(picked, cell):
    assert cell_of(one_head(), picked) == cell


@pytest.mark.parametrize(("n_keys", "said"), [(3, False), (MOST_TOKENS, False), (MOST_TOKENS + 1, True)])
def test_more_tokens_than_can_be_pointed_at_get_a_sentence(n_keys, said):
    parts = many_keys(n_keys)
    assert (f"there are {n_keys} here" in too_long(parts)) == said
    assert bool(too_long(parts)) == said


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_text_travels_as_it_is(text):
    header, _ = unpack(one_head(keys=tokens("a", text, "b")))
    assert header["keys"] == ["a", text, "b"]


def test_what_is_no_number_spoils_no_scale_and_has_its_own_colour():
    broken = Q.copy()
    broken[0, 0], broken[1, 1] = np.nan, -np.inf
    header, found = unpack(one_head(q=broken))
    assert header["matrices"][0]["limit"] == 4
    assert header["weights"].endswith("e5484d")
    assert np.isnan(found["Q"][0, 0])
