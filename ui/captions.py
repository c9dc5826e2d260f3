"""What a page says about what it shows, as HTML with everything escaped that was typed or comes from a model."""

from html import escape

from transformer.analysis.attention import Attention
from transformer.analysis.trace import Translation
from ui.theme import KIND_NAMES


def opened_title(attention: Attention, layer: int, head: int, n_heads: int) -> str:
    """Which head is open, or the summary of how many."""
    name = attention.heads[head]
    which = f"·H{name}" if name.isdigit() else f", {name} of {n_heads} heads"
    return (
        f'<div class="opened {attention.kind}">L{attention.layers[layer]}{escape(which)} '
        f'<span class="note">{KIND_NAMES[attention.kind]}</span></div>'
    )


def translation_line(translation: Translation, model: str) -> str:
    """The target and how likely the model finds it."""
    note = f"{escape(model)} writes" if translation.generated else "typed target"
    log_prob = f"{translation.log_prob:.1f}".replace("-", "−")
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
    animal, street = (row[labels.index(noun)] for noun in ("animal", "street"))
    return (
        '<div class="note">When the Transformer was announced in 2017, Google showed a head whose “it” attends to '
        "“animal” when the animal is too tired, and to “street” when it is too wide. In this head of this far smaller "
        f"model “it” gives {animal:.2f} to “animal”, {street:.2f} to “street”, and most to "
        f"“{escape(labels[row.argmax()])}”: {row.max():.2f}.</div>"
    )
