"""Which models stand beside the sidebar's, and what sets them apart from it, in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from ui.state import about

if TYPE_CHECKING:
    from transformer.checkpoint import CheckpointConfig

MOST = 3
"""Models beside the sidebar's."""


def choose_others(model: str, known: Mapping[str, str]) -> dict[str, str] | None:
    """Draw the list; the chosen models by name, with what they are loaded by. None where there is no other model.

    known: all models. Those that read what the model reads, letters or sentences, stand first.
    """
    letters = reads_letters(model)
    others = sorted((name for name in known if name != model), key=lambda name: reads_letters(known[name]) != letters)
    if not others:
        return None
    corpus = _corpus(model)
    first = next((name for name in others if _corpus(known[name]) == corpus), others[0])
    # A model that became the sidebar's stands no more beside it.
    held = st.session_state.get("beside")
    if isinstance(held, list) and not set(held) <= set(others):
        st.session_state.beside = [name for name in held if name in others]
    chosen = st.multiselect(
        "Beside it", others, default=[first], max_selections=MOST, key="beside", bind="query-params",
        help="One to three models. Each is compared with the one in the sidebar.",
    )  # fmt: skip
    return {name: known[name] for name in chosen}


def of_the_same_kind(model: str, others: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The others that read what the model reads, letters or sentences, and a sentence for each that does not."""
    letters, kept, refused = reads_letters(model), {}, []
    for name, place in others.items():
        if reads_letters(place) == letters:
            kept[name] = place
        else:
            reads, read = ("letters", "sentences") if letters else ("sentences", "letters")
            refused.append(f"{name} is left out: it reads {read}, and {model} {reads}.")
    return kept, refused


def what_changed(one: "CheckpointConfig | None", two: "CheckpointConfig | None") -> str:
    """What the second model has in place of what the first has, in words."""
    from transformer.ablations.differences import differences

    if one is None or two is None:
        return "its config.json cannot be read"
    found = differences((one.model, one.train), (two.model, two.train))
    if one.corpus.get("name") != two.corpus.get("name"):
        found.insert(0, f"trained on {two.corpus.get('name')} (not {one.corpus.get('name')})")
    if one.step != two.step and one.train.steps == two.train.steps:
        found.append(f"stopped after {two.step:,} steps (not {one.step:,})")
    return "; ".join(found) or "nothing in the configuration"


def reads_letters(place: str) -> bool:
    """Whether a model reads strings of letters, as those of the tasks do, and no sentences."""
    from transformer.ablations.minute_tasks import TASKS as MINUTE_TASKS
    from transformer.text.algorithmic import TASKS

    return _corpus(place).partition(",")[0] in {*TASKS, *MINUTE_TASKS}


def _corpus(place: str) -> str:
    return (about(place).get("corpus") or {}).get("name", "")
