"""Text inside Markdown."""

import re

_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!:$~<>|&])")


def plain(text: object) -> str:
    """Text, or an error's, that Markdown shows as it is, on one line; for all that comes from a person or a file."""
    return _MARKS.sub(r"\\\1", " ".join(str(text).split()))
