"""One head's pattern as text, for a terminal."""

from transformer.analysis.attention import Attention

_WIDEST = 14


def pattern_table(attention: Attention, layer: int = -1, head: int | None = None) -> str:
    """Queries as rows and keys as columns, weights in percent, of one head or of the mean over a layer's heads.

    Raises ValueError, in one sentence, when there is no such layer or head.
    """
    n_layers, n_heads = attention.pattern.shape[:2]
    if not -n_layers <= layer < n_layers:
        raise ValueError(f"There is no layer {layer}; {attention.kind} has layers 0 to {n_layers - 1}.")
    if head is not None and not 0 <= head < n_heads:
        raise ValueError(f"There is no head {head}; a layer has heads 0 to {n_heads - 1}.")
    view = attention.mean() if head is None else attention
    weights = view.pattern[layer, 0 if head is None else head]
    rows, columns = ([_short(label) for label in tokens.labels] for tokens in (view.queries, view.keys))
    margin = max(map(len, rows), default=0)
    widths = [max(4, len(label)) for label in columns]
    name = f"L{layer % n_layers}·" + ("mean of the heads" if head is None else f"H{head}")
    lines = [f"{attention.kind} {name}: % of each row's attention (query, left) on each column (key, top)"]
    lines.append(
        " " * margin + " " + " ".join(label.rjust(width) for label, width in zip(columns, widths, strict=True))
    )
    for label, row, allowed in zip(rows, weights, view.mask, strict=True):
        cells = (f"{100 * weight:.0f}" if may else "-" for weight, may in zip(row, allowed, strict=True))
        lines.append(label.rjust(margin) + " " + " ".join(c.rjust(w) for c, w in zip(cells, widths, strict=True)))
    return "\n".join(lines)


def _short(label: str) -> str:
    return label if len(label) <= _WIDEST else label[: _WIDEST - 1] + "…"
