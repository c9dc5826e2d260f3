"""Patterns made by hand, no two cells alike, and what reads pictures back into numbers."""

import base64
import struct
import zlib
from xml.etree import ElementTree

import numpy as np

from transformer.analysis.attention import Attention, Tokens
from transformer.export.about import About

SVG = "{http://www.w3.org/2000/svg}"
NAMES = {
    *("svg", "title", "desc", "metadata", "g", "defs", "pattern", "linearGradient", "stop"),
    *("rect", "line", "circle", "image", "text", "path"),
}
ABOUT = About("model", 1200, "a sentence", "ein Satz", "words")


def tokens(*labels: str) -> Tokens:
    special = tuple(label in ("<s>", "</s>") for label in labels)
    return Tokens(labels, labels, tuple(range(len(labels))), special)


def asymmetric(n_layers: int = 2, n_heads: int = 3) -> Attention:
    """Cross-attention of 3 queries to 4 keys; one key is masked for two queries."""
    shape = (n_layers, n_heads, 3, 4)
    pattern = (np.arange(np.prod(shape)).reshape(shape) / (np.prod(shape) - 1)).astype(np.float32)
    mask = np.ones((3, 4), bool)
    mask[0, 3] = mask[2, 1] = False
    return Attention(
        "cross", pattern * mask, pattern * 10, mask, tokens("q0", "q1", "q2"), tokens("k0", "k1", "k2", "k3")
    )


def long(n_tokens: int = 512) -> Attention:
    """Noise, which no image compresses, over a causal mask: 2 layers, 4 heads."""
    labels = tokens(*(f"w{place}" for place in range(n_tokens)))
    pattern = np.random.default_rng(0).random((2, 4, n_tokens, n_tokens), np.float32)
    mask = np.tri(n_tokens, dtype=bool)
    return Attention("decoder", pattern * mask, None, mask, labels, labels, labels)


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg.encode("utf-8"))


def assert_only_ours(svg: str) -> ElementTree.Element:
    """The picture, in which every element is one that we write, and no attribute runs or fetches anything."""
    root = parse(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= NAMES
    for element in root.iter():
        assert not any(name.startswith("on") for name in element.attrib)
        address = "data:image/png;base64,"
        assert element.attrib.get("href", address).startswith(address)
    return root


def shown(text: ElementTree.Element) -> str:
    """What a text element shows, without what is said when it is pointed at."""
    return "".join([text.text or "", *(child.tail or "" for child in text)])


def texts(root: ElementTree.Element) -> list[str]:
    """What every text element shows."""
    return list(map(shown, root.iter(f"{SVG}text")))


def image(element: ElementTree.Element) -> np.ndarray:
    """The colours of an embedded PNG, (row, column, red green blue opacity)."""
    png = base64.b64decode(element.attrib["href"].removeprefix("data:image/png;base64,"), validate=True)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(png):
        (length,), name = struct.unpack(">I", png[at : at + 4]), png[at + 4 : at + 8]
        content = png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length]) == (zlib.crc32(name + content),)
        chunks[name], at = content, at + 12 + length
    columns, rows, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 3, 0, 0, 0]
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(rows, columns + 1)
    assert not lines[:, 0].any()
    colours = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    opacity = np.frombuffer(chunks[b"tRNS"], np.uint8)
    return np.concatenate([colours, opacity[:, None]], axis=1)[lines[:, 1:]]
