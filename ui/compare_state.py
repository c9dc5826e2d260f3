"""What Ablations keeps between two runs: several models' traces of one sentence, and how far apart their heads are."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from transformer import list_checkpoints
from transformer.analysis.attention import Attention, Kind
from transformer.analysis.compare import Aligned, Match, aligned, best_matches, divergences
from transformer.analysis.trace import KINDS, Trace
from transformer.folders import SHIPPED, is_name, runs_folder
from ui.state import load, trace, weights_stamp

if TYPE_CHECKING:
    from transformer.checkpoint import CheckpointConfig

MAX_WEIGHTS = 24_000_000
"""Of one kind in all models together, 96 MB."""


def known_models() -> dict[str, str]:
    """Every model that can be compared: its name in lists and links, and what it is loaded by.

    The members of a family lie one folder deeper than other checkpoints and are called table3/base-2.
    """
    models = {name: name for name in list_checkpoints()}
    for parent in (runs_folder(), SHIPPED):
        for path in sorted(parent.glob("[!.]*/[!.]*/model.safetensors")):
            names = path.parts[-3:-1]
            if all(map(is_name, names)) and (path.parent / "config.json").is_file():
                models.setdefault("/".join(names), _loaded_by(path.parent))
    return models


def configs_of(models: Mapping[str, str]) -> "dict[str, CheckpointConfig]":
    """config.json of each; one that cannot be read is left out."""
    return _configs(tuple((name, place, weights_stamp(place)) for name, place in models.items()))


@dataclass(frozen=True)
class Reading:
    """Several models on one sentence. What could not be read is left out, and said."""

    names: tuple[str, ...]
    """Of the models that could read it, the sidebar's first."""
    traces: tuple[Trace, ...]
    """With the target of each."""
    own: tuple[Trace | None, ...]
    """With its own translation, where the target is what the first one wrote."""
    refused: tuple[str, ...]
    """A sentence for each model that could not."""
    seeds: tuple[str, str] | None
    """Two models that differ in their seed alone."""
    seed_traces: tuple[Trace, Trace] | None
    """Those two with one target."""


def read(
    models: Mapping[str, str], sentence: str, target: str | None, one_target: bool, seeds: Mapping[str, str]
) -> Reading:
    """Each of these models, given as name and what it is loaded by, on the sentence.

    one_target: whether all read one target, `target` or, where it is None, what the first writes; else each reads what
    it writes itself. seeds: two more, or none.
    """
    return _read(_stamped(models), sentence, target, one_target, _stamped(seeds))


@dataclass(frozen=True)
class Measured:
    """One kind of attention of several models, over the same tokens where that can be, and how far they are apart."""

    aligned: Aligned
    pairs: tuple[np.ndarray | None, ...]
    """The first model's heads against each one's; None for the first itself and for one that does not compare."""
    matches: tuple[list[Match] | None, ...]
    seeds: tuple[Attention, Attention] | None
    """The two models that differ in their seed alone."""
    seed_pairs: np.ndarray | None
    seed_matches: list[Match] | None
    seeds_compare: bool
    """Whether their tokens are those of the first model."""


def measure(
    models: Mapping[str, str],
    sentence: str,
    target: str | None,
    one_target: bool,
    seeds: Mapping[str, str],
    kind: Kind,
) -> Measured:
    """What `read` read, of one kind."""
    reading = read(models, sentence, target, one_target, seeds)
    return _measure(_stamped(models), sentence, target, one_target, _stamped(seeds), kind, reading)


def _loaded_by(folder: Path) -> str:
    return str(folder) if os.sep in str(folder) else str(folder.resolve())


def _stamped(models: Mapping[str, str]) -> tuple[tuple[str, str, int], ...]:
    return tuple((name, place, weights_stamp(place)) for name, place in models.items())


@st.cache_resource(max_entries=2, show_spinner=False)
def _configs(stamped: tuple[tuple[str, str, int], ...]) -> "dict[str, CheckpointConfig]":
    from transformer.checkpoint import read_config
    from transformer.folders import CheckpointError, find_checkpoint

    found = {}
    for name, place, _ in stamped:
        try:
            found[name] = read_config(find_checkpoint(place))
        except CheckpointError:
            continue
    return found


