import json
import struct

import numpy as np
import pytest

from tests.ui.samples import asymmetric, attention, random, tokens
from transformer.analysis.attention import Attention
from transformer.export.palette import NOT_A_NUMBER
from ui.component import BROKEN, FULL, MASKED
from ui.head_grid import column_width, payload, pool


def unpack(attention: Attention, selected: tuple[int, int] | None = (0, 0)) -> tuple[dict, np.ndarray]:
    data = payload(attention, selected)
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    shape = len(header["layers"]), len(header["heads"]), *header["shape"]
    return header, np.frombuffer(data[4 + length :], np.uint8).reshape(shape)


def test_the_browser_gets_queries_as_rows_and_keys_as_columns():
    header, pixels = unpack(asymmetric(), (0, 1))
    assert header["queries"] == ["ja", "nein"]
    assert header["keys"] == ["yes", "no", "</s>"]
    assert header["shape"] == [2, 3]
    assert header["selected"] == [0, 1]
    assert (header["layers"], header["heads"]) == (["0"], ["0", "1"])
    assert np.array_equal(pixels[0, 1], np.rint(np.array([[0.25, 0.75, 0], [0.5, 0.125, 0.375]]) * FULL))


def test_where_no_head_is_open_none_is_selected():
    assert unpack(asymmetric(), None)[0]["selected"] is None


def test_masked_is_not_0():
    mask = np.tri(3, dtype=bool)
    words = tokens("a", "b", "c")
    header, pixels = unpack(attention(np.eye(3)[None, None], words, words, kind="decoder", mask=mask))
    assert np.array_equal(pixels[0, 0], [[FULL, MASKED, MASKED], [0, FULL, MASKED], [0, 0, FULL]])
    assert header["masked"]
    assert not unpack(asymmetric())[0]["masked"]


def test_text_travels_as_it_is():
    labels = ("<script>", "</s>", "&amp;", "😀", "שלום", "\u202e", "a\nb", '"')
    header, _ = unpack(attention(np.eye(8)[None, None], tokens(*labels), tokens(*labels)))
    assert header["queries"] == header["keys"] == list(labels)


@pytest.mark.parametrize(
    ("n_query", "n_key", "step"), [(1, 1, 1), (32, 32, 1), (33, 33, 2), (64, 64, 2), (512, 512, 16)]
)
def test_at_most_32_pixels_a_side(n_query, n_key, step):
    sample = random(1, 2, n_query, n_key)
    pixels, steps = pool(sample.pattern, sample.mask, 32)
    assert steps == (step, step)
    assert pixels.shape == (1, 2, -(-n_query // step), -(-n_key // step))
    assert max(pixels.shape[2:]) <= 32


def test_pooling_keeps_the_single_bright_cell():
    pattern = np.zeros((1, 1, 100, 70), np.float32)
    pattern[0, 0, 99, 41] = 1
    pixels, (rows, columns) = pool(pattern, np.ones((100, 70), bool), 32)
    assert np.argwhere(pixels[0, 0] == FULL).tolist() == [[99 // rows, 41 // columns]]
    assert pixels.sum() == FULL


def test_a_pixel_is_masked_only_where_all_its_tokens_are():
    pattern = np.broadcast_to(np.tri(64, dtype=np.float32) / 64, (1, 1, 64, 64))
    pixels, _ = pool(pattern, np.tri(64, dtype=bool), 32)
    assert np.array_equal(pixels[0, 0] == MASKED, ~np.tri(32, dtype=bool))


def test_what_is_not_a_weight_does_not_become_one():
    pattern = np.array([[[[np.nan, 1.5], [-0.5, 0.5]]]], np.float32)
    assert pool(pattern, np.ones((2, 2), bool), 32)[0].tolist() == [[[[BROKEN, FULL], [0, 126]]]]


def test_one_weight_that_is_no_number_marks_its_pixel_unless_it_is_masked():
    pattern = np.zeros((1, 1, 64, 64), np.float32)
    pattern[0, 0, 3, 63] = pattern[0, 0, 40, 8] = np.nan
    pixels, _ = pool(pattern, np.tri(64, dtype=bool), 32)
    assert np.argwhere(pixels[0, 0] == BROKEN).tolist() == [[20, 4]]
    words = tokens(*(f"w{at}" for at in range(64)))
    header, _ = unpack(attention(pattern, words, words, kind="decoder", mask=np.tri(64, dtype=bool)))
    assert header["broken"]
    assert header["palette"][6 * BROKEN :] == NOT_A_NUMBER[1:]
    assert not unpack(asymmetric())[0]["broken"]


def test_summaries_name_their_head():
    assert unpack(random(3, 4, 5, 5).mean())[0]["heads"] == ["mean"]


@pytest.mark.parametrize(("n_layers", "n_heads"), [(1, 1), (6, 8), (12, 16)])
def test_all_heads_travel_in_a_byte_a_pixel(n_layers, n_heads):
    _, pixels = unpack(random(n_layers, n_heads, 512, 512) if n_layers < 12 else random(n_layers, n_heads, 64, 64))
    assert pixels.shape[:2] == (n_layers, n_heads)
    assert pixels.size <= n_layers * n_heads * 32 * 32


def test_columns_are_as_wide_as_the_browser_says(monkeypatch):
    state = {}
    monkeypatch.setattr("ui.head_grid.st.session_state", state)
    assert column_width((1, 1), 0) == (980 - 32) // 2
    state["head_grid"] = {"page": {"width": 1132, "stacked": False}}
    assert [column_width((5, 6), place) for place in (0, 1)] == [500, 600]
    state["head_grid"] = {"page": {"width": 358, "stacked": True}}
    assert column_width((5, 6), 1) == 358
