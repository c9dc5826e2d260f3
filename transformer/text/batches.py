"""Batches of sentence pairs of about the same length, as many as a number of tokens allows (§5.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from transformer.text.tokenizer import BOS, EOS, PAD

LENGTH_NOISE = 2.0
"""Tokens by which a pair's difference of lengths is off, at most, when pairs are ordered by it.

With it other pairs meet in every epoch. On Tatoeba, in batches of 4,096 tokens, 97 % of what is computed is no padding.
"""


@dataclass(frozen=True)
class Batch:
    """Pairs as tensors, padded to the right with PAD only."""

    source: Int64[Tensor, "batch key"]
    """Source tokens and EOS."""
    target_in: Int64[Tensor, "batch query"]
    """What the decoder reads: BOS and the target tokens."""
    target_out: Int64[Tensor, "batch query"]
    """What the decoder writes: the target tokens and EOS."""

    def to(self, device: torch.device) -> Self:
        """The same batch on a device."""
        return type(self)(self.source.to(device), self.target_in.to(device), self.target_out.to(device))

    @property
    def n_source_tokens(self) -> int:
        """Source tokens that are not padding."""
        return int((self.source != PAD).sum())

    @property
    def n_target_tokens(self) -> int:
        """Target tokens that are not padding."""
        return int((self.target_out != PAD).sum())


def pad(sequences: Sequence[Sequence[int]]) -> Int64[Tensor, "batch length"]:
    """The sequences as rows, padded on the right with PAD to the longest."""
    longest = max(map(len, sequences), default=0)
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    rows = np.full((len(sequences), longest), PAD, dtype=np.int64)
    rows[np.arange(longest) < lengths[:, None]] = np.fromiter(chain.from_iterable(sequences), np.int64)
    return torch.from_numpy(rows)


def make_batch(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
    """A batch of (source ids, target ids), both without BOS and EOS; raises ValueError without a pair."""
    if not pairs:
        raise ValueError("A batch has no pairs; allowed is at least one.")
    return Batch(
        source=pad([[*source, EOS] for source, _ in pairs]),
        target_in=pad([[BOS, *target] for _, target in pairs]),
        target_out=pad([[*target, EOS] for _, target in pairs]),
    )


class Batches:
    """Every pair exactly once an epoch, in batches of at most `batch_tokens` source and target tokens.

    Tokens count padding and EOS. A pair that is longer than that by itself is a batch by itself. The plan of an epoch
    depends on the lengths, the seed and the epoch's number alone, so a resumed run sees the same batches.
    """

    def __init__(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], batch_tokens: int, seed: int) -> None:
        """Take (source ids, target ids), both without BOS and EOS; raises ValueError without a pair or a token."""
        if not pairs:
            raise ValueError("There are no pairs to make batches of; allowed is at least one.")
        if batch_tokens < 1:
            raise ValueError(f"batch_tokens is {batch_tokens}; allowed is a whole number of at least 1.")
        self.pairs = pairs
        self.batch_tokens = batch_tokens
        self.seed = seed
        self._source = np.array([len(source) + 1 for source, _ in pairs])
        self._target = np.array([len(target) + 1 for _, target in pairs])

    def epoch(self, number: int) -> list[list[int]]:
        """The batches of an epoch, each as indices into the pairs."""
        random = np.random.default_rng([self.seed, number])
        order = self._by_length(random)
        sizes = self._source[order].tolist(), self._target[order].tolist()
        starts, start, longest = [0], 0, 0
        for position, lengths in enumerate(zip(*sizes, strict=True)):
            longest = max(longest, *lengths)
            if position > start and longest * (position + 1 - start) > self.batch_tokens:
                starts.append(position)
                start, longest = position, max(lengths)
        batches = np.split(order, starts[1:])
        return [batches[index].tolist() for index in random.permutation(len(batches))]

    def batch(self, indices: Sequence[int]) -> Batch:
        """The pairs at `indices` as tensors."""
        return make_batch([self.pairs[index] for index in indices])

    def _by_length(self, random: np.random.Generator) -> np.ndarray:
        """Pairs by their longer side, then by how much longer it is, in turn rising and falling.

        Taking turns keeps the difference from jumping where the longer side grows by one, inside a batch.
        """
        longer = np.maximum(self._source, self._target)
        difference = self._target - self._source + random.uniform(0, LENGTH_NOISE, size=len(longer))
        return np.lexsort((np.where(longer % 2, difference, -difference), longer))
