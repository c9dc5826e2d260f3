"""A target token by token: how likely each was, how sure the model was, and what else it would have written there.

Every alternative is a button (ui/translation_tokens.js, ui/translation_tokens.css): decoding goes on from it.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, Any

import streamlit as st

from transformer.text.tokenizer import EOS
from ui.component import own_component
from ui.theme import KIND_COLOURS

if TYPE_CHECKING:
    from transformer.decoding.score import TargetScore

MOST = 40
"""Tokens that are drawn; of a longer target those around the current step."""

_HTML = '<div class="note" hidden></div><ol class="tokens" aria-label="tokens of the translation"></ol>'

_component = own_component("translation_tokens", _HTML)


def translation_tokens(
    data: Mapping[str, Any],
    on_pick: Callable[[int, int], None],
    on_step: Callable[[int], None],
    key: str = "translation_tokens",
) -> None:
    """Draw a payload. A click on an alternative calls on_pick(position, rank), one on a token on_step(position)."""

    def picked() -> None:
        place = _numbers(st.session_state[key].picked, 2)
        if place is not None:
            on_pick(*place)

    def stepped() -> None:
        place = _numbers([st.session_state[key].stepped], 1)
        if place is not None:
            on_step(*place)

    _component(data=data, key=key, on_picked_change=picked, on_stepped_change=stepped)


def payload(
    scored: "TargetScore", labels: Sequence[str], name: Callable[[int], str], position: int, n_given: int
) -> dict[str, Any]:
    """What the browser gets.

    labels: of the tokens. name: the label of a piece that stands alone. position: of the token that is being written,
    which is marked. n_given: so many of the first tokens were given, not searched.
    """
    first = max(0, min(position - MOST // 2, len(labels) - MOST))
    shown = range(first, min(first + MOST, len(labels)))
    return {
        "tokens": [_token(scored, labels[place], name, place, n_given) for place in shown],
        "position": position,
        "colour": KIND_COLOURS["cross"],
        "note": f"Tokens {first + 1} to {shown.stop} of {len(labels)}, around the step." if len(labels) > MOST else "",
    }


def _token(scored: "TargetScore", label: str, name: Callable[[int], str], place: int, n_given: int) -> dict[str, Any]:
    pairs = zip(scored.alternatives[place], scored.alternative_log_probs[place], strict=True)
    return {
        "position": place,
        "label": label,
        "probability": exp(scored.token_log_probs[place]),
        "log_prob": scored.token_log_probs[place],
        "entropy": scored.entropies[place],
        "given": place < n_given,
        "alternatives": [
            {
                "label": name(piece),
                "probability": exp(log_prob),
                "written": piece == scored.tokens[place],
                "ends": piece == EOS,
            }
            for piece, log_prob in pairs
        ],
    }


def _numbers(values: Any, count: int) -> list[int] | None:
    """Whole numbers of at least 0, as many as wanted; None for anything else that a browser may send."""
    if not isinstance(values, (list, tuple)) or len(values) != count:
        return None
    whole = [int(value) for value in values if isinstance(value, (int, float)) and value == value // 1 and value >= 0]
    return whole if len(whole) == count else None
