"""Training a family: model after model, what is finished left alone, what is unfinished resumed, each one measured."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from transformer import __version__
from transformer.ablations.positions import ENCODINGS, PARTS, Part, length
from transformer.ablations.table import TABLE, Row, read_rows, write_rows
from transformer.analysis.by_length import score_by_length
from transformer.analysis.visits import corpus_visits
from transformer.checkpoint import load_checkpoint, read_config
from transformer.config import Positions
from transformer.evaluate import evaluate, save_evaluation
from transformer.folders import CheckpointError, runs_folder
from transformer.text.corpora import Corpus
from transformer.text.tokenizer import Tokenizer
from transformer.training.start import resume_training, start_training
from transformer.training.trainer import Trainer
from transformer.weights import named_weights, save_weights

VISITS = "position_visits"
"""Under this name evaluation.json keeps how many texts of one epoch reach each position."""


def train_positions(
    parts: Sequence[str],
    train: Callable[[Trainer], bool],
    steps: int | None = None,
    notify: Callable[[str], None] = print,
) -> bool:
    """Train and measure every model of these parts (see PARTS) that the table does not have yet.

    train: runs a Trainer and says whether it came to its end. The first that does not ends the work: False.
    steps: of every model; by default what its part says. Raises CheckpointError where a model was begun with another
    number of steps.
    """
    path = runs_folder() / TABLE
    for part in (PARTS[name] for name in parts):
        missing = [one for one in _members(part) if not _is_done(part, *one, steps, path)]
        if not missing:
            notify(f"{part.name}: all models are trained and measured.")
            continue
        notify(f"{part.name}: {len(missing)} of {len(ENCODINGS) * len(part.seeds)} models are to be trained.")
        corpus = part.corpus(notify)
        tokenizer, longest = _tokenizer(corpus, part)
        for encoding, seed in missing:
            name = part.checkpoint(encoding, seed)
            notify(f"{name} …")
            trainer = _trainer(part, encoding, seed, steps, corpus, tokenizer, longest)
            if not train(trainer):
                return False
            # Half the size: what is shipped is what is measured.
            save_weights(named_weights(trainer.model), trainer.folder / "model.safetensors", torch.float16)
            measured = _measure(part, encoding, seed, corpus, trainer)
            kept = read_rows(path) if path.exists() else []
            write_rows([row for row in kept if (row.part, row.encoding, row.seed) != (part.name, encoding, seed)]
                       + measured, path)  # fmt: skip
    return True


def missing_positions(parts: Sequence[str], steps: int | None = None) -> list[str]:
    """The folders of the models of these parts that the table does not have yet."""
    path = runs_folder() / TABLE
    return [
        part.checkpoint(encoding, seed)
        for part in (PARTS[name] for name in parts)
        for encoding, seed in _members(part)
        if not _is_done(part, encoding, seed, steps, path)
    ]


def _members(part: Part) -> Iterator[tuple[Positions, int]]:
    """Seed after seed, so that one of each encoding is there early."""
    return ((encoding, seed) for seed in part.seeds for encoding in ENCODINGS)


def _is_done(part: Part, encoding: Positions, seed: int, steps: int | None, path: Path) -> bool:
    wanted = part.preset.train.steps if steps is None else steps
    rows = read_rows(path) if path.exists() else []
    key = (part.name, encoding, seed, wanted)
    if not any((row.part, row.encoding, row.seed, row.steps) == key for row in rows):
        return False
    # Models of the length test are in no list; their rows are all that is asked of them.
    return not part.listed or (runs_folder() / part.checkpoint(encoding, seed) / "model.safetensors").exists()


def _tokenizer(corpus: Corpus, part: Part) -> tuple[Tokenizer, int]:
    """One tokenizer for all models of a part, and the tokens of the longest training text, </s> included."""
    sentences = [sentence for pair in corpus.pairs("train") for sentence in pair]
    tokenizer = Tokenizer.train(sentences, part.preset.train.vocab_size)
    return tokenizer, 1 + max(len(tokenizer.encode(sentence)) for sentence in sentences)


def _trainer(
    part: Part, encoding: Positions, seed: int, steps: int | None, corpus: Corpus, tokenizer: Tokenizer, longest: int
) -> Trainer:
    folder = runs_folder() / part.checkpoint(encoding, seed)
    preset = part.preset_of(encoding, seed, steps, longest)
    if not (folder / "config.json").exists():
        return start_training(folder, corpus, preset, tokenizer)
    begun = read_config(folder).train.steps
    if begun != preset.train.steps:
        raise CheckpointError(
            f"{folder} was begun with {begun} steps, not {preset.train.steps}: ask for {begun}, or remove it."
        )
    return resume_training(folder, corpus)


def _measure(part: Part, encoding: Positions, seed: int, corpus: Corpus, trainer: Trainer) -> list[Row]:
    checkpoint = load_checkpoint(trainer.folder)
    tokenizer, pairs = checkpoint.tokenizer, corpus.pairs("test")
    if part.listed:
        save_evaluation(trainer.folder, f"{corpus.name} test", evaluate(checkpoint, pairs))
        visits = corpus_visits(corpus, tokenizer, checkpoint.config.model.max_length)
        save_evaluation(trainer.folder, VISITS, {"corpus": corpus.name, "texts": visits.tolist()})
    encoded = [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in pairs]
    model = checkpoint.model.to(trainer.device)
    scores = score_by_length(model, encoded, [length(pair) for pair in pairs], part.edges, part.judged)
    trained_to = part.trained_to or max(map(length, corpus.pairs("train")))
    return [
        Row(
            part=part.name,
            encoding=encoding,
            seed=seed,
            unit=part.unit,
            trained_to=trained_to,
            steps=trainer.config.steps,
            target_tokens=trainer.progress.n_tokens,
            version=__version__,
            **asdict(score),
        )
        for score in scores
    ]
