"""What several models write or read, one below the other: tokens shaded by probability, and those that differ."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape

from transformer.analysis.trace import Trace


@dataclass(frozen=True)
class Output:
    """One target as one model finds it, token by token or, merged, word by word."""

    labels: tuple[str, ...]
    log_probs: tuple[float, ...]
    """Natural logarithms; those of a word's pieces are added."""
    generated: bool

    @classmethod
    def of(cls, trace: Trace, *, words: bool) -> "Output":
        log_probs = trace.translation.token_log_probs
        if not words:
            return cls(trace.target.labels, log_probs, trace.translation.generated)
        sums: dict[int, float] = {}
        for word, value in zip(trace.target.words, log_probs, strict=True):
            sums[word] = sums.get(word, 0.0) + value
        return cls(trace.target.merged().labels, tuple(sums.values()), trace.translation.generated)

    @property
    def log_prob(self) -> float:
        return sum(self.log_probs)


@dataclass(frozen=True)
class Line:
    """A model's row: what it is called, what is said of it, and its output."""

    name: str
    about: str
    read: Output
    writes: Output | None = None
    """Its own translation, where it read another target."""


def outputs_html(lines: Sequence[Line]) -> str:
    """A block for each model, the first one's first. Underlined is what the first one's own output does not have, and
    in that what not all others have.

    All text is escaped: it comes from a person or a model.
    """
    written = [line.writes or (line.read if line.read.generated else None) for line in lines]
    blocks = []
    for number, line in enumerate(lines):
        own = written[number]
        differing = set() if own is None else _differing(own, written, number)
        verb = "writes" if line.read.generated else "reads, as its target,"
        rows = [_row(verb, line.read, differing if line.read.generated else set())]
        if line.writes is not None and line.writes.labels != line.read.labels:
            rows.append(_row("would write", line.writes, differing))
        about = f' <span class="note">{escape(line.about)}</span>' if line.about else ""
        blocks.append(f'<div style="margin-bottom:.6rem"><b>{escape(line.name)}</b>{about}{"".join(rows)}</div>')
    note = "A stronger colour is a likelier token; pointing at one says its probability."
    if any(one is not None and _differing(one, written, at) for at, one in enumerate(written)):
        note += " Underlined: not what the others write."
    return f'<div class="translation">{"".join(blocks)}<div class="note">{note}</div></div>'


def _differing(own: Output, written: Sequence[Output | None], number: int) -> set[int]:
    """Places of tokens that the first model's output lacks; for the first itself, that any other's lacks."""
    others = [one for one in (written[1:] if number == 0 else written[:1]) if one is not None]
    return {place for other in others for place in apart(own.labels, other.labels)}


def apart(own: Sequence[str], others: Sequence[str]) -> set[int]:
    """Places of tokens that are not among those which two outputs have in common, in order."""
    blocks = SequenceMatcher(None, list(own), list(others), autojunk=False).get_matching_blocks()
    common = {place for block in blocks for place in range(block.a, block.a + block.size)}
    return set(range(len(own))) - common


def _row(verb: str, output: Output, differing: set[int]) -> str:
    pieces = " ".join(
        _piece(label, value, place in differing)
        for place, (label, value) in enumerate(zip(output.labels, output.log_probs, strict=True))
    )
    log_prob = f"{round(output.log_prob, 1) + 0.0:.1f}".replace("-", "−")  # −0 is 0
    return (
        f'<div style="line-height:1.95" dir="auto"><span class="note">{escape(verb)}</span> {pieces} '
        f'<span class="note">{log_prob} nats</span></div>'
    )


def _piece(label: str, log_prob: float, differs: bool) -> str:
    probability = math.exp(min(log_prob, 0.0)) if math.isfinite(log_prob) else 0.0
    under = ";text-decoration:underline 2px" if differs else ""
    style = f"background:rgba(76,138,229,{0.6 * probability:.2f});border-radius:4px;padding:1px 5px{under}"
    return f'<bdi style="{style}" title="probability {probability:.3f}">{escape(label)}</bdi>'
