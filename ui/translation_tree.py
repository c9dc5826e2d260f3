"""A beam search as a tree: a column for each position of the target, a line from each hypothesis to what it became."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from transformer.decoding.hypothesis import length_penalty
from transformer.export.markup import escape, shorten, tag
from ui.theme import KIND_COLOURS

if TYPE_CHECKING:
    from transformer.decoding.record import Record, Step

MOST_STEPS = 16
"""Columns that are drawn; of a longer search those around the current step."""

PALE = 0.62
"""Opacity of what is still to come; fainter text would be hard to read."""

_ROW, _TOP, _LEFT, _BOX = 30, 30, 8, 22  # pixels
_LETTER = 6.6


def first_shown(record: "Record", position: int) -> int:
    """The first step that is drawn when the token at this position is being written."""
    at = position - len(record.prefix)
    return max(0, min(at - MOST_STEPS // 2, len(record.steps) - MOST_STEPS))


def tree_svg(record: "Record", path: Sequence[int], position: int, name: Callable[[int], str], across: int) -> str:
    """The tree as SVG, `across` pixels wide.

    path: places of the opened hypothesis, from Record.path, drawn strong. position: of the token that is being written;
    what comes later is pale. name: the label of a piece.
    """
    first = first_shown(record, position)
    steps = record.steps[first : first + MOST_STEPS]
    pitch = (across - 2 * _LEFT) / max(len(steps), 6)
    parts = []
    for column, step in enumerate(steps):
        parts.append(_column_title(column, step, pitch, step.position == position))
        for place, beam in enumerate(step.beams):
            index = first + column
            on_path = index < len(path) and path[index] == place
            from_path = index > 0 and index - 1 < len(path) and path[index - 1] == beam.parent
            pale = PALE if step.position > position else 1.0
            if column:
                parts.append(_line(column, beam.parent, place, pitch, on_path and from_path, pale))
            parts.append(_node(record, step, column, place, pitch, on_path, pale, name))
    height = _TOP + _ROW * max((len(step.beams) for step in steps), default=0)
    title = tag("title", escape(describe_tree(record, name)))
    return tag(
        "svg", title, *parts, width=across, height=height, viewBox=f"0 0 {across} {height}", role="img",
        class_="beam-tree",
    )  # fmt: skip


def describe_tree(record: "Record", name: Callable[[int], str]) -> str:
    """The tree in a sentence, for those who do not see it."""
    kept = sum(len(step.beams) for step in record.steps)
    best = " ".join(name(piece) for piece in record.found[0].tokens)
    return f"Beam search over {len(record.steps)} steps that kept {kept} hypotheses; the best one reads {best}."


def _column_title(column: int, step: "Step", pitch: float, current: bool) -> str:
    weight, opacity = (750, None) if current else (None, 0.75)
    x = _LEFT + pitch * column + (pitch - 12) / 2
    return tag(
        "text", str(step.position + 1), x=x, y=14, font_size=12, text_anchor="middle", fill="currentColor",
        font_weight=weight, opacity=opacity,
    )  # fmt: skip


def _line(column: int, parent: int, place: int, pitch: float, strong: bool, opacity: float) -> str:
    left, right = _LEFT + pitch * column - 12, _LEFT + pitch * column
    y = [_TOP + _ROW * at + _BOX / 2 for at in (parent, place)]
    middle = (left + right) / 2
    ink, thick = (KIND_COLOURS["cross"], 2.5) if strong else ("currentColor", 1)
    return tag(
        "path", d=f"M{left:.1f} {y[0]:.1f}C{middle:.1f} {y[0]:.1f} {middle:.1f} {y[1]:.1f} {right:.1f} {y[1]:.1f}",
        fill="none", opacity=opacity if strong else 0.55 * opacity, stroke=ink, stroke_width=thick,
    )  # fmt: skip


def _node(
    record: "Record", step: "Step", column: int, place: int, pitch: float, strong: bool, opacity: float, name: Callable
) -> str:
    beam = step.beams[place]
    x, y = _LEFT + pitch * column, _TOP + _ROW * place
    label = shorten(name(beam.tokens[-1]), max(2.0, (pitch - 16) / _LETTER))
    score = beam.log_prob / length_penalty(len(beam.tokens), record.alpha)
    said = f"{' '.join(map(name, beam.tokens))}: log-probability {beam.log_prob:.3f} nats"
    said += f", ended with score {score:.3f}" if beam.ended else ", goes on" if _has_child(record, step, place) else ""
    colour = KIND_COLOURS["cross"]
    box = {"stroke": colour, "stroke_width": 2} if strong else {"stroke": "currentColor", "stroke_opacity": 0.4}
    return tag(
        "g",
        tag("title", escape(said)),
        tag(
            "rect", x=x, y=y, width=pitch - 12, height=_BOX, rx=11 if beam.ended else 4,
            fill=colour if strong else "currentColor", fill_opacity=0.16 if strong else 0.05, **box,
        ),
        tag(
            "text", escape(label), x=x + (pitch - 12) / 2, y=y + 15.5, font_size=12.5, text_anchor="middle",
            fill="currentColor", font_weight=650 if strong else None,
        ),
        opacity=opacity,
        class_="ended" if beam.ended else "open",
    )  # fmt: skip


def _has_child(record: "Record", step: "Step", place: int) -> bool:
    following = step.position - len(record.prefix) + 1
    return following < len(record.steps) and any(beam.parent == place for beam in record.steps[following].beams)
