"""A whole SVG file: what the picture is, where it comes from, and the picture; or several such files as one.

Pictures are drawn for white paper; inside a page, CSS may clear `.paper` and set `color`, and text and axes follow.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from transformer import __version__
from transformer.analysis.attention import Kind
from transformer.export.about import About
from transformer.export.markup import escape, escaped_json, isolated, shorten, tag, visible, width
from transformer.export.palette import KIND_COLOURS, KIND_NAMES
from transformer.export.svg import HEADING, LETTER, MARGIN, wrapped

INK = "#14171b"
NAMESPACE = "http://www.w3.org/2000/svg"
_FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif"
_NOTE = 18.0  # pixels a line below a picture
_CAPTION, _MOST_LINES = 17.0, 3  # size and number of the lines above pictures side by side
_SIZE = re.compile(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"')
_NAMED = re.compile(r'( id="|="url\(#)')


def kind_title(kind: Kind, name: str) -> str:
    """A picture's title; name is such as "L0·H3"."""
    return f"{KIND_NAMES[kind]}, {name}"


def document(
    size: tuple[float, float],
    body: Sequence[str],
    title: str,
    about: About,
    facts: Mapping[str, Any],
    kind: Kind = "cross",
) -> str:
    """The whole picture with its heading and what it says of itself; the body is markup below HEADING."""
    longest = (size[0] - 2 * MARGIN) / 12 / LETTER
    dot = tag("circle", cx=MARGIN + 5, cy=MARGIN + 7, r=5, fill=KIND_COLOURS[kind])
    heading = tag("text", escape(title), x=MARGIN + 18, y=MARGIN + 12, font_size=15, font_weight=600)
    line = tag("text", escape(shorten(about.line, longest)), x=MARGIN, y=MARGIN + 31, font_size=12, opacity=0.75)
    said = f"{title}, of {about.line}, for the sentence: {shorten(about.sentence, 200)}"
    return _file(size, title, said, facts, [dot, heading, line, *body])


def least_width(about: About, title: str) -> float:
    """What the heading needs."""
    needed = 15 * LETTER * width(title) + 18
    return 2 * MARGIN + max(needed, min(12 * LETTER * width(about.line) + 8, 600))


def framed(
    picture: str, title: str, about: About, facts: Mapping[str, Any], notes: Sequence[str] = (), kind: Kind = "cross"
) -> str:
    """A picture that a page shows bare, as a file: below a heading, with notes, each a line of text, beneath it."""
    across, down = size_of(picture)
    placed = picture.replace("<svg", f'<svg x="{MARGIN:g}" y="{HEADING + MARGIN:g}"', 1)
    bottom = HEADING + MARGIN + down + 8
    below = [
        tag("text", escape(note), x=MARGIN, y=bottom + _NOTE * (row + 0.8), font_size=12, opacity=0.8)
        for row, note in enumerate(notes)
    ]
    widest = max((12 * LETTER * width(note) for note in notes), default=0)
    size = max(across, widest) + 2 * MARGIN, bottom + _NOTE * len(notes) + MARGIN
    return document((max(size[0], least_width(about, title)), size[1]), [placed, *below], title, about, facts, kind)


def beside(pictures: Sequence[str], captions: Sequence[str], title: str, facts: Sequence[Mapping[str, Any]]) -> str:
    """Whole pictures side by side in one file, from left to right, each below its caption; facts are those of each."""
    widths, heights = zip(*map(size_of, pictures), strict=True)
    lines = [
        wrapped(visible(caption), (across - 2 * MARGIN) / _CAPTION / LETTER / 1.1)[:_MOST_LINES]
        for caption, across in zip(captions, widths, strict=True)
    ]
    above = MARGIN + _CAPTION * 1.25 * max(map(len, lines))
    x, placed = 0.0, []
    for place, picture in enumerate(pictures):
        for row, text in enumerate(lines[place]):
            y = MARGIN + _CAPTION * (1 + 1.25 * row)
            placed.append(
                tag("text", isolated(text), x=x + MARGIN, y=y, font_size=_CAPTION, font_weight=650, data_picture=place)
            )
        placed.append(renamed(picture, f"p{place}-").replace("<svg", f'<svg x="{x:g}" y="{above:g}"', 1))
        x += widths[place]
    whole = {"program": "Roundtable", "version": __version__, "pictures": list(map(dict, facts))}
    return _file((x, above + max(heights)), title, title, whole, placed)


def renamed(picture: str, before: str) -> str:
    """The picture with its own names for what it refers to: no two elements of one file may have the same."""
    return _NAMED.sub(rf"\g<1>{before}", picture)


def size_of(picture: str) -> tuple[float, float]:
    """Width and height in pixels of an SVG of ours."""
    found = _SIZE.match(picture)
    if found is None:
        raise ValueError(f"This picture has no size: {picture[:80]!r}.")
    return float(found[1]), float(found[2])


def _file(size: tuple[float, float], title: str, said: str, facts: Mapping[str, Any], body: Sequence[str]) -> str:
    across, down = map(math.ceil, size)
    return tag(
        "svg",
        tag("title", escape(title)),
        tag("desc", escape(said)),
        tag("metadata", escaped_json(facts)),
        tag("rect", class_="paper", width=size[0], height=size[1], fill="#ffffff"),
        *body,
        xmlns=NAMESPACE,
        width=across,
        height=down,
        viewBox=f"0 0 {across} {down}",
        role="img",
        font_family=_FONT,
        color=INK,
        fill="currentColor",
    )
