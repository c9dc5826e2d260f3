"""What runs and shipped models wrote while they trained, read on where this session stopped, and which compare."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from transformer.folders import CheckpointError, find_checkpoint, runs_folder
from transformer.training.metrics import MetricsReader


def lines_of(name: str) -> list[dict[str, Any]]:
    """Every line of metrics.jsonl."""
    readers: dict[Path, MetricsReader] = st.session_state.setdefault("metrics_readers", {})
    folder = _folder(name)
    reader = readers.setdefault(folder, MetricsReader(folder))
    reader.update()
    return reader.lines


def by_tokenizer(names: Sequence[str]) -> list[list[str]]:
    """The runs in groups that share a tokenizer, in the order given; one without a tokenizer yet is on its own."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_tokenizer(_folder(name)) or name, []).append(name)
    return list(groups.values())


def _folder(name: str) -> Path:
    """Of a run, which is no checkpoint before it has saved, or of a shipped model."""
    try:
        return find_checkpoint(name)
    except CheckpointError:
        return runs_folder() / name


def _tokenizer(folder: Path) -> str:
    path = folder / "tokenizer.model"
    try:
        return _digest(str(path), path.stat().st_mtime_ns)
    except OSError:
        return ""


@st.cache_data(max_entries=256, show_spinner=False)
def _digest(path: str, stamp: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
