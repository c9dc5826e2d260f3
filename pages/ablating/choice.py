"""Which model stands beside the sidebar's, and what sets the two apart, in words."""

import os
from html import escape
from pathlib import Path

import streamlit as st

from transformer import list_checkpoints
from transformer.folders import SHIPPED, runs_folder
from ui.state import about


def choose_other(model: str) -> str | None:
    """Draw the list; the name or folder of the other model, None where there is none."""
    others = [name for name in [*list_checkpoints(), *_variants()] if name != model]
    if not others:
        return None
    corpus = _corpus(model)
    first = next((index for index, name in enumerate(others) if _corpus(name) == corpus), 0)
    return st.selectbox("Beside it", others, index=first, key="beside", format_func=said_model, bind="query-params")


def said_model(name: str) -> str:
    """A model as a person reads it: a variant without the folders that it lies in."""
    return name.rpartition(os.sep)[2]


def what_changed(model: str, other: str) -> str:
    """The difference of two configurations, in a sentence."""
    from transformer.ablations.differences import differences
    from transformer.checkpoint import read_config
    from transformer.folders import find_checkpoint

    try:
        one, two = (read_config(find_checkpoint(name)) for name in (model, other))
    except ValueError as error:
        return escape(str(error))
    found = differences((one.model, one.train), (two.model, two.train))
    if one.corpus.get("name") != two.corpus.get("name"):
        found.insert(0, f"trained on {two.corpus.get('name')} (not {one.corpus.get('name')})")
    changed = "; ".join(found) if found else "nothing in the configuration"
    return f"**What changed in {_plain(said_model(other))}**: {_plain(changed)}."


def check_same_text(model: str, other: str, sentence: str) -> None:
    """Raise ValueError where the two models read different kinds of text, which no comparison mends."""
    from transformer.text.algorithmic import TASKS

    kinds = [_corpus(name) in TASKS for name in (model, other)]
    if kinds[0] != kinds[1]:
        letters, words = (model, other) if kinds[0] else (other, model)
        raise ValueError(
            f"{said_model(letters)} reads letters and {said_model(words)} sentences: choose two of the same kind."
        )


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]()#+-.!|<>~$:" else letter for letter in text)


def _corpus(name: str) -> str:
    return (about(name).get("corpus") or {}).get("name", "")


def _variants() -> list[str]:
    """Folders of the family's models, which stand in no list of models."""
    folders: dict[str, Path] = {}
    for parent in (runs_folder(), SHIPPED):
        for path in sorted(parent.glob("table3/*/model.safetensors")):
            if (path.parent / "config.json").exists():
                folders.setdefault(path.parent.name, path.parent)
    return [str(folder) if os.sep in str(folder) else str(folder.resolve()) for folder in folders.values()]
