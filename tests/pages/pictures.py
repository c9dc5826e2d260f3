"""What AppTest's app shows, as data: the grid, the opened head, the texts."""

import base64
import json
import struct
from typing import Any

import numpy as np


def grid(app: Any, place: int = 0) -> dict:
    """What a head grid was sent, without the pixels."""
    data = grids(app)[place]
    (length,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + length])


def pixels(app: Any, place: int = 0) -> np.ndarray:
    """The bytes of its maps, (layer, head, row, column)."""
    data, header = grids(app)[place], grid(app, place)
    (length,) = struct.unpack_from("<I", data)
    shape = len(header["layers"]), len(header["heads"]), *header["shape"]
    return np.frombuffer(data[4 + length :], np.uint8).reshape(shape)


def grids(app: Any) -> list[bytes]:
    found = [component.proto.bytes for component in app.get("bidi_component")]
    return [data for data in found if data[4:5] == b"{" and b'"palette"' in data]


def figure(app: Any, place: int = 0) -> dict:
    return json.loads(app.get("plotly_chart")[place].proto.spec)


def opened(app: Any, place: int = 0) -> np.ndarray:
    """The weights of an opened head, (query, key); NaN where masked."""
    z = next(trace for trace in figure(app, place)["data"] if trace["type"] == "heatmap")["z"]
    rows, columns = map(int, z["shape"].split(","))
    return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(rows, columns)


def text(app: Any) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def assert_plain(app: Any) -> None:
    assert not app.exception
    assert not app.error
