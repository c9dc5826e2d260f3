"""Untrained checkpoints on disk: what a trace or a page costs does not depend on what the weights know."""

import random
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase

import torch

from transformer.checkpoint import Checkpoint, CheckpointConfig, load_checkpoint, write_config
from transformer.config import ModelConfig, TrainConfig
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.weights import named_weights, save_weights


def untrained_checkpoint(folder: Path, config: ModelConfig) -> Checkpoint:
    """A checkpoint of that shape with random weights, and a tokenizer of about config.vocab_size pieces."""
    folder.mkdir(parents=True)
    tokenizer = Tokenizer.train(_text(1500, seed=0), config.vocab_size)
    tokenizer.save(folder / "tokenizer.model")
    config = replace(config, vocab_size=len(tokenizer))
    torch.manual_seed(0)
    save_weights(named_weights(Transformer(config)), folder / "model.safetensors")
    corpus = {"name": "none", "sha256": "", "licence": "", "attribution": "", "pairs": {}}
    write_config(folder, CheckpointConfig(config, TrainConfig(), corpus))
    return load_checkpoint(folder)


def sentence_of(n_tokens: int, tokenizer: Tokenizer, seed: int) -> str:
    """A sentence of n_tokens tokens, end of sentence included."""
    words = iter(" ".join(_text(100, seed)).split())
    sentence = next(words)
    while len(tokenizer.encode(sentence)) < n_tokens - 1:
        word = next(words)
        if len(tokenizer.encode(f"{sentence} {word}")) < n_tokens:
            sentence = f"{sentence} {word}"
    return sentence


def _text(n_lines: int, seed: int) -> list[str]:
    """Lines of invented words, a few of them frequent and most of them rare, as in a language."""
    draw = random.Random(0)
    words = ["".join(draw.choices(ascii_lowercase, k=draw.randint(1, 8))) for _ in range(6000)]
    draw = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return [" ".join(draw.choices(words, weights, k=12)) for _ in range(n_lines)]
