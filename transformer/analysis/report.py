"""One HTML file that holds a whole trace for reading: sentence, translation, maps of the three kinds, scores, config.

It needs no network, no script and no other file, and forbids itself all three. Every text in it is escaped.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from transformer import __version__
from transformer.analysis.about import About
from transformer.analysis.attention import Attention, Kind
from transformer.analysis.markup import escape, escaped_json, isolated, shorten, tag
from transformer.analysis.palette import KIND_COLOURS, KIND_NAMES, head_name
from transformer.analysis.report_style import STYLE
from transformer.analysis.svg_document import NAMESPACE
from transformer.analysis.svg_grid import grid_svg
from transformer.analysis.svg_head import head_svg
from transformer.analysis.trace import KINDS, Trace

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_LONG = 160  # characters of a sentence that is set smaller
_EXPLAINED = {
    "encoder": "Source tokens attend to source tokens, in both directions (§3.2.3).",
    "decoder": "The token being written attends to those before it; later ones are masked, hatched here (§3.2.3).",
    "cross": "The token being written attends to the source sentence (§3.2.3).",
}


def report_html(
    trace: Trace,
    opened: Mapping[Kind, tuple[int, int]] | None = None,
    *,
    views: Mapping[Kind, Attention] | None = None,
    view: str = "",
    config: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
) -> str:
    """The report.

    opened: layer and head, as indices, to show large for a kind; elsewhere it is the head that chooses most decidedly.
    views: kinds that are shown otherwise than as traced, such as merged to words, and `view`, what was done, in words.
    config, evaluation: the contents of the checkpoint's config.json and evaluation.json, left out where None or empty.
    Raises ValueError, in one sentence, when there is no such layer or head.
    """
    about = About.of(trace, view)
    shown: dict[Kind, Attention] = {kind: (views or {}).get(kind, trace[kind]) for kind in KINDS}
    parts = [_heading(trace, about), _translation(trace)]
    parts += [_kind(shown[kind], (opened or {}).get(kind), about) for kind in KINDS]
    parts.append(tag("p", _CAUTION, class_="note"))
    parts += [_scores(evaluation)] if evaluation else []
    parts += [_config(config)] if config else []
    made = f"Made with Roundtable {__version__}. Paper: “Attention Is All You Need”, Vaswani et al. 2017."
    parts.append(tag("footer", escape(made), class_="note"))
    facts = {"model": trace.model, "step": trace.step, "version": __version__, "sentence": trace.source_text}
    head = (
        '<meta charset="utf-8">',
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        f'<meta name="roundtable" content="{escaped_json({**facts, "target": trace.target_text, "view": view})}">',
        tag("title", escape(shorten(f"{trace.source_text} · {trace.model}", 90))),
        tag("style", STYLE),
    )
    whole = tag("head", "\n".join(head)) + "\n" + tag("body", tag("main", "\n".join(parts)))
    return f"<!DOCTYPE html>\n{tag('html', whole, lang='en')}\n"


_CAUTION = (
    "A weight says where a head looks, not what it does with what it sees, and not why the model wrote a word. "
    "Switching a head off and translating again is the test of what it is good for."
)


def decided_head(attention: Attention) -> tuple[int, int]:
    """Layer and head whose queries choose most decidedly: largest weight on a token that is not special, on average.

    Rows that may see only one key don't count.
    """
    rows, words = attention.mask.sum(1) > 1, ~np.array(attention.keys.special, bool)
    weights = attention.pattern[:, :, rows] if rows.any() else attention.pattern
    weights = weights[..., words] if words.any() else weights
    decided = np.nan_to_num(weights, nan=0.0, posinf=0.0, neginf=0.0).max(-1).mean(-1)
    layer, head = np.unravel_index(np.argmax(decided), decided.shape)
    return int(layer), int(head)


def _heading(trace: Trace, about: About) -> str:
    size = " long" if max(len(trace.source_text), len(trace.target_text)) > _LONG else ""
    facts = {
        "Model": trace.model,
        "Step": f"{trace.step:,}",
        "Source": f"{len(trace.source):,} tokens",
        "Target": f"{len(trace.target):,} tokens",
        "View": about.view or "pieces, as traced",
        "Made by": f"Roundtable {__version__}",
    }
    listed = (tag("div", tag("dt", name), tag("dd", tag("bdi", escape(value)))) for name, value in facts.items())
    return tag(
        "header",
        tag("h1", "Who listens to whom: attention in one sentence"),
        tag("p", escape(trace.source_text), class_=f"text source{size}", dir="auto"),
        tag("p", escape(trace.target_text) or "(nothing)", class_=f"text target{size}", dir="auto"),
        tag("dl", *listed, class_="facts"),
    )


def _translation(trace: Trace) -> str:
    translation = trace.translation
    what = "The model wrote this" if translation.generated else "This target was given"
    total = f"{_number(translation.log_prob)} nats over {len(translation.token_log_probs)} tokens"
    note = f"{what}: log-probability {total}, end of sentence included; score {_number(translation.score)}."
    chips = map(_chip, trace.target.labels, translation.token_log_probs)
    return tag(
        "section", tag("h2", "Translation"), tag("p", escape(note), class_="note"), tag("ol", *chips, class_="tokens")
    )


def _chip(label: str, log_prob: float) -> str:
    probability = math.exp(min(log_prob, 0.0)) if math.isfinite(log_prob) else 0.0
    percent = f"{100 * probability:.0f} %" if probability >= 0.01 else "< 1 %"
    return tag(
        "li",
        tag("b", escape(label), dir="auto"),
        tag("i", style=f"--p:{100 * probability:.1f}%"),
        tag("span", escape(percent)),
        tag("span", f"{_number(log_prob)} nats"),
    )


def _kind(attention: Attention, opened: tuple[int, int] | None, about: About) -> str:
    dot = tag("span", class_="dot", style=f"background:{KIND_COLOURS[attention.kind]}")
    parts = [tag("h2", dot, KIND_NAMES[attention.kind]), tag("p", _EXPLAINED[attention.kind])]
    if 0 in attention.pattern.shape:
        return tag("section", *parts, tag("p", "Nothing is left to show in this view.", class_="note"))
    layer, head = opened or decided_head(attention)
    picture = head_svg(attention, layer, head, about)
    why = "" if opened else ", the head whose queries most decidedly choose one token"
    name = escape(head_name(attention.layers[layer], attention.heads[head]))
    parts.append(_figure(grid_svg(attention, about), "All heads: brighter is more attention."))
    parts.append(_figure(picture, f"{name}{why}. {_strongest(attention, layer, head)}"))
    return tag("section", *parts)


def _figure(svg: str, caption: str) -> str:
    # Inside HTML an SVG needs no namespace; what is left holds no address but those of its own images.
    return tag("figure", svg.replace(f' xmlns="{NAMESPACE}"', "", 1), tag("figcaption", caption))


def _strongest(attention: Attention, layer: int, head: int) -> str:
    weights = np.where(
        attention.mask, np.nan_to_num(attention.pattern[layer, head], nan=0.0, posinf=0.0, neginf=0.0), 0
    )
    sides = attention.queries, attention.keys
    row, column = np.unravel_index(np.argmax(weights), weights.shape)
    query, key = (isolated(shorten(side.labels[at], 40)) for side, at in zip(sides, (row, column), strict=True))
    return f"The strongest weight is from query {query} to key {key}: {weights[row, column]:.3f}."


def _scores(evaluation: Mapping[str, Any]) -> str:
    """evaluation.json: one table for each corpus, scores beside their signatures."""
    tables = (_table(name, result) for name, result in evaluation.items())
    return tag("section", tag("h2", "Scores"), tag("p", "Of the model, on whole corpora.", class_="note"), *tables)


def _config(config: Mapping[str, Any]) -> str:
    nested = {name: value for name, value in config.items() if isinstance(value, Mapping)}
    rest = {name: value for name, value in config.items() if name not in nested}
    tables = (_table(name, fields) for name, fields in {**nested, **({"checkpoint": rest} if rest else {})}.items())
    return tag("section", tag("h2", "Configuration"), tag("div", *tables, class_="columns"))


def _table(title: str, fields: Any) -> str:
    flat = _flat(fields) if isinstance(fields, Mapping) else [(title, fields)]
    rows = (tag("tr", tag("th", escape(name), scope="row"), tag("td", _cell(value))) for name, value in flat)
    return tag("div", tag("h3", escape(title)), tag("table", tag("tbody", *rows)), class_="scroll")


def _flat(fields: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Names and values; a score keeps its signature, other nested fields get names such as pairs.train."""
    flat: list[tuple[str, Any]] = []
    for name, value in fields.items():
        if isinstance(value, Mapping) and "score" not in value:
            flat += _flat(value, f"{before}{name}.")
        else:
            flat.append((f"{before}{name}", value))
    return flat


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        rest = ", ".join(str(each) for name, each in value.items() if name != "score")
        return f"{_cell(value['score'])} {tag('code', escape(rest))}"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))


def _number(value: float) -> str:
    """With two digits after the point, or three digits in all below 1."""
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    value += 0.0  # −0 is 0
    return (f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}").replace("-", "−")
