"""What the film sends to the browser, read back byte by byte."""

import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from tests import hostile
from tests.ui.samples import attention, random, tokens
from transformer.analysis.trace import Trace, Translation
from transformer.export.palette import NOT_A_NUMBER
from transformer.training.probes import Probe
from ui.component import BROKEN, FULL, MASKED
from ui.film import NEWEST, payload


def trace(step: int, weights: list, queries: tuple[str, ...]) -> Trace:
    """One head in one layer, whose cross-attention has these weights over two keys."""
    source, written = tokens("a", "</s>"), tokens(*queries)
    encoder = attention([[[[0.75, 0.25], [0.5, 0.5]]]], source, source, kind="encoder")
    n = len(queries)
    decoder = attention(np.tri(n)[None, None] / np.arange(1, n + 1)[:, None], written, tokens("<s>", *queries[:-1]),
                        kind="decoder", mask=np.tri(n, dtype=bool))  # fmt: skip
    cross = attention([[weights]], written, source)
    return Trace("run", step, "a", Translation("", True, (), 0.0), encoder, decoder, cross)


PROBE = Probe("a", None, (trace(0, [[1, 0], [0, 1]], ("b", "</s>")), trace(7, [[0.5, 0.5]], ("</s>",))), ("b", ""))


def many_heads() -> Probe:
    """Two steps of two layers with two heads each."""
    sides = [random(2, 2, 3, 3, kind=kind) for kind in ("encoder", "decoder", "cross")]
    decoder = replace(sides[1], mask=np.tri(3, dtype=bool))
    traces = [Trace("run", step, "a", Translation("b", True, (), 0.0), sides[0], decoder, sides[2]) for step in (0, 9)]
    return Probe("a", None, tuple(traces), ("b", "c"))


def read(data: bytes) -> tuple[dict, np.ndarray]:
    (length,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + length]), np.frombuffer(data[4 + length :], np.uint8)


def test_a_weight_that_is_no_number_is_drawn_as_broken_and_a_masked_one_as_masked():
    pattern = np.array([[[[1, np.nan], [np.nan, 0.5]]]], np.float32)
    broken = replace(PROBE.traces[0].decoder, pattern=pattern)
    probe = replace(PROBE, traces=(replace(PROBE.traces[0], decoder=broken), PROBE.traces[1]))
    header, cells = read(payload(probe, "decoder", (0, 0)))
    assert cells.tolist() == [FULL, MASKED, BROKEN, 126, FULL]
    assert (header["masked"], header["broken"]) == (True, True)
    assert header["palette"][6 * BROKEN :] == NOT_A_NUMBER[1:]
    assert not read(payload(PROBE, "decoder", (0, 0)))[0]["broken"]


def test_it_stands_at_the_newest_step_or_at_the_one_that_was_asked_for():
    assert read(payload(PROBE, "cross", (0, 0)))[0]["step"] == NEWEST
    assert read(payload(PROBE, "cross", (0, 0), 0))[0]["step"] == 0


def test_a_frame_has_its_own_shape_and_place_among_the_bytes():
    header, cells = read(payload(PROBE, "cross", (0, 0)))
    first, second = header["frames"]
    assert (first["step"], first["shape"], first["offset"], first["own"]) == (0, [2, 2], 0, "b")
    assert (second["step"], second["shape"], second["offset"], second["own"]) == (7, [1, 2], 4, "")
    assert cells.tolist() == [FULL, 0, 0, FULL, 126, 126]
    assert (first["queries"], first["keys"]) == (["b", "</s>"], ["a", "</s>"])
    assert (header["layers"], header["heads"], header["selected"]) == (1, ["0"], [0, 0])
    assert header["query"].startswith("query")
    assert header["key"].startswith("key")


def test_a_decoder_is_masked_above_its_diagonal():
    header, cells = read(payload(PROBE, "decoder", (0, 0)))
    assert header["masked"]
    assert not read(payload(PROBE, "cross", (0, 0)))[0]["masked"]
    assert cells.tolist() == [FULL, MASKED, 126, 126, FULL]


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_arrives_as_it_was(text):
    probe = Probe(text, None, (trace(3, [[1, 0], [0, 1]], (text, "</s>")),), (text,))
    header, _ = read(payload(probe, "cross", (0, 0)))
    assert (header["frames"][0]["queries"][0], header["frames"][0]["own"]) == (text, text)
