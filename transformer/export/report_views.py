"""One HTML file with any pictures and tables of a sentence pair, below the sentences and their probabilities."""

from collections.abc import Mapping
from typing import Any

from transformer.analysis.trace import Trace
from transformer.export.about import About
from transformer.export.markup import escape, tag
from transformer.export.report_parts import (
    configuration,
    figure,
    heading,
    page,
    rows_table,
    scores,
    translation,
)
from transformer.export.svg_document import renamed
from transformer.export.tables import Rows


def views_report(
    trace: Trace,
    about: About,
    facts: Mapping[str, Any],
    title: str,
    pictures: Mapping[str, str],
    tables: Mapping[str, Rows],
    *,
    config: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
) -> str:
    """The report.

    pictures: SVG files of ours by their captions. tables: rows by their titles. config, evaluation: the contents of the
    checkpoint's config.json and evaluation.json, left out where None or empty.
    """
    figures = [
        figure(renamed(svg, f"f{place}-"), escape(said[:1].upper() + said[1:]))
        for place, (said, svg) in enumerate(pictures.items())
    ]
    listed = [rows_table(name, rows) for name, rows in tables.items()]
    parts = [heading(trace, about, title), translation(trace)]
    parts += [tag("section", tag("h2", "Pictures"), *figures)] if figures else []
    parts += [tag("section", tag("h2", "Numbers"), *listed)] if listed else []
    parts += [scores(evaluation)] if evaluation else []
    parts += [configuration(config)] if config else []
    return page(f"{trace.source_text} · {trace.model}", facts, parts)