@st.cache_resource(max_entries=2, show_spinner=False)
def _read(
    stamped: tuple[tuple[str, str, int], ...],
    sentence: str,
    target: str | None,
    one_target: bool,
    seeds: tuple[tuple[str, str, int], ...],
) -> Reading:
    names, traces, own, refused = [], [], [], []
    places = {name: place for name, place, _ in (*stamped, *seeds)}
    for name, place, _ in stamped:
        try:
            if one_target and traces:
                traced = _follow(place, stamped[0][1], traces[0])
            else:
                traced = trace(place, sentence, target if one_target else None)
            _check_size([*traces, traced])
        except ValueError as error:
            if not names:
                raise
            refused.append(f"{name} is left out: {error}")
            continue
        names.append(name)
        traces.append(traced)
        own.append(None if traced.translation.generated or target is not None else own_translation(place, sentence))
    pair = _seeds([one[0] for one in seeds], places, sentence, dict(zip(names, traces, strict=True)), target)
    seed_names = (seeds[0][0], seeds[1][0]) if pair is not None else None
    return Reading(tuple(names), tuple(traces), tuple(own), tuple(refused), seed_names, pair)


def own_translation(place: str, sentence: str) -> Trace | None:
    """The model's own translation; None where it cannot write one."""
    try:
        return trace(place, sentence, None)
    except ValueError:
        return None


def _seeds(
    seeds: Sequence[str],
    places: Mapping[str, str],
    sentence: str,
    read_already: Mapping[str, Trace],
    target: str | None,
) -> tuple[Trace, Trace] | None:
    if not seeds:
        return None
    one, other = seeds
    try:
        shown = next(iter(read_already.values()), None)
        first = read_already.get(one) or trace(places[one], sentence, target if shown is None else shown.target_text)
        return first, _follow(places[other], places[one], first)
    except ValueError:
        return None


def _follow(place: str, of: str, first: Trace) -> Trace:
    """A model on what another one read and wrote: on its very tokens, where the tokenizer is the same."""
    from transformer.analysis.retrace import retrace

    checkpoint = load(place)
    if not first.translation.generated or checkpoint.tokenizer.sha256 != load(of).tokenizer.sha256:
        return trace(place, first.source_text, first.target_text)
    traced = retrace(checkpoint, first)
    return replace(traced, **{kind: replace(traced[kind], scores=None) for kind in KINDS})


def _check_size(traces: Sequence[Trace]) -> None:
    weights = sum(max(each[kind].pattern.size for kind in KINDS) for each in traces)
    if len(traces) > 1 and weights > MAX_WEIGHTS:
        raise ValueError(
            f"maps of {len(traces)} models would hold {weights:,} weights, and the page takes {MAX_WEIGHTS:,}; shorten "
            "the text."
        )


@st.cache_resource(max_entries=6, show_spinner=False)
def _measure(
    stamped: tuple[tuple[str, str, int], ...],
    sentence: str,
    target: str | None,
    one_target: bool,
    seeds: tuple[tuple[str, str, int], ...],
    kind: Kind,
    _reading: Reading,
) -> Measured:
    shown = [each[kind] for each in _reading.traces]
    two = [each[kind] for each in _reading.seed_traces or ()]
    together = aligned([*shown, *two])
    attentions, compares = together.attentions[: len(shown)], together.compares
    pairs: list[np.ndarray | None] = [None]
    pairs += [divergences(attentions[0], one) if compares[at] else None for at, one in enumerate(attentions) if at]
    own = Aligned(attentions, compares[: len(shown)], together.on_words)
    matches = tuple(None if each is None else best_matches(each) for each in pairs)
    if not two:
        return Measured(own, tuple(pairs), matches, None, None, None, False)
    seeds_compare = all(compares[len(shown) :])
    first, second = together.attentions[len(shown) :] if seeds_compare else two
    if first.pattern.shape[2:] != second.pattern.shape[2:]:
        return Measured(own, tuple(pairs), matches, None, None, None, False)
    seed_pairs = divergences(first, second)
    return Measured(own, tuple(pairs), matches, (first, second), seed_pairs, best_matches(seed_pairs), seeds_compare)
