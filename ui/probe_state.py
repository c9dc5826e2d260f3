"""What runs recorded of their probe sentences, read once for each version of the file; shared by all sessions."""

from pathlib import Path

import numpy as np
import streamlit as st

from transformer.analysis.measures import relative_entropy
from transformer.folders import runs_folder
from transformer.training.probes import PROBES_FILE, Probe, load_probes


def probes_of(name: str) -> list[Probe]:
    """The probes of a run with at least one recorded step. Raises ValueError when the file cannot be used."""
    folder = runs_folder() / name
    return _probes(str(folder), stamp(name))


def stamp(name: str) -> int:
    """Changes when a run has recorded more."""
    try:
        return (runs_folder() / name / PROBES_FILE).stat().st_mtime_ns
    except OSError:
        return 0


def entropies(name: str, index: int, kind: str) -> np.ndarray:
    """Relative entropy of every head at every recorded step of a probe: (step, layer, head), from 0 to 1."""
    return _entropies(name, stamp(name), index, kind)


@st.cache_resource(max_entries=4, show_spinner="Reading the recorded patterns …")
def _probes(folder: str, stamp: int) -> list[Probe]:
    return [probe for probe in load_probes(Path(folder)) if probe.traces]


@st.cache_resource(max_entries=24, show_spinner=False)
def _entropies(name: str, stamp: int, index: int, kind: str) -> np.ndarray:
    return np.stack([relative_entropy(trace[kind]) for trace in probes_of(name)[index].traces])
