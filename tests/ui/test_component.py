"""Weights as bytes, and the constants that Python and the browser share."""

import json
import re
import struct
from pathlib import Path

import numpy as np

import ui.component
from transformer.export.palette import NOT_A_NUMBER
from ui.component import BROKEN, FULL, MASKED, packed, to_bytes

FOLDER = Path(ui.component.__file__).parent


def test_weights_are_bytes_and_masked_ones_are_told_apart():
    pattern = np.array([[[[1.0, 0.0], [0.5, 0.5]]]])
    mask = np.array([[True, False], [True, True]])
    assert to_bytes(pattern, mask).tolist() == [[[[FULL, MASKED], [126, 126]]]]


def test_what_is_no_weight_neither_overflows_nor_looks_like_one():
    pattern = np.array([[[[np.nan, 2.0, -1.0, np.inf, -np.inf, np.nan]]]])
    mask = np.array([[True, True, True, True, True, False]])
    assert to_bytes(pattern, mask).tolist() == [[[[BROKEN, FULL, 0, BROKEN, BROKEN, MASKED]]]]


def test_the_body_begins_at_a_multiple_of_four_whatever_the_header():
    for text in ("", "a", "ab", "ä🙂"):
        data = packed({"text": text}, b"body")
        (length,) = struct.unpack_from("<I", data)
        assert length % 4 == 0
        assert json.loads(data[4 : 4 + length]) == {"text": text}
        assert data[4 + length :] == b"body"


def test_the_browser_reads_the_same_bytes_and_colours():
    script = (FOLDER / "component.js").read_text(encoding="utf-8")
    found = dict(re.findall(r"(FULL|BROKEN|MASKED) = (\d+)", script))
    assert found == {"FULL": str(FULL), "BROKEN": str(BROKEN), "MASKED": str(MASKED)}
    assert NOT_A_NUMBER in (FOLDER / "component.css").read_text(encoding="utf-8")
