"""A folder on disk ↔ a Checkpoint: a model, its tokenizer, and what is known of both."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import torch

from transformer import __version__
from transformer.config import ModelConfig, TrainConfig
from transformer.folders import CheckpointError, find_checkpoint, reason, replacing
from transformer.model import Hook, Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.weights import load_weights

if TYPE_CHECKING:
    from transformer.analysis.trace import Trace
    from transformer.text.corpora import Corpus

FORMAT = 1
EVALUATION_FILE = "evaluation.json"


@dataclass(frozen=True)
class CheckpointConfig:
    """What config.json says."""

    model: ModelConfig
    train: TrainConfig
    corpus: dict[str, Any]
    """Name, sha256, licence and attribution of the text, and the pairs of each split."""
    weights: str = "last"
    """Which weights model.safetensors holds: "last", or "average of the last N"."""
    step: int = 0
    """Optimizer steps behind the weights, the last of them for an average."""
    version: str = __version__
    """Of the code that trained it."""


_KINDS = {"weights": str, "step": int, "version": str}
"""What config.json may leave out, and what it must be."""


@dataclass(frozen=True)
class Checkpoint:
    """A model with its tokenizer. Safe to share between threads: hooks are arguments of a pass, never attached."""

    name: str
    config: CheckpointConfig
    tokenizer: Tokenizer
    model: Transformer
    folder: Path

    @cached_property
    def evaluation(self) -> dict[str, Any]:
        """Scores with their signatures, from evaluation.json; empty where the model was not evaluated, as no twin at
        step 0 is. Raises CheckpointError when the file is broken."""
        return {} if self.config.weights == "untrained" else read_evaluation(self.folder)

    def trace(self, sentence: str, target: str | None = None, interventions: Sequence[Hook] = ()) -> "Trace":
        """Every head's attention while the model reads `sentence` and writes `target`, by default its own translation.

        Raises ValueError, in one sentence, for a text that the model cannot take.
        """
        from transformer.analysis.tracing import trace_pair

        return trace_pair(self, sentence, target, interventions)

    def translate(self, sentences: Sequence[str], beam: int = 4, alpha: float = 0.6) -> list[str]:
        """The best translation of each sentence, by beam search with length penalty alpha (§6.1)."""
        from transformer.decoding.search import beam_search

        sources = [self.tokenizer.encode(sentence) for sentence in sentences]
        found = beam_search(self.model, sources, beam=beam, alpha=alpha)
        return [self.tokenizer.decode(hypotheses[0].tokens) for hypotheses in found]

    def untrained(self) -> Self:
        """Its twin at step 0: the same configuration, seed and tokenizer, before any training."""
        random = torch.get_rng_state()
        try:
            torch.manual_seed(self.config.train.seed)
            model = Transformer(self.config.model).eval()
        finally:
            torch.set_rng_state(random)
        config = CheckpointConfig(self.config.model, self.config.train, self.config.corpus, weights="untrained")
        return replace(self, config=config, model=model, name=f"{self.name} (untrained)")


def load_checkpoint(name_or_folder: str | Path) -> Checkpoint:
    """The checkpoint of that name or in that folder, its model in float32 on the CPU, ready to use.

    Raises CheckpointError, in one sentence, when it is missing, of another format, or not whole.
    """
    folder = find_checkpoint(name_or_folder)
    config = read_config(folder)
    try:
        tokenizer = Tokenizer.load(folder / "tokenizer.model")
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    if len(tokenizer) != config.model.vocab_size:
        raise CheckpointError(
            f"{folder}: tokenizer.model has {len(tokenizer)} pieces, but config.json says {config.model.vocab_size}."
        )
    model = Transformer(config.model).eval()
    load_weights(model, folder / "model.safetensors")
    return Checkpoint(folder.resolve().name, config, tokenizer, model, folder)


def read_config(folder: Path) -> CheckpointConfig:
    """What config.json in the folder says. Raises CheckpointError, in one sentence, when it cannot be used."""
    path = folder / "config.json"
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {reason(error)}.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else None
        raise CheckpointError(f"{path} has format {found!r}; this version of Roundtable reads format {FORMAT}.")
    try:
        if not isinstance(content["corpus"], dict) or not isinstance(content["corpus"].get("name"), str):
            raise ValueError("its corpus has no name")
        rest = {name: content[name] for name in _KINDS if name in content}
        for name, value in rest.items():
            if not isinstance(value, _KINDS[name]):
                raise ValueError(f"its {name} is {value!r}")
        model, train = ModelConfig(**content["model"]), TrainConfig(**content["train"])
        return CheckpointConfig(model, train, content["corpus"], **rest)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} does not describe a checkpoint: {reason(error)}.") from error


def write_config(folder: Path, config: CheckpointConfig) -> None:
    """Write config.json, replacing it in one step."""
    content = {"format": FORMAT, **asdict(config), "model": asdict(config.model.resolved())}
    with replacing(folder / "config.json") as temporary:
        temporary.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_evaluation(folder: Path) -> dict[str, Any]:
    """What evaluation.json in the folder says, {} where there is none. Raises CheckpointError when it is broken."""
    path = folder / EVALUATION_FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it holds no names")
        return content
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} is not an evaluation: {reason(error)}.") from error


def describe_corpus(corpus: "Corpus") -> dict[str, Any]:
    """What config.json says of a corpus."""
    pairs = {split: len(corpus.pairs(split)) for split in ("train", "validation", "test")}
    return {
        "name": corpus.name,
        "sha256": corpus.sha256,
        "licence": corpus.licence,
        "attribution": corpus.attribution,
        "pairs": pairs,
    }
