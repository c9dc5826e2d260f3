"""Text inside SVG and HTML: escaped, with a visible stand-in for what a file may not hold or a reader cannot see."""

import json
import re
import unicodedata
from typing import Any

# Characters that XML forbids, and those that would turn, split or hide the text around them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufdd0-\ufdef\ud800-\udfff]"
    "|[" + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17)) + "]"
)
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_ENTITIES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", ord("'"): "&#39;"}
_VOID = frozenset({"rect", "line", "image", "stop", "path", "circle", "meta", "br"})
_CLUSTER = 12  # characters; more marks than that on one letter are left out


def visible(text: str) -> str:
    """The text with ␀, ␊, U+202E and so on for control characters and others that are not for showing."""
    return _UNSAFE.sub(lambda found: _stand_in(found[0]), text)


def escape(text: str) -> str:
    """Any text as markup that shows it, and is nothing else, between tags and in quoted attributes."""
    return visible(text).translate(_ENTITIES)


def isolated(text: str) -> str:
    """The same inside a sentence, which a right-to-left text then cannot turn around."""
    return f"\u2068{escape(text)}\u2069"


def escape_sentence(text: str) -> str:
    """The same as escape() for a sentence of ours, in which isolates stand around texts made visible before."""
    return re.sub("[^\u2068\u2069]+", lambda found: escape(found[0]), text)


def escaped_json(content: Any) -> str:
    """JSON as markup: reading the element's text back and parsing it gives every character again, whatever it is."""
    text = json.dumps(content, ensure_ascii=False)
    return _NOT_IN_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text).translate(_ENTITIES)


def tag(name: str, /, *children: str, **attributes: str | float | None) -> str:
    """An element. Children are markup; attribute values are escaped here, and left out where None.

    `font_size` is written font-size, and `class_` class.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(children)
    return f"<{name}{written}/>" if name in _VOID and not inside else f"<{name}{written}>{inside}</{name}>"


def shorten(text: str, longest: float = 22) -> str:
    """At most `longest` Latin letters wide, cut between characters as they are read, with … for the rest."""
    clusters = ["".join(cluster[:_CLUSTER]) for cluster in _clusters(visible(text))]
    if sum(map(_cluster_width, clusters)) <= longest:
        return "".join(clusters)
    kept, room = "", longest - 1
    for cluster in clusters:
        room -= _cluster_width(cluster)
        if room < 0:
            break
        kept += cluster
    return kept + "…"


def width(text: str) -> float:
    """How wide a text is drawn, roughly, in widths of a small Latin letter."""
    return sum(map(_cluster_width, _clusters(text)))


def right_to_left(text: str) -> bool:
    """Whether the first letter that has a direction runs from right to left."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def _stand_in(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"U+{code:04X}"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return escape(value)
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _clusters(text: str) -> list[list[str]]:
    """Characters with what is drawn on or joined to them; a simple form of Unicode's grapheme clusters."""
    clusters: list[list[str]] = []
    for character in text:
        joins = (
            unicodedata.category(character)[0] == "M" or character == "\u200d" or 0x1F3FB <= ord(character) <= 0x1F3FF
        )
        if clusters and (joins or clusters[-1][-1] == "\u200d"):
            clusters[-1].append(character)
        else:
            clusters.append([character])
    return clusters


def _cluster_width(cluster: list[str] | str) -> float:
    base = cluster[0]
    if unicodedata.east_asian_width(base) in "WF" or ord(base) > 0xFFFF:
        return 2.0
    if base in "mwMW@%—…␀":
        return 1.5
    return 1.25 if base.isupper() or ord(base) > 0x0700 else 1.0
