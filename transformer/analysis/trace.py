"""A trace: what one forward pass over one sentence pair left behind. Plain arrays; needs neither torch nor a model."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from transformer.analysis.attention import Attention, Kind, Tokens
from transformer.folders import replacing

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")


@dataclass(frozen=True)
class Translation:
    """The target that the model wrote, or was given, and how likely the model finds it."""

    text: str
    generated: bool
    """True if the model wrote it, False if it was given."""
    token_log_probs: tuple[float, ...]
    """Natural logarithm of each written token's probability, </s> included."""
    score: float
    """log_prob divided by the length penalty ((5 + tokens) / 6)^0.6."""

    @property
    def log_prob(self) -> float:
        """Of the whole target, in nats: the plain sum over its tokens."""
        return sum(self.token_log_probs)


@dataclass(frozen=True)
class Trace:
    """Attention of the three kinds for one sentence pair, with its tokens and log-probabilities.

    The source is its pieces and </s>. The decoder reads <s> y₁ … yₙ and writes y₁ … yₙ </s>.
    """

    model: str
    step: int
    """Optimizer steps behind the model's weights."""
    source_text: str
    translation: Translation
    encoder: Attention
    decoder: Attention
    cross: Attention
    _replay: Callable[[], Mapping[str, np.ndarray]] | None = field(default=None, repr=False, compare=False)

    @property
    def source(self) -> Tokens:
        return self.encoder.keys

    @property
    def target(self) -> Tokens:
        """The tokens written."""
        return self.decoder.queries

    @property
    def target_text(self) -> str:
        return self.translation.text

    def __getitem__(self, kind: str) -> Attention:
        if kind not in KINDS:
            raise KeyError(f"There is no kind {kind!r} of attention; the kinds are {', '.join(KINDS)}.")
        return getattr(self, kind)

    @cached_property
    def cache(self) -> Mapping[str, np.ndarray]:
        """Every hook point of every layer under its name, such as "encoder.0.hook_pattern", without the batch axis.

        Computed when first asked for. A trace that was loaded from a file has only patterns and scores.
        """
        if self._replay is not None:
            return self._replay()
        stored: dict[str, np.ndarray] = {}
        for kind in KINDS:
            for layer, pattern in enumerate(self[kind].pattern):
                stored[f"{kind}.{layer}.hook_pattern"] = pattern
            scores = self[kind].scores
            if scores is not None:
                stored.update((f"{kind}.{layer}.hook_attn_scores", values) for layer, values in enumerate(scores))
        return stored

    def rollout(self) -> dict[Kind, Attention]:
        """Attention carried through the layers, half of it along the residual connections (Abnar & Zuidema 2020).

        With Ā the mean over a layer's heads. Encoder: R ← ½(I + Ā)R from R = I. Decoder, from D = I and S = 0, in each
        layer: (D, S) ← ½(I + Ā)(D, S) by self-attention, then D ← ½D and S ← ½(S + ĀR) by cross-attention. Layer l of
        the result is what has arrived after layer l; encoder rows sum to 1, as do decoder and cross rows together.
        """
        encoder, decoder, cross = [], [], []
        reached = np.eye(len(self.source), dtype=np.float32)
        for mean in self.encoder.pattern.mean(1):
            reached = (reached + mean @ reached) / 2
            encoder.append(reached)
        from_target = np.eye(len(self.target), dtype=np.float32)
        from_source = np.zeros((len(self.target), len(self.source)), np.float32)
        for mean, mean_cross in zip(self.decoder.pattern.mean(1), self.cross.pattern.mean(1), strict=True):
            from_target = (from_target + mean @ from_target) / 2
            from_source = (from_source + mean @ from_source) / 2
            from_target = from_target / 2
            from_source = (from_source + mean_cross @ reached) / 2
            decoder.append(from_target)
            cross.append(from_source)
        rolled: dict[Kind, list[np.ndarray]] = {"encoder": encoder, "decoder": decoder, "cross": cross}
        return {
            kind: replace(self[kind], pattern=np.stack(layers)[:, None], scores=None, heads=("rollout",))
            for kind, layers in rolled.items()
        }

    def to_frame(self) -> "pd.DataFrame":
        """One row a cell of every head of the three kinds (see Attention.to_frame)."""
        import pandas as pd

        return pd.concat([self[kind].to_frame() for kind in KINDS], ignore_index=True)

    def save(self, path: str | Path) -> None:
        """Write a compressed .npz: numbers and one JSON text, nothing that would have to be unpickled."""
        arrays: dict[str, np.ndarray] = {}
        about: dict[str, Any] = {
            "format": FORMAT,
            "model": self.model,
            "step": self.step,
            "source_text": self.source_text,
            "translation": asdict(self.translation),
        }
        for kind in KINDS:
            attention = self[kind]
            arrays[f"{kind}.pattern"], arrays[f"{kind}.mask"] = attention.pattern, attention.mask
            if attention.scores is not None:
                arrays[f"{kind}.scores"] = attention.scores
            sides = {"queries": attention.queries, "keys": attention.keys, "read": attention.read}
            about[kind] = {side: None if tokens is None else asdict(tokens) for side, tokens in sides.items()}
            about[kind] |= {"layers": attention.layers, "heads": attention.heads}
        arrays["about"] = np.array(json.dumps(about, ensure_ascii=False))
        with replacing(Path(path)) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave the model behind; a copy's cache holds patterns and scores."""
        return {**{name: value for name, value in vars(self).items() if name != "cache"}, "_replay": None}


def load_trace(path: str | Path) -> Trace:
    """A trace from a file that Trace.save wrote. Raises ValueError, in one sentence, when it is not one."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        about = json.loads(str(arrays["about"]))
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']}, and this version reads {FORMAT}")
        translation = about["translation"]
        translation["token_log_probs"] = tuple(translation["token_log_probs"])
        kinds: dict[str, Any] = {}
        for kind in KINDS:
            sides = about[kind]
            kinds[kind] = Attention(
                kind=kind,
                pattern=arrays[f"{kind}.pattern"],
                scores=arrays.get(f"{kind}.scores"),
                mask=arrays[f"{kind}.mask"],
                queries=_tokens(sides["queries"]),
                keys=_tokens(sides["keys"]),
                read=None if sides["read"] is None else _tokens(sides["read"]),
                layers=tuple(sides.get("layers", ())),
                heads=tuple(sides.get("heads", ())),
            )
        return Trace(about["model"], about["step"], about["source_text"], Translation(**translation), **kinds)
    except (OSError, EOFError, BadZipFile, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a trace saved by Roundtable: {error}.") from error


def _tokens(fields: dict[str, list[Any]]) -> Tokens:
    return Tokens(**{name: tuple(values) for name, values in fields.items()})
