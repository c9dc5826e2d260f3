"""What a page says about what it shows, as HTML with everything escaped that was typed or comes from a model."""

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from transformer.analysis.attention import Attention
from transformer.analysis.filters import Filters
from transformer.analysis.measures import NEAR_UNIFORM
from transformer.analysis.trace import Translation
from transformer.export.numbers import number
from ui.theme import KIND_NAMES

_MEANINGS = {
    "mean": "The mean weight over {n} heads: what they have in common. It does not show what any one of them does.",
    "max": "The largest weight that any of {n} heads gives: that one of them looks there, not which. Rows are no "
    "distributions and may sum to more than 1.",
    "rollout": "Rollout (Abnar & Zuidema 2020): the mean over {n} heads carried through all layers up to this one, "
    "half of it along the residual connections. It shows from where something could have come, not what was used: "
    "values and feed-forward networks are left out.",
}
_ROLLED = {
    "encoder": "",
    "decoder": " The rest of each row’s 1 has come from the source: see cross.",
    "cross": " The rest of each row’s 1 has come from the target: see decoder.",
}
NOT_EXPLANATION = (
    '<div class="note">Attention is not explanation: a weight says where a head looks, not why the model wrote a word '
    "(Jain &amp; Wallace 2019). Switching a head off and looking at what changes is the test of what it is good for."
    "</div>"
)
_LONGEST, _MOST = 40, 8  # characters of a link's parameter, and how many of them


def opened_title(attention: Attention, layer: int, head: int, n_heads: int, untrained: bool = False) -> str:
    """Which head is open, or the summary of how many."""
    name = attention.heads[head]
    which = f"·H{name}" if name.isdigit() else f", {name} of {n_heads} heads"
    twin = ", untrained" if untrained else ""
    return (
        f'<div class="opened {attention.kind}">L{attention.layers[layer]}{escape(which)} '
        f'<span class="note">{KIND_NAMES[attention.kind]}{twin}</span></div>'
    )


def opened_note(attention: Attention, layer: int, head: int, entropy: float | None) -> str:
    """Whether the opened head is near uniform, by its relative entropy, and how many of its weights are no numbers."""
    broken = int((~np.isfinite(attention.pattern[layer, head]) & attention.mask).sum())
    parts = []
    if broken:
        noun = "weight is not a number" if broken == 1 else "weights are not numbers"
        parts.append(f'<div class="broken">{broken:,} {noun} (NaN): no attention was computed there.</div>')
    elif entropy is not None and math.isfinite(entropy):
        share = f"{math.floor(100 * entropy):.0f} % of the entropy of even attention"
        near = "<b>near uniform</b>: it hardly chooses among its keys" if entropy >= NEAR_UNIFORM else "spread"
        share = f"{near}, {share}" if entropy >= NEAR_UNIFORM else f"{near}: {share}"
        parts.append(f'<div class="note">{share}</div>')
    return "".join(parts) or '<div class="note"></div>'


def near_uniform_line(entropies: np.ndarray) -> str:
    """How many heads of a kind hardly choose among their keys, of how many that have keys to choose from."""
    known = entropies[np.isfinite(entropies)]
    if not known.size:
        return ""
    near = int((known >= NEAR_UNIFORM).sum())
    said = {0: "None", known.size: "All"}.get(near, f"{near}")
    return (
        f'<div class="note">{said} of {known.size} heads {"is" if near <= 1 and said != "All" else "are"} near uniform '
        f"(at least {100 * NEAR_UNIFORM:.0f} % of the entropy of even attention).</div>"
    )


def shown_line(kind: str, filters: Filters, n_heads: int) -> str:
    """What the filters did, and what a summary means and does not; nothing where nothing was done."""
    parts = []
    if filters.changed():
        parts.append(f"Shown: {escape(str(filters))}.")
    if filters.summary:
        meaning = _MEANINGS[filters.summary].format(n=len(filters.heads) or n_heads)
        parts.append(escape(meaning) + (_ROLLED[kind] if filters.summary == "rollout" else ""))
    return f'<div class="note shown">{" ".join(parts)}</div>' if parts else ""


def left_out_line(left_out: Sequence[str]) -> str:
    """What a link asked for that is not there."""
    said = _listed(left_out)
    note = f"The link asks for what is not here, and this was left out: {said}."
    return f'<div class="note left-out">{note}</div>' if said else ""


def waiting_line(waiting: Sequence[str]) -> str:
    """What a link sets that has no control now."""
    said = _listed(waiting)
    note = f"The link also sets what is not in view, and waits for its control: {said}."
    return f'<div class="note waiting">{note}</div>' if said else ""


def _listed(parameters: Sequence[str]) -> str:
    shown = (each if len(each) <= _LONGEST else each[:_LONGEST] + "…" for each in parameters[:_MOST])
    more = f" and {len(parameters) - _MOST:,} more" if len(parameters) > _MOST else ""
    return ", ".join(map(escape, shown)) + more


def translation_line(translation: Translation, model: str, untrained: bool = False, typed: bool = True) -> str:
    """The target and how likely the model, or its untrained twin, finds it. `typed`: a person gave the target."""
    note = f"{escape(model)} writes" if translation.generated else "typed target"
    if untrained:
        note = f"{'typed target' if typed else f'{escape(model)} writes, trained'}; its untrained twin reads it"
    log_prob = number(translation.log_prob, 1)
    likely = f"log-probability {log_prob} nats over {len(translation.token_log_probs)} tokens, end of sentence included"
    return (
        f'<div class="translation"><div class="note">{note}</div>'
        f'<div class="text" dir="auto">{escape(translation.text) or "(nothing)"}</div>'
        f'<div class="note">{likely}</div></div>'
    )


def what_it_attends_to(attention: Attention, layer: int, head: int) -> str:
    """On the famous sentence, what "it" attends to in this head, whatever that is; nothing on any other."""
    labels = attention.keys.labels
    if attention.kind != "encoder" or not {"it", "animal", "street"} <= set(labels):
        return '<div class="note"></div>'
    row = attention.pattern[layer, head, attention.queries.labels.index("it")]
    if not np.isfinite(row).all():
        return '<div class="note"></div>'
    animal, street = (row[labels.index(noun)] for noun in ("animal", "street"))
    return (
        '<div class="note">When the Transformer was announced in 2017, Google showed a head whose “it” attends to '
        "“animal” when the animal is too tired, and to “street” when it is too wide. In this head of this far smaller "
        f"model “it” gives {animal:.2f} to “animal”, {street:.2f} to “street”, and most to "
        f"“{escape(labels[row.argmax()])}”: {row.max():.2f}.</div>"
    )
