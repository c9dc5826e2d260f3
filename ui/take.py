"""Buttons for what can be taken away: files that are made when they are asked for, and pictures as SVG and PNG."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.export.tables import Rows, arrays_npz, table_csv, table_json
from ui.png_button import png_button

Facts = Mapping[str, Any]
Arrays = Mapping[str, np.ndarray | Sequence[str]]

MIME = {
    "CSV": "text/csv",
    "NPZ": "application/octet-stream",
    "JSON": "application/json",
    "SVG": "image/svg+xml",
    "HTML": "text/html",
}
WIDTH = 92


def file_button(kind: str, make: Callable[[], bytes] | bytes, name: str, key: str, label: str = "") -> None:
    """Saves a file of a kind that MIME names; `name` is the file's, without its ending."""
    file_name, key = f"{file_stem(name)}.{kind.lower()}", f"{key}_{kind.lower()}"
    width = "content" if label else WIDTH
    st.download_button(label or kind, make, file_name, MIME[kind], key=key, on_click="ignore", width=width)


def picture_buttons(svg: str, name: str, key: str) -> None:
    """SVG, and the PNG that the browser makes of it, side by side in a row that is there already."""
    file_button("SVG", svg.encode(), name, key)
    with st.container(width=WIDTH):
        png_button(svg, f"{file_stem(name)}.png", key=f"{key}_png")


def number_buttons(
    tables: Mapping[str, Callable[[], Rows]], arrays: Callable[[], Arrays] | None, facts: Facts, name: str, key: str
) -> None:
    """CSV and JSON of every table, which are called by what they hold, and one NPZ of the arrays, if there are any."""
    for shown, rows in tables.items():
        with named_row(shown):
            of = f"{name}-{shown}", f"{key}_{shown}"
            file_button("CSV", lambda rows=rows: table_csv(rows(), facts), *of)
            file_button("JSON", lambda shown=shown, rows=rows: table_json(shown, rows(), facts), *of)
    if arrays is not None:
        with named_row("arrays"):
            file_button("NPZ", lambda: arrays_npz(arrays(), facts), f"{name}-arrays", key)


def named_row(name: str) -> DeltaGenerator:
    """A row that begins with what its buttons save."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.markdown(name, width="stretch")
    return row


def file_stem(name: str) -> str:
    """A name of letters, digits, points and hyphens, which every file system takes."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "roundtable"
