"""What HTML reports are made of: the page, its heading, the target token by token, pictures, tables.

A page needs no network, no script and no other file, and forbids itself all three. Every text in it is escaped.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from transformer import __version__
from transformer.analysis.trace import Trace
from transformer.export.about import About
from transformer.export.markup import escape, escaped_json, shorten, tag
from transformer.export.report_style import STYLE
from transformer.export.svg_document import NAMESPACE
from transformer.export.tables import Rows

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
MOST_ROWS = 300
"""In a table of a report."""
_LONG = 160  # characters of a sentence that is set smaller


def page(title: str, facts: Mapping[str, Any], parts: Sequence[str]) -> str:
    """The whole file; parts are markup, facts stand in its head for a machine."""
    made = f"Made with Roundtable {__version__}. Paper: “Attention Is All You Need”, Vaswani et al. 2017."
    head = (
        '<meta charset="utf-8">',
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        f'<meta name="roundtable" content="{escaped_json(facts)}">',
        tag("title", escape(shorten(title, 90))),
        tag("style", STYLE),
    )
    footer = tag("footer", escape(made), class_="note")
    whole = tag("head", "\n".join(head)) + "\n" + tag("body", tag("main", "\n".join([*parts, footer])))
    return f"<!DOCTYPE html>\n{tag('html', whole, lang='en')}\n"


def heading(trace: Trace, about: About, title: str = "Who listens to whom: attention in one sentence") -> str:
    """The title, both sentences, and where they come from."""
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
        tag("h1", escape(title)),
        tag("p", escape(trace.source_text), class_=f"text source{size}", dir="auto"),
        tag("p", escape(trace.target_text) or "(nothing)", class_=f"text target{size}", dir="auto"),
        tag("dl", *listed, class_="facts"),
    )


def translation(trace: Trace, level: Literal["h2", "h3"] = "h2") -> str:
    """The target, token by token, each with its probability, below a heading of this level."""
    given = trace.translation
    what = "The model wrote this" if given.generated else "This target was given"
    total = f"{as_number(given.log_prob)} nats over {len(given.token_log_probs)} tokens"
    note = f"{what}: log-probability {total}, end of sentence included; score {as_number(given.score)}."
    chips = map(_chip, trace.target.labels, given.token_log_probs)
    return tag(
        "section", tag(level, "Translation"), tag("p", escape(note), class_="note"), tag("ol", *chips, class_="tokens")
    )


def _chip(label: str, log_prob: float) -> str:
    probability = math.exp(min(log_prob, 0.0)) if math.isfinite(log_prob) else 0.0
    percent = f"{100 * probability:.0f} %" if probability >= 0.01 else "< 1 %"
    return tag(
        "li",
        tag("b", escape(label), dir="auto"),
        tag("i", style=f"--p:{100 * probability:.1f}%"),
        tag("span", escape(percent)),
        tag("span", f"{as_number(log_prob)} nats"),
    )


def figure(svg: str, caption: str) -> str:
    """A picture; the caption is markup."""
    # Inside HTML an SVG needs no namespace; what is left holds no address but those of its own images.
    return tag("figure", svg.replace(f' xmlns="{NAMESPACE}"', "", 1), tag("figcaption", caption))


def rows_table(title: str, rows: Rows) -> str:
    """Rows of named values, the names above them; of very many the first."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = tag("tr", *(tag("th", escape(name), scope="col") for name in names))
    body = (tag("tr", *(tag("td", _cell(row.get(name, ""))) for name in names)) for row in rows[:MOST_ROWS])
    left_out = ""
    if len(rows) > MOST_ROWS:
        said = f"The first {MOST_ROWS:,} of {len(rows):,} rows; the CSV and JSON files have them all."
        left_out = tag("p", said, class_="note")
    table = tag("table", tag("tbody", head, *body))
    return tag("div", tag("h3", escape(title)), left_out, table, class_="scroll")


def scores(evaluation: Mapping[str, Any]) -> str:
    """evaluation.json: one table for each corpus, scores beside their signatures."""
    tables = (_table(name, result) for name, result in evaluation.items())
    return tag("section", tag("h2", "Scores"), tag("p", "Of the model, on whole corpora.", class_="note"), *tables)


def configuration(config: Mapping[str, Any]) -> str:
    """config.json: one table for each of its parts."""
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


def as_number(value: float) -> str:
    """With two digits after the point, or three digits in all below 1."""
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    value += 0.0  # −0 is 0
    return (f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}").replace("-", "−")
