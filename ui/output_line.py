"""A model's output token by token, shaded by how likely it finds each, and marked where another model's differs."""

import math
from collections.abc import Sequence
from difflib import SequenceMatcher
from html import escape

from transformer.analysis.trace import Trace


def output_line(trace: Trace, said: str, other: Trace | None = None) -> str:
    """What is written or read, its log-probability, and its tokens; those that `other` does not have are underlined.

    All text is escaped: it comes from a person or a model.
    """
    log_prob = f"{trace.translation.log_prob:.1f}".replace("-", "−")
    probabilities = [math.exp(value) for value in trace.translation.token_log_probs]
    apart = _apart(trace.target.labels, other.target.labels) if other is not None else set()
    pieces = " ".join(
        _piece(label, probability, place in apart)
        for place, (label, probability) in enumerate(zip(trace.target.labels, probabilities, strict=True))
    )
    likely = f"log-probability {log_prob} nats over {len(probabilities)} tokens; a stronger colour is a likelier token"
    if apart:
        likely += "; underlined: the other model writes something else"
    return (
        f'<div class="translation"><div class="note">{escape(said)}</div>'
        f'<div class="text" dir="auto">{escape(trace.target_text) or "(nothing)"}</div>'
        f'<div style="line-height:1.9">{pieces}</div><div class="note">{likely}</div></div>'
    )


def _piece(label: str, probability: float, differs: bool) -> str:
    under = ";text-decoration:underline 2px" if differs else ""
    style = f"background:rgba(76,138,229,{0.6 * probability:.2f});border-radius:4px;padding:1px 5px{under}"
    return f'<span style="{style}" title="probability {probability:.3f}">{escape(label)}</span>'


def _apart(own: Sequence[str], others: Sequence[str]) -> set[int]:
    """Places of tokens that are not among those which two outputs have in common, in order."""
    blocks = SequenceMatcher(None, list(own), list(others), autojunk=False).get_matching_blocks()
    common = {place for block in blocks for place in range(block.a, block.a + block.size)}
    return set(range(len(own))) - common
