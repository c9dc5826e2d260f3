"""A target token by token as an SVG: how likely each was, how unsure the model was, what else it would have written."""

from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, Any

from transformer.export.about import About
from transformer.export.markup import escape, isolated, shorten, tag
from transformer.export.numbers import number, percent
from transformer.export.palette import KIND_COLOURS
from transformer.export.svg import HEADING, LETTER, MARGIN, label, text_width
from transformer.export.svg_document import document, least_width

if TYPE_CHECKING:
    from transformer.decoding.score import TargetScore

_FONT, _ROW, _BAR, _NUMBER, _OTHER = 14.0, 24.0, 150.0, 62.0, 128.0  # pixels
_LONGEST_OTHER, _MOST_OTHERS = 11, 4


def tokens_svg(
    scored: "TargetScore",
    labels: Sequence[str],
    name: Callable[[int], str],
    title: str,
    about: About,
    facts: Mapping[str, Any],
    n_given: int = 0,
) -> str:
    """One row a token: a bar as long as its probability, its logarithm, the entropy, and the likeliest others.

    name: the label of a piece that stands alone. n_given: so many of the first tokens were given, not searched; their
    bars are hollow. Raises ValueError, in one sentence, where there is no token.
    """
    if not labels:
        raise ValueError("There is nothing to draw: the target has no tokens.")
    left = MARGIN + text_width([str(len(labels))], 12) + 12
    bars = left + max(text_width(labels, _FONT), 40) + 14
    numbers = bars + _BAR + 10
    others = numbers + 3 * _NUMBER + 14
    top = HEADING + MARGIN + 30
    n_others = max(len(_others(scored, place)) for place in range(len(labels)))
    parts = [_heads(left, bars, numbers, others, top - 12, n_others)]
    for place, text in enumerate(labels):
        y = top + _ROW * place
        row = [
            tag("text", str(place + 1), x=left - 12, y=y + 16, font_size=12, text_anchor="end", opacity=0.75),
            label(text, left, y + 16, _FONT, data_token=place, font_weight=600),
            _bar(exp(scored.token_log_probs[place]), bars, y + 5, place, place < n_given),
        ]
        for column, said in enumerate(
            (
                percent(exp(scored.token_log_probs[place])),
                number(scored.token_log_probs[place]),
                number(scored.entropies[place]),
            )
        ):
            x = numbers + _NUMBER * (column + 1) - 14
            row.append(tag("text", escape(said), x=x, y=y + 16, font_size=12, text_anchor="end"))
        for column, (piece, log_prob) in enumerate(_others(scored, place)):
            said = f"{isolated(shorten(name(piece), _LONGEST_OTHER))} {escape(percent(exp(log_prob)))}"
            row.append(tag("text", said, x=others + _OTHER * column, y=y + 16, font_size=12))
        parts.append(tag("g", *row))
    bottom = top + _ROW * len(labels) + 18
    parts.append(tag("text", _note(n_given), x=MARGIN, y=bottom, font_size=11, opacity=0.75))
    across = max(others + _OTHER * n_others, 11 * LETTER * len(_note(n_given)) + MARGIN) + MARGIN
    return document((max(across, least_width(about, title)), bottom + MARGIN), parts, title, about, facts)


def _others(scored: "TargetScore", place: int) -> list[tuple[int, float]]:
    """The likeliest pieces but the one that is written, with their log-probabilities."""
    pairs = zip(scored.alternatives[place], scored.alternative_log_probs[place], strict=True)
    return [(piece, log_prob) for piece, log_prob in pairs if piece != scored.tokens[place]][:_MOST_OTHERS]


def _heads(left: float, bars: float, numbers: float, others: float, y: float, n_others: int) -> str:
    columns = [("token", left, None), ("probability", bars, None)]
    columns += [(said, numbers + _NUMBER * (at + 1) - 14, "end") for at, said in enumerate(("p", "log p", "entropy"))]
    columns += [("instead it would write", others, None)] if n_others else []
    heads = (tag("text", said, x=x, y=y, text_anchor=anchor) for said, x, anchor in columns)
    return tag("g", *heads, font_size=12, opacity=0.8)


def _bar(share: float, x: float, y: float, place: int, given: bool) -> str:
    colour = KIND_COLOURS["cross"]
    whole = tag("rect", x=x, y=y, width=_BAR, height=12, rx=2, fill="#808080", fill_opacity=0.18)
    look = {"fill": "none", "stroke": colour} if given else {"fill": colour}
    return whole + tag("rect", x=x, y=y, width=_BAR * min(share, 1.0), height=12, rx=2, data_bar=place, **look)


def _note(n_given: int) -> str:
    given = f" The first {n_given} tokens were given: their bars are hollow." if n_given else ""
    return f"Probabilities given the source and the tokens before; logarithms and entropies in nats.{given}"
