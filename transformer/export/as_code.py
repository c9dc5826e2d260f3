"""The Python that reproduces the numbers of a view: three lines after their imports."""

from collections.abc import Sequence

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
    opened: Sequence[int] = (0, 0),
    second: str | None = None,
) -> str:
    """Python whose `view` is the attention of this view, and whose last line is the opened head.

    opened: its indices, layer and head; or of a layer and several heads.
    second: another sentence, whose target the model writes; `second` is then the same view of it.
    """
    filters = filters or Filters()
    imports = ["from transformer import load_checkpoint"]
    lines = [f"checkpoint = load_checkpoint({model!r})"]
    checkpoint = "checkpoint.untrained()" if untrained else "checkpoint"
    if untrained:
        imports.append("from transformer.analysis.retrace import retrace")
    if filters.changed():
        imports.insert(1, "from transformer.analysis.filters import Filters")
        if filters.weighting == "norm":
            imports.append("from transformer.analysis.value_norms import value_norms")
    given = "" if target is None else f", target={target!r}"
    for name, traced in (("view", f"{sentence!r}{given}"), ("second", None if second is None else f"{second!r}")):
        if traced is None:
            continue
        traced = f"checkpoint.trace({traced})"
        lines.append(f"trace = {f'retrace({checkpoint}, {traced})' if untrained else traced}")
        viewed = f'trace["{kind}"]'
        if filters.changed():
            norms = f", value_norms({checkpoint}, trace.source, trace.decoder.keys)"
            viewed = f'{filters!r}.apply(trace, "{kind}"{norms if filters.weighting == "norm" else ""})'
        lines.append(f"{name} = {viewed}")
    layer, *heads = opened
    at, axes = (heads[0], "(query, key)") if len(heads) == 1 else (heads, "(head, query, key)")
    shown = f"view.pattern[{layer}, {at}]" + ("" if second is None else f", second.pattern[{layer}, {at}]")
    return "\n".join([*imports, "", *lines, f"{shown}  # {axes}"])
