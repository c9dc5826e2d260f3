"""The Python that reproduces the numbers of a view: three lines after their imports."""

from transformer.analysis.attention import Kind
from transformer.analysis.filters import Filters


def as_code(
    model: str,
    sentence: str,
    target: str | None,
    kind: Kind,
    filters: Filters | None = None,
    *,
    untrained: bool = False,
    opened: tuple[int, int] | None = None,
) -> str:
    """Python whose `view` is the attention of this view, and whose last line is the opened head, by its indices."""
    filters = filters or Filters()
    given = "" if target is None else f", target={target!r}"
    imports = ["from transformer import load_checkpoint"]
    traced = f"checkpoint.trace({sentence!r}{given})"
    checkpoint = "checkpoint"
    if untrained:
        imports.append("from transformer.analysis.retrace import retrace")
        traced = f"retrace(checkpoint.untrained(), {traced})"
        checkpoint = "checkpoint.untrained()"
    viewed = f'trace["{kind}"]'
    if filters.changed():
        imports.insert(1, "from transformer.analysis.filters import Filters")
        norms = ""
        if filters.weighting == "norm":
            imports.append("from transformer.analysis.value_norms import value_norms")
            norms = f", value_norms({checkpoint}, trace.source, trace.decoder.keys)"
        viewed = f'{filters!r}.apply(trace, "{kind}"{norms})'
    layer, head = opened or (0, 0)
    lines = [
        f"checkpoint = load_checkpoint({model!r})",
        f"trace = {traced}",
        f"view = {viewed}",
    ]
    shown = f"view.pattern[{layer}, {head}]  # (query, key)"
    return "\n".join([*imports, "", *lines, shown])
