"""Target words on the left, source words on the right, and lines between them: an alignment, or what one step sees."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from transformer.export.markup import escape, isolated, shorten, tag, width
from ui.theme import KIND_COLOURS

MOST_WORDS = 64
"""On a side; beyond that a page shows the matrix."""

_FONT, _PITCH, _LETTER, _LONGEST, _TOP = 15, 26.0, 8.0, 20, 34.0


@dataclass(frozen=True)
class Line:
    """From a target word to a source word, both counted from 0."""

    target: int
    source: int
    strength: float
    """0 (invisible) to 1 (opaque)."""
    said: str
    """What it is, when pointed at."""


def lines_svg(
    targets: Sequence[str],
    sources: Sequence[str],
    lines: Sequence[Line],
    titles: tuple[str, str],
    *,
    current: int | None = None,
    pale: Collection[int] = (),
    numbers: Sequence[str] = (),
    between: float = 150.0,
) -> str:
    """The picture as SVG in the page's own colour.

    current: the target word that is bold. pale: target words that are not written yet. numbers: one beside each source
    word, or none.
    """
    shown = [shorten(label, _LONGEST) for label in targets], [shorten(label, _LONGEST) for label in sources]
    room = [
        max(width(title) * 7.0, *(width(label) * _LETTER for label in side))
        for side, title in zip(shown, titles, strict=True)
    ]
    left = room[0] + 10
    right = left + between
    parts = [
        tag("text", escape(titles[0]), x=left - 8, y=14, text_anchor="end", font_size=12, opacity=0.8),
        tag("text", escape(titles[1]), x=right + 8, y=14, font_size=12, opacity=0.8),
    ]
    parts += [
        tag(
            "line", tag("title", escape(line.said)), x1=left, y1=_middle(line.target), x2=right,
            y2=_middle(line.source), stroke=KIND_COLOURS["cross"], stroke_opacity=round(line.strength, 3),
            stroke_width=3, stroke_linecap="round", data_line=f"{line.target},{line.source}",
        )
        for line in sorted(lines, key=lambda each: each.strength)
    ]  # fmt: skip
    for place, label in enumerate(shown[0]):
        bold = 700 if place == current else None
        parts.append(_word(label, targets[place], left - 8, place, "end", 0.6 if place in pale else None, bold))
    for place, label in enumerate(shown[1]):
        parts.append(_word(label, sources[place], right + 8, place, None, None, None))
        if numbers:
            x = right + 18 + width(label) * 1.08 * _LETTER
            parts.append(tag("text", escape(numbers[place]), x=x, y=_middle(place) + 4.5, font_size=12, opacity=0.75))
    across = right + 20 + room[1] + (44 if numbers else 0)
    height = _TOP + _PITCH * max(len(targets), len(sources), 1)
    said = f"{len(lines)} lines between {len(targets)} target and {len(sources)} source words."
    return tag(
        "svg", tag("title", said), *parts, width=round(across), height=round(height),
        viewBox=f"0 0 {across:.0f} {height:.0f}", role="img", fill="currentColor", class_="word-lines",
    )  # fmt: skip


def _word(
    label: str, whole: str, x: float, place: int, anchor: str | None, opacity: float | None, weight: int | None
) -> str:
    said = tag("title", escape(whole)) if label != whole else ""
    return tag(
        "text", said, isolated(label), x=x, y=_middle(place) + _FONT * 0.35, font_size=_FONT, text_anchor=anchor,
        opacity=opacity, font_weight=weight,
    )  # fmt: skip


def _middle(place: int) -> float:
    return _TOP + _PITCH * (place + 0.5)
