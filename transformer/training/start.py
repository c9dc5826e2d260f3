"""From a corpus to a Trainer: the folder, the tokenizer, and the pairs as ids."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from transformer.checkpoint import CheckpointConfig, describe_corpus, read_config, write_config
from transformer.config import TrainConfig
from transformer.folders import CheckpointError
from transformer.presets import Preset
from transformer.text.corpora import Corpus, load_corpus
from transformer.text.tokenizer import Tokenizer
from transformer.training.distributed import ALONE, World
from transformer.training.request import UPLOAD_FILE, RunRequest, read_request
from transformer.training.trainer import EncodedPairs, Trainer


def start_training(
    folder: Path,
    corpus: Corpus,
    preset: Preset,
    tokenizer: Tokenizer | None = None,
    device: torch.device | None = None,
    world: World = ALONE,
    plan: Callable[[Trainer], TrainConfig] | None = None,
) -> Trainer:
    """A Trainer at step 0 in a new folder; the tokenizer, unless given, is trained on the training split alone.

    `plan` may try training out on a Trainer of its own, which it spoils, and gives the configuration to train with.
    Raises CheckpointError when the folder already holds a checkpoint.
    """
    if world.leads:
        if (folder / "config.json").exists():
            raise CheckpointError(f"{folder} already holds a checkpoint; resume it, or give the new one another name.")
        folder.mkdir(parents=True, exist_ok=True)
        if tokenizer is None:
            sentences = (sentence for pair in corpus.pairs("train") for sentence in pair)
            tokenizer = Tokenizer.train(sentences, preset.train.vocab_size)
        tokenizer.save(folder / "tokenizer.model")
    world.wait()
    if tokenizer is None:
        tokenizer = Tokenizer.load(folder / "tokenizer.model")
    model = replace(preset.model, vocab_size=len(tokenizer)).resolved()
    training, validation = (_encode(tokenizer, corpus, split) for split in ("train", "validation"))
    train = preset.train
    if plan is not None:
        train = plan(Trainer(folder, model, train, training, validation, device, world))
    if world.leads:
        write_config(folder, CheckpointConfig(model, train, describe_corpus(corpus)))
    return Trainer(folder, model, train, training, validation, device, world)


def resume_training(folder: Path, corpus: Corpus, device: torch.device | None = None, world: World = ALONE) -> Trainer:
    """The Trainer of a folder, at the step it last saved.

    Raises CheckpointError when the corpus is not, byte for byte, the one that training began with.
    """
    config = read_config(folder)
    before = config.corpus.get("sha256")
    if corpus.sha256 != before:
        raise CheckpointError(
            f"{folder} was trained on {config.corpus['name']} with sha256 {before}, "
            f"but the text found now has {corpus.sha256}."
        )
    tokenizer = Tokenizer.load(folder / "tokenizer.model")
    training, validation = (_encode(tokenizer, corpus, split) for split in ("train", "validation"))
    return Trainer(folder, config.model, config.train, training, validation, device, world)


def corpus_of_run(folder: Path, request: RunRequest | None = None, notify: Callable[[str], None] = print) -> Corpus:
    """What the run in a folder is trained on: as run.json says, or config.json where there is none.

    request: what run.json will say, where it may not be there yet. Raises CheckpointError or CorpusError.
    """
    request = read_request(folder) if request is None else request
    if request is None:
        return load_corpus(read_config(folder).corpus["name"], notify=notify)
    if not request.uploaded:
        return load_corpus(request.corpus, notify=notify)
    return replace(load_corpus(folder / UPLOAD_FILE), name=Path(request.corpus).stem)


def _encode(tokenizer: Tokenizer, corpus: Corpus, split: str) -> EncodedPairs:
    return [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in corpus.pairs(split)]
