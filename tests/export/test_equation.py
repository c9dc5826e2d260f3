from math import cos, exp, sin

import numpy as np
import pytest

from tests import hostile
from tests.ui.one_head import Q, one_head
from tests.ui.samples import tokens
from transformer.analysis.head_inputs import Projection
from transformer.export.equation import (
    MATRICES,
    Cell,
    arithmetic,
    divided_by,
    matrices,
    token,
    where,
    written_out,
)
from ui.equation_text import arithmetic_block, pair_line


def test_a_score_is_a_sum_of_products_divided_by_the_root_of_d_k():
    made = arithmetic(one_head(), Cell("scores", 0, 1))
    assert made.name == "scores[0, 1]"
    assert made.lines == (
        "Q[0] · K[1] / √4",
        "(1.000·0.500 + 2.000·1.000 + 0·0 + (−1.000)·(−1.000)) / 2",
        "3.500 / 2",
        "1.750",
    )
    assert made.notes == ()
    assert made.value == 1.75


def test_rows_and_columns_are_not_exchanged():
    assert arithmetic(one_head(), Cell("scores", 1, 0)).value == 2
    assert where(one_head(), Cell("scores", 1, 0)) == "query 1 “\u2068nein\u2069”, key 0 “\u2068yes\u2069”"
    assert where(one_head(), Cell("V", 1, 0)) == "key 1 “\u2068no\u2069”, dimension 0"
    assert where(one_head(), Cell("z", 1, 0)) == "query 1 “\u2068nein\u2069”, dimension 0"


def test_a_long_sum_writes_out_the_first_and_the_largest_terms_and_says_what_the_others_come_to():
    q, k = np.ones((1, 10), np.float32), np.array([[0.5, 1, 2, 3, 0, -9, 4, 0.25, 0.25, 1]], np.float32)
    parts = one_head(
        q=q, k=k, scale=0.1, scores=k.sum(keepdims=True) / 10, mask=np.ones((1, 1), bool), pattern=np.ones((1, 1), "f"),
        queries=tokens("a"), keys=tokens("b"), v=np.ones((1, 2), "f"), z=np.ones((1, 2), "f"),
    )  # fmt: skip
    made = arithmetic(parts, Cell("scores", 0, 0))
    assert made.lines[1:] == (
        "(1.000·0.500 + 1.000·(−9.000) + 1.000·4.000 + 1.000·3.000 + 1.000·2.000 + [5 others: 2.500]) / 10",
        "3.000 / 10",
        "0.300",
    )
    assert made.notes == (
        "Of 10 products, those of dimension 0, the first, and of the largest stand here: dimension 5, dimension 6, "
        "dimension 3, dimension 2. The other 5 come to 2.500 together.",
    )


def test_a_weight_is_a_share_of_the_row_and_masked_keys_have_none():
    whole = exp(1 - 1.75) + 1 + exp(-2 - 1.75)
    made = arithmetic(one_head(), Cell("softmax", 0, 0))
    assert made.value == pytest.approx(exp(-0.75) / whole)
    assert made.lines[1] == "e^(1.000 − 1.750) / (e^(1.000 − 1.750) + e^(1.750 − 1.750) + e^(−2.000 − 1.750))"
    assert made.lines[2:] == (f"0.472 / {whole:.3f}", f"{exp(-0.75) / whole:.3f}")
    hidden = one_head(mask=np.array([[1, 0, 1], [1, 1, 1]], bool))
    assert arithmetic(hidden, Cell("softmax", 0, 1)).lines == ("0",)
    seen = arithmetic(hidden, Cell("softmax", 0, 0))
    assert seen.value == pytest.approx(1 / (1 + exp(-3)))
    assert "1 masked keys are left out of the sum." in seen.notes


def test_z_mixes_the_values_of_the_keys_that_are_seen():
    parts = one_head(mask=np.array([[1, 1, 1], [1, 1, 0]], bool))
    made = arithmetic(parts, Cell("z", 1, 1))
    share = 1 / (1 + exp(2))
    assert made.value == pytest.approx(2 * share, abs=1e-6)
    assert made.lines == ("softmax[1] · V[…, 1]", f"0.881·0 + {share:.3f}·2.000", f"{2 * share:.3f}")


def test_linear_bias_is_a_term_of_its_own():
    bias = -0.25 * np.abs(np.arange(2)[:, None] - np.arange(3)).astype(np.float32)
    made = arithmetic(one_head(bias=bias), Cell("scores", 0, 2))
    assert made.lines[0] == "Q[0] · K[2] / √4 + bias"
    assert made.lines[2:] == ("−4.000 / 2 + (−0.500)", "−2.500")
    assert made.notes == ("The bias of ALiBi is −0.250·|0 − 2| = −0.500.",)
    assert arithmetic(one_head(bias=bias), Cell("scores", 1, 1)).notes == (
        "The bias of ALiBi is 0, as the distance is 0.",
    )


