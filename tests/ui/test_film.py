"""What the film sends to the browser, read back byte by byte."""

import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from tests import hostile
from tests.ui.samples import attention, random, tokens
from transformer.analysis.trace import Trace, Translation
from transformer.training.probes import Probe
from ui.film import FULL, MASKED, payload, to_bytes


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


def test_weights_are_bytes_and_masked_ones_are_told_apart():
    pattern = np.array([[[[1.0, 0.0], [0.5, 0.5]]]])
    mask = np.array([[True, False], [True, True]])
    assert to_bytes(pattern, mask).tolist() == [[[[FULL, MASKED], [127, 127]]]]


def test_what_is_no_weight_does_not_overflow():
    assert to_bytes(np.array([[[[np.nan, 2.0, -1.0]]]]), np.ones((1, 3), bool)).tolist() == [[[[0, FULL, 0]]]]


def test_a_frame_has_its_own_shape_and_place_among_the_bytes():
    header, cells = read(payload("run.0.cross", PROBE, "cross", (0, 0)))
    first, second = header["frames"]
    assert (first["step"], first["shape"], first["offset"], first["own"]) == (0, [2, 2], 0, "b")
    assert (second["step"], second["shape"], second["offset"], second["own"]) == (7, [1, 2], 4, "")
    assert cells.tolist() == [FULL, 0, 0, FULL, 127, 127]
    assert (first["queries"], first["keys"]) == (["b", "</s>"], ["a", "</s>"])
    assert (header["layers"], header["heads"], header["selected"]) == (1, ["0"], [0, 0])
    assert header["query"].startswith("query")
    assert header["key"].startswith("key")


def test_a_decoder_is_masked_above_its_diagonal():
    header, cells = read(payload("run.0.decoder", PROBE, "decoder", (0, 0)))
    assert header["masked"]
    assert not read(payload("run.0.cross", PROBE, "cross", (0, 0)))[0]["masked"]
    assert cells.tolist() == [FULL, MASKED, 127, 127, FULL]


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_arrives_as_it_was(text):
    probe = Probe(text, None, (trace(3, [[1, 0], [0, 1]], (text, "</s>")),), (text,))
    header, _ = read(payload("run", probe, "cross", (0, 0)))
    assert (header["frames"][0]["queries"][0], header["frames"][0]["own"]) == (text, text)
