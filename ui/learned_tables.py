"""Learned positions of the checkpoints that have them, and how often training came by each row."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from transformer.folders import list_checkpoints
from ui.state import about, load, weights_stamp


def learned_checkpoints() -> list[str]:
    """Names of the checkpoints that have learned positions."""
    return [name for name in list_checkpoints() if about(name).get("model", {}).get("positions") == "learned"]


@dataclass(frozen=True)
class LearnedTable:
    """A checkpoint's learned positions, before and after training, and how often training visited each row."""

    trained: np.ndarray
    start: np.ndarray
    visits: np.ndarray | None
    """Texts of one epoch that reach each row; None where the corpus is not here to be counted."""
    n_visited: int
    """Rows that at least 1 % of the texts reach; all rows where nothing was counted."""


def learned_table(name: str) -> LearnedTable:
    """The table of a checkpoint with learned positions. Raises CheckpointError when it cannot be loaded."""
    return _learned_table(name, weights_stamp(name))


@st.cache_resource(max_entries=4, show_spinner=False)
def _learned_table(name: str, stamp: int) -> LearnedTable:
    from transformer.analysis.visits import n_visited
    from transformer.weights import named_weights

    checkpoint = load(name)
    trained, start = (
        named_weights(one.model)["positions.table"].detach().cpu().float().numpy()
        for one in (checkpoint, checkpoint.untrained())
    )
    visits = _visits(name, len(trained))
    return LearnedTable(trained, start, visits, len(trained) if visits is None else n_visited(visits))


def _visits(name: str, n_rows: int) -> np.ndarray | None:
    """From evaluation.json where they stand there, else counted, where that needs no download."""
    checkpoint = load(name)
    kept = checkpoint.evaluation.get("position_visits")
    if kept:
        return np.array(kept["texts"])
    corpus = checkpoint.config.corpus.get("name", "")
    if not is_here(corpus):
        return None
    from transformer.analysis.visits import corpus_visits
    from transformer.text.corpora import load_corpus

    return corpus_visits(load_corpus(corpus), checkpoint.tokenizer, n_rows)


def is_here(corpus: str) -> bool:
    """Whether a corpus can be read without a download."""
    from transformer.text.algorithmic import TASKS
    from transformer.text.downloads import cache_folder, data_folder

    folders = {"tatoeba": "tatoeba-en-de", "multi30k": "multi30k-en-de"}
    if corpus not in folders:
        return corpus in TASKS
    return data_folder(folders[corpus]) is not None or any((cache_folder() / folders[corpus]).glob("*.*"))