def test_rope_turns_a_pair_by_its_position():
    before = np.array([[0, 0, 0, 0], [1, 2, 3, 4]], np.float32)
    slow = 10_000 ** (-2 / 4)
    after = np.array([0, 0, 3 * cos(slow) - 4 * sin(slow), 3 * sin(slow) + 4 * cos(slow)])
    made_of = Projection(np.eye(2, dtype=np.float32), before, np.zeros(4, np.float32))
    parts = one_head(unturned={"q": before, "k": before}, projections={"q": made_of, "k": made_of, "v": made_of})
    first, second = (arithmetic(parts, Cell("Q", 1, c)) for c in (0, 1))
    assert first.value == pytest.approx(cos(1) - 2 * sin(1))
    assert second.value == pytest.approx(sin(1) + 2 * cos(1))
    assert first.lines[2:] == ("1.000 before RoPE", "1.000·cos 1.000 − 2.000·sin 1.000 after RoPE", "−1.143")
    assert [arithmetic(parts, Cell("Q", 1, c)).value for c in (2, 3)] == pytest.approx(after[2:])
    assert "by position 1 times 0.010: 0.010 rad." in arithmetic(parts, Cell("K", 1, 2)).notes[-1]
    assert "as RoPE has turned them" in arithmetic(parts, Cell("scores", 1, 2)).notes[-1]


def test_a_query_is_a_row_times_a_column_and_the_bias():
    made_of = Projection(np.array([[1, 2], [3, 4]], "f"), np.array([[5, 6], [7, 8]], "f"), np.array([0.5, -1], "f"))
    parts = one_head(projections={"q": made_of, "k": made_of, "v": made_of})
    made = arithmetic(parts, Cell("Q", 1, 1))
    assert made.lines == ("x[1] · W_Q[…, 1] + b_Q[1]", "3.000·6.000 + 4.000·8.000 + (−1.000)", "49.000")
    cross = one_head(kind="cross", projections={"q": made_of, "k": made_of, "v": made_of})
    assert arithmetic(cross, Cell("V", 0, 0)).lines[0] == "encoder output[0] · W_V[…, 0] + b_V[0]"
    assert arithmetic(cross, Cell("Q", 0, 0)).lines[0].startswith("x[0]")


def test_the_mask_says_why():
    assert "every query sees every key" in arithmetic(one_head(), Cell("mask", 0, 2)).notes[0]
    causal = one_head(kind="decoder", mask=np.tri(2, 3, dtype=bool))
    assert arithmetic(causal, Cell("mask", 0, 2)).lines == ("masked",)
    assert "reads the key after this step" in arithmetic(causal, Cell("mask", 0, 2)).notes[0]
    assert arithmetic(causal, Cell("mask", 1, 1)).lines == ("may attend",)
    window = one_head(mask=np.array([[1, 0, 1], [1, 1, 1]], bool))
    assert "does not see this key" in arithmetic(window, Cell("mask", 0, 1)).notes[0]


def test_other_scales_are_named_as_they_are():
    assert [divided_by(one_head(scale=scale)) for scale in (0.5, 1.0, 0.25)] == ["√4", "", "4"]
    assert arithmetic(one_head(scale=1.0, scores=2 * one_head().scores), Cell("scores", 0, 0)).lines == (
        "Q[0] · K[0]", "1.000·2.000 + 2.000·0 + 0·1.000 + (−1.000)·0", "2.000",
    )  # fmt: skip


@pytest.mark.parametrize("matrix", MATRICES)
def test_every_value_is_what_the_matrix_holds(matrix):
    made_of = {name: Projection(np.eye(len(rows), dtype="f"), rows, np.zeros(rows.shape[1], "f")) for name, rows in
               (("q", Q), ("k", one_head().k), ("v", one_head().v))}  # fmt: skip
    parts = one_head(projections=made_of)
    values = matrices(parts)[matrix]
    for row, column in np.ndindex(values.shape):
        assert arithmetic(parts, Cell(matrix, row, column)).value == pytest.approx(values[row, column], abs=1e-6)


def test_a_few_terms_are_all_written_out_and_no_term_twice():
    assert written_out([1, 2, 3]) == [0, 1, 2]
    assert written_out([]) == []
    assert written_out([9, 1, 2, 3, 4, 5, 6]) == [0, 6, 5, 4, 3]


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_hostile_tokens_are_escaped(text):
    parts = one_head(queries=tokens(text, text), keys=tokens(text, text, text))
    cell = Cell("softmax", 1, 1)
    written = [arithmetic_block(arithmetic(parts, cell), where(parts, cell)), pair_line(parts, 1, 1, "")]
    for markup in written:
        inside = markup.split("</style>")[-1]
        assert set(re_tags(inside)) <= {"div", "dl", "dt", "dd", "b"}
    assert token(parts, "key", 0).startswith("key 0 “\u2068")


def re_tags(markup: str) -> list[str]:
    from html.parser import HTMLParser

    found = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.append(tag)
            assert {name for name, _ in attrs} <= {"class"}

    Parser().feed(markup)
    return found
