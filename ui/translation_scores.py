"""Tables and cards of the page Translation as HTML, with everything escaped that was typed or comes from a model."""

from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING

from transformer.export.markup import escape, isolated, tag
from transformer.export.numbers import number, percent, scientific
from ui.theme import KIND_COLOURS

if TYPE_CHECKING:
    from transformer.decoding.score import TargetScore


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], marked: int | None = None, text_columns: int = 1) -> str:
    """An HTML table; heads and cells are markup. The first `text_columns` columns are text, the others numbers."""
    head = tag("tr", *(tag("th", each, scope="col", class_=_class(at, text_columns)) for at, each in enumerate(heads)))
    body = [
        tag(
            "tr",
            *(tag("td", each, class_=_class(at, text_columns)) for at, each in enumerate(row)),
            class_="marked" if place == marked else None,
        )
        for place, row in enumerate(rows)
    ]
    return tag("table", tag("thead", head), tag("tbody", *body), class_="numbers")


def score_card(title: str, text: str, labels: Sequence[str], scored: "TargetScore", alpha: float) -> str:
    """A target with the log-probability of each token, their sum and their mean."""
    totals = table(
        ("tokens", "log-probability", "per token", f"score, α = {alpha:.1f}"),
        [(str(len(labels)), number(scored.log_prob), number(scored.mean, 3), number(scored.score(alpha), 3))],
        text_columns=0,
    )
    rows = [
        (isolated(label), _bar(exp(log_prob)), percent(exp(log_prob)), number(log_prob, 3))
        for label, log_prob in zip(labels, scored.token_log_probs, strict=True)
    ]
    tokens = table(("token", "", "probability", "log p (nats)"), rows, text_columns=2)
    shown = isolated(text) if text.strip() else "(nothing)"
    return tag(
        "div",
        tag("div", escape(title), class_="note"),
        tag("div", shown, class_="text", dir="auto"),
        totals,
        tokens,
        class_="translation score-card",
    )


def verdict(first: str, second: str, one: "TargetScore", other: "TargetScore") -> str:
    """Which of two targets a model finds likelier, in sentences, as plain text."""
    gap = one.log_prob - other.log_prob
    if abs(gap) < 0.005:
        return f"The model finds {first} and {second} equally likely."
    likelier, than, gap = (first, second, gap) if gap > 0 else (second, first, -gap)
    times = f"{exp(gap):,.1f}" if gap < 5 else f"{exp(gap):,.0f}" if gap < 14 else scientific(exp(min(gap, 700)))
    per_token = sorted((one.mean, other.mean), reverse=True)
    better = first if one.mean >= other.mean else second
    return (
        f"The model finds {likelier} {times} times as likely as {than}: {gap:.2f} nats more. Per token, {better} "
        f"comes first: {number(per_token[0], 3)} against {number(per_token[1], 3)} nats."
    )


def _bar(share: float) -> str:
    inner = tag("i", style=f"display:block;height:100%;width:{100 * share:.1f}%;background:{KIND_COLOURS['cross']}")
    return tag("span", inner, class_="share")


def _class(column: int, text_columns: int) -> str | None:
    return None if column < text_columns else "number"
