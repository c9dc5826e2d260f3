"""A PNG from numbers, with zlib alone."""

import base64
import struct
import zlib

import numpy as np
from jaxtyping import UInt8


def indexed_png(pixels: UInt8[np.ndarray, "row column"], palette: UInt8[np.ndarray, "colour 4"]) -> bytes:
    """An image of one byte a pixel, each the number of a colour: red, green, blue, opacity. Holds the colours used."""
    used, positions = np.unique(pixels, return_inverse=True)
    rows, columns = pixels.shape
    lines = np.zeros((rows, columns + 1), np.uint8)  # a line starts with its filter: 0, none
    lines[:, 1:] = positions.reshape(pixels.shape)
    colours = palette[used]
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", colours[:, :3].tobytes()),
            _chunk(b"tRNS", colours[:, 3].tobytes()),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def data_address(png: bytes) -> str:
    """The image as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
