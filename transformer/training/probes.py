"""Probes: sentences whose patterns a run records while it trains, so that heads can be watched as they form.

probes.npz holds, for each probe and recorded step, the patterns of the three kinds in float16 (off by at most 0.0005),
the tokens they belong to, and what the model itself wrote at that step.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from transformer.analysis.attention import Attention, Tokens
from transformer.analysis.trace import KINDS, Trace, Translation
from transformer.config import ModelConfig
from transformer.folders import reason, replacing

PROBES_FILE = "probes.npz"
FORMAT = 1
MAX_FRAMES = 48
MIN_FRAMES = 8
MAX_BYTES = 2**25
"""Of all patterns of a run, before compression."""


@dataclass(frozen=True)
class Probe:
    """One sentence, watched while a run trained: a trace for each recorded step."""

    source: str
    target: str | None
    """What the decoder was given to write at every step; None where it was the model's own translation of the step."""
    traces: tuple[Trace, ...]
    """In the order of their steps; with patterns but without scores."""
    translations: tuple[str, ...]
    """What the model wrote at each of the steps, by greedy search and without dropout."""

    @property
    def steps(self) -> tuple[int, ...]:
        """Optimizer steps after which the patterns were recorded, rising; 0 is before training."""
        return tuple(trace.step for trace in self.traces)

    def at(self, step: int) -> Trace:
        """The last trace recorded at or before a step. Raises ValueError for a step before the first."""
        for trace in reversed(self.traces):
            if trace.step <= step:
                return trace
        raise ValueError(
            f"step is {step}; the first recorded step is {self.steps[0] if self.traces else 'still to come'}."
        )


def probe_steps(steps: int, frames: int = MAX_FRAMES) -> list[int]:
    """The steps to record of so many planned ones, first and last included: half of them in equal distances, half in
    equal ratios, since heads change most in the beginning."""
    half = max(2, frames // 2)
    chosen = np.concatenate([np.geomspace(1, steps, half), np.linspace(0, steps, frames - half)])
    return sorted({int(step) for step in chosen.round()} | {steps})


def frames_that_fit(bytes_a_frame: int) -> int:
    """How many steps can be recorded when one takes so many bytes."""
    return min(MAX_FRAMES, max(MIN_FRAMES, MAX_BYTES // max(1, bytes_a_frame)))


def save_probes(folder: Path, probes: Sequence[Probe]) -> None:
    """Replace probes.npz in one step."""
    arrays: dict[str, Any] = {}
    about: list[dict[str, Any]] = []
    for index, probe in enumerate(probes):
        frames = []
        for trace, own in zip(probe.traces, probe.translations, strict=True):
            for kind in KINDS:
                arrays[f"{index}.{trace.step}.{kind}"] = trace[kind].pattern.astype(np.float16)
            frames.append(_frame(trace, own))
        about.append({"source": probe.source, "target": probe.target, "frames": frames})
    arrays["about"] = np.array(json.dumps({"format": FORMAT, "probes": about}, ensure_ascii=False))
    with replacing(folder / PROBES_FILE) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load_probes(folder: Path) -> list[Probe]:
    """What a run has recorded so far; nothing where it records nothing. The file is whole at any time.

    Raises ValueError, in one sentence, when it is not one that a run wrote.
    """
    path = folder / PROBES_FILE
    try:
        # np.load closes a file that it was given by name only when it could read it.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays["about"]))
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']}, and this version reads {FORMAT}")
        model = _model_of(folder)
        return [_probe(folder.name, index, probe, arrays, model) for index, probe in enumerate(about["probes"])]
    except FileNotFoundError:
        return []
    except Exception as error:  # a broken zip file raises errors of many kinds
        raise ValueError(f"{path} is not a file of probes: {reason(error)}.") from error


def until(probes: Iterable[Probe], step: int) -> list[Probe]:
    """The probes without what was recorded after a step, from which a run goes on."""
    kept = []
    for probe in probes:
        n = sum(recorded <= step for recorded in probe.steps)
        kept.append(Probe(probe.source, probe.target, probe.traces[:n], probe.translations[:n]))
    return kept


def _frame(trace: Trace, own: str) -> dict[str, Any]:
    return {
        "step": trace.step,
        "own": own,
        "translation": asdict(trace.translation),
        "source": asdict(trace.source),
        "written": asdict(trace.target),
        "read": asdict(trace.decoder.keys),
    }


def _model_of(folder: Path) -> ModelConfig:
    """The model in a folder, of which only what its queries may see is asked; the paper's where no file tells."""
    try:
        return ModelConfig(**json.loads((folder / "config.json").read_text("utf-8"))["model"])
    except (OSError, ValueError, KeyError, TypeError):
        return ModelConfig()


def _visible(n: int, model: ModelConfig, *, causal: bool) -> np.ndarray:
    """Where self-attention over n positions may look: everywhere, up to the query, or near it (see model/mixing.py)."""
    behind, ahead = n, 0 if causal else n
    if model.mixing in ("window", "convolution"):
        behind, ahead = (model.mixing_width - 1, 0) if causal else (model.mixing_width // 2,) * 2
    return np.tri(n, k=ahead, dtype=bool) & ~np.tri(n, k=-behind - 1, dtype=bool)


def _probe(name: str, index: int, about: dict[str, Any], arrays: dict[str, np.ndarray], model: ModelConfig) -> Probe:
    traces = tuple(_trace(name, index, about["source"], frame, arrays, model) for frame in about["frames"])
    return Probe(about["source"], about["target"], traces, tuple(frame["own"] for frame in about["frames"]))


def _trace(
    name: str, index: int, sentence: str, frame: dict[str, Any], arrays: dict[str, np.ndarray], model: ModelConfig
) -> Trace:
    source, written, read = (_tokens(frame[side]) for side in ("source", "written", "read"))
    translation = dict(frame["translation"])
    translation["token_log_probs"] = tuple(translation["token_log_probs"])
    encoder, decoder = _visible(len(source), model, causal=False), _visible(len(read), model, causal=model.causal)
    cross = np.ones((len(read), len(source)), bool)
    if model.memory == "last":
        cross[:, :-1] = False
    sides = {
        "encoder": {"queries": source, "keys": source, "mask": encoder},
        "decoder": {"queries": written, "keys": read, "read": read, "mask": decoder},
        "cross": {"queries": written, "keys": source, "read": read, "mask": cross},
    }
    kinds: dict[str, Any] = {}
    for kind in KINDS:
        pattern = arrays[f"{index}.{frame['step']}.{kind}"].astype(np.float32)
        pattern /= np.maximum(pattern.sum(-1, keepdims=True), 1e-6)  # rounding to float16 moved the sums
        kinds[kind] = Attention(kind=kind, pattern=pattern, scores=None, **sides[kind])
    return Trace(name, frame["step"], sentence, Translation(**translation), **kinds)


def _tokens(fields: dict[str, list[Any]]) -> Tokens:
    return Tokens(**{name: tuple(values) for name, values in fields.items()})
