"""One HTML file with several models beside each other: what changed, what each writes, maps and divergences."""

from collections.abc import Sequence
from functools import partial

from transformer.analysis.trace import Trace
from transformer.export.compare_files import Comparison, head_rows
from transformer.export.compare_svg import divergences_svg, grids_svg, opened_svg
from transformer.export.markup import escape, tag
from transformer.export.report_parts import figure, heading, page, rows_table, translation
from transformer.export.svg_document import renamed

_TITLE = "Who listens to whom: several models on one sentence"
_CAUTION = (
    "Heads have no order in common between models that were trained apart. A difference that is no larger than the "
    "noise floor, what another seed alone makes, says nothing."
)
_CAPTIONS = {
    grids_svg: "All heads of every model on one scale.",
    partial(
        opened_svg, upright=True
    ): "The opened head of every model; on its right, what it gives more (red) and less "
    "(blue) than the first one’s, and on that of the first the noise floor.",
    divergences_svg: "How far each head of the first model is from its partner: 0 where two attend alike, ln 2 = 0.69 "
    "nats where no query of theirs shares a key.",
}


def comparison_report(comparison: Comparison, traces: Sequence[Trace]) -> str:
    """The report; a trace a model, in the same order. Pictures that cannot be drawn say why."""
    first = comparison.models[0]
    parts = [heading(traces[0], first.about, _TITLE)]
    for one, trace in zip(comparison.models, traces, strict=True):
        said = one.changed and f"What changed: {one.changed}."
        parts.append(
            tag("section", tag("h2", escape(one.about.model)), tag("p", escape(said)), translation(trace, "h3"))
        )
    for place, (draw, caption) in enumerate(_CAPTIONS.items()):
        try:
            parts.append(figure(renamed(draw(comparison), f"f{place}-"), escape(caption)))
        except ValueError as error:
            parts.append(tag("p", escape(str(error)), class_="note"))
    parts.append(tag("p", escape(_floor(comparison)), class_="note"))
    rows = head_rows(comparison)
    ordered = sorted(rows, key=lambda row: (row["noise_floor"], -(row["divergence_nats"] or 0)))
    parts.append(rows_table("Heads, farthest apart first; the noise floor last", ordered))
    title = f"{traces[0].source_text} · {', '.join(one.about.model for one in comparison.models)}"
    return page(title, comparison.facts, parts)


def _floor(comparison: Comparison) -> str:
    if comparison.seeds is None:
        return f"{_CAUTION} No second seed of these models is there."
    one, other = comparison.seeds
    return f"{_CAUTION} Here it is that of {one.about.model} and {other.about.model}."
