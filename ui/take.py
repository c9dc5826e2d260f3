"""Buttons for what can be taken away: files that are made when they are asked for, and pictures as SVG and PNG."""

import re
from collections.abc import Callable

import streamlit as st

from ui.png_button import png_button

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


def file_stem(name: str) -> str:
    """A name of letters, digits, points and hyphens, which every file system takes."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "roundtable"
