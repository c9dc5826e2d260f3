"""The arithmetic of a cell as HTML, with everything escaped that comes from a sentence."""

from html import escape
from typing import TYPE_CHECKING

from transformer.export.equation import Arithmetic, token
from transformer.export.numbers import exact

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

_STYLE = """
<style>
.arithmetic { margin: .25rem 0 .5rem; }
.arithmetic .cell { font-weight: 650; }
.arithmetic dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .6rem; margin: .35rem 0; }
.arithmetic dt { text-align: right; white-space: nowrap; }
.arithmetic dt, .arithmetic dd { margin: 0; line-height: 1.45; font-variant-numeric: tabular-nums; }
.arithmetic dd { overflow-wrap: anywhere; }
.arithmetic dd:last-of-type { font-weight: 650; }
</style>
"""


def arithmetic_block(made: Arithmetic, where: str) -> str:
    """The cell's name and place, then each step after an equals sign, then notes."""
    steps = "".join(
        f"<dt>{escape(made.name) if number == 0 else ''} =</dt><dd>{escape(line)}</dd>"
        for number, line in enumerate(made.lines)
    )
    notes = "".join(f'<div class="note">{escape(note)}</div>' for note in made.notes)
    return f'{_STYLE}<div class="arithmetic"><div class="cell">{escape(where)}</div><dl>{steps}</dl>{notes}</div>'


def pair_line(parts: "HeadParts", query: int, key: int, note: str) -> str:
    """What a pair's picture shows, with its score and weight in numbers."""
    product = float(parts.scores[query, key]) - (0.0 if parts.bias is None else float(parts.bias[query, key]))
    terms = exact(product)
    if parts.bias is not None:
        terms = f"{terms} + bias {exact(float(parts.bias[query, key]))} = {exact(float(parts.scores[query, key]))}"
    if parts.mask[query, key]:
        weight = f"softmax over the row makes it a weight of <b>{exact(float(parts.pattern[query, key]))}</b>"
    else:
        weight = "the key is masked, so its weight is <b>0</b>"
    turned = " q and k are shown after RoPE has turned them by their positions." if parts.unturned else ""
    pair = f"{token(parts, 'query', query)} and {token(parts, 'key', key)}"
    return (
        f'<div class="note">{escape(pair)}: what the dimensions of q and k agree on raises the score (red), what they '
        f"disagree on lowers it (blue). Score <b>{terms}</b>; {weight}.{turned} {escape(note)}</div>"
    )
