"""How far a checkpoint's cross-attention is from alignments that people made: alignment error rate (Och & Ney 2003)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from transformer.analysis.alignment import Link, Rows, word_links, word_weights
from transformer.analysis.attention import Attention
from transformer.analysis.gold import GoldPair

if TYPE_CHECKING:
    import pandas as pd

    from transformer.checkpoint import Checkpoint
    from transformer.text.tokenizer import Tokenizer


class Agreement(NamedTuple):
    """Links found, counted against gold links."""

    found: int
    found_sure: int
    found_possible: int
    sure: int

    @classmethod
    def of(cls, links: frozenset[Link], gold: GoldPair) -> Self:
        return cls(len(links), len(links & gold.sure), len(links & gold.possible), len(gold.sure))

    @classmethod
    def total(cls, agreements: Sequence[Self]) -> Self:
        """Of a corpus: links are counted, not sentences averaged."""
        return cls(*map(sum, zip((0, 0, 0, 0), *agreements, strict=True)))

    @property
    def error_rate(self) -> float:
        """1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|): 0 is perfect, NaN without any link."""
        return 1 - _ratio(self.found_sure + self.found_possible, self.found + self.sure)

    @property
    def precision(self) -> float:
        """|A ∩ P| / |A|: which share of the links found is not wrong."""
        return _ratio(self.found_possible, self.found)

    @property
    def recall(self) -> float:
        """|A ∩ S| / |S|: which share of the sure links was found."""
        return _ratio(self.found_sure, self.sure)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


class Reading(NamedTuple):
    """One way to read an alignment off cross-attention."""

    rows: Rows
    layer: int | None
    """None: the mean over all layers."""
    head: int | None
    """None: the mean over the layer's heads."""


@dataclass(frozen=True)
class AlignmentScores:
    """How well each reading aligns some gold pairs."""

    counts: Mapping[Reading, Sequence[Agreement]]
    """For each reading, an entry for each gold pair."""
    diagonal: Agreement
    """Of a model-free guess: each target word linked to the source word at the same place in its sentence."""

    def __getitem__(self, reading: Reading) -> Agreement:
        return Agreement.total(self.counts[reading])

    @property
    def best_layer(self) -> Reading:
        """The layer, its heads averaged, and the rows with the lowest error rate on these pairs."""
        return self._best(slice(None))

    @property
    def held_out(self) -> Agreement:
        """The best layer's agreement without the luck of choosing it on the pairs that it is scored on.

        Layer and rows are chosen on every other pair and scored on the rest, and the other way round.
        """
        even, odd = slice(0, None, 2), slice(1, None, 2)
        return Agreement.total([*self.counts[self._best(odd)][even], *self.counts[self._best(even)][odd]])

    def to_frame(self) -> "pd.DataFrame":
        """One row a reading: rows, layer and head ("mean" where averaged), AER, precision and recall."""
        import pandas as pd

        records = []
        for reading in self.counts:
            rows, layer, head = (("mean" if value is None else value) for value in reading)
            total = self[reading]
            scores = {"aer": total.error_rate, "precision": total.precision, "recall": total.recall}
            records.append({"rows": rows, "layer": layer, "head": head, **scores})
        return pd.DataFrame(records)

    def summary(self) -> dict[str, Any]:
        """As it stands in evaluation.json; error rates from 0 to 1."""
        best = self.best_layer
        rates = {reading: round(self[reading].error_rate, 4) for reading in self.counts}
        return {
            "n_sentences": len(self.counts[best]),
            "n_sure_links": self.diagonal.sure,
            "best_layer": {"rows": best.rows, "layer": best.layer, "aer": rates[best]},
            "best_layer_held_out_aer": round(self.held_out.error_rate, 4),
            "diagonal_aer": round(self.diagonal.error_rate, 4),
            "layers": {
                rows: [rates[reading] for reading in self._layers if reading.rows == rows]
                for rows in ("written", "read")
            },
        }

    @property
    def _layers(self) -> list[Reading]:
        return [reading for reading in self.counts if reading.layer is not None and reading.head is None]

    def _best(self, pairs: slice) -> Reading:
        return min(self._layers, key=lambda reading: Agreement.total(self.counts[reading][pairs]).error_rate)


def alignment_error_rate(checkpoint: "Checkpoint", gold: Sequence[GoldPair]) -> AlignmentScores:
    """Score every layer and head of a checkpoint while it reads each gold source and writes its gold target.

    The target is given (teacher forcing), so that there is a gold alignment. Each target word is linked to the source
    word that it attends to most; no threshold or other number is fitted to the gold. Raises ValueError without a pair.
    """
    if not gold:
        raise ValueError("There are no gold pairs to align; allowed is at least one.")
    counts: dict[Reading, list[Agreement]] = {}
    for pair in gold:
        cross = gold_attention(checkpoint, pair)
        for rows in ("written", "read"):
            for reading, weights in _readings(word_weights(cross, rows), rows):
                counts.setdefault(reading, []).append(Agreement.of(word_links(weights), pair))
    return AlignmentScores(counts, Agreement.total([Agreement.of(_diagonal(pair), pair) for pair in gold]))


def gold_attention(checkpoint: "Checkpoint", pair: GoldPair) -> Attention:
    """The pair's cross-attention by pieces, whose words are the gold words."""
    from transformer.analysis.tracing import trace_ids
    from transformer.text.tokenizer import EOS

    source, source_words = _encode(checkpoint.tokenizer, pair.source)
    target, target_words = _encode(checkpoint.tokenizer, pair.target)
    texts = " ".join(pair.source), " ".join(pair.target)
    cross = trace_ids(checkpoint, texts, [*source, EOS], [*target, EOS], generated=False).cross
    assert cross.read is not None
    return replace(
        cross,
        keys=replace(cross.keys, words=(*source_words, len(pair.source))),
        queries=replace(cross.queries, words=(*target_words, len(pair.target))),
        read=replace(cross.read, words=(-1, *target_words)),
    )


def _encode(tokenizer: "Tokenizer", words: Sequence[str]) -> tuple[list[int], list[int]]:
    """Ids of the words joined by spaces, and for each the number of its word: pieces never reach over a space."""
    encoded = [tokenizer.encode(word) for word in words]
    return list(chain.from_iterable(encoded)), [number for number, ids in enumerate(encoded) for _ in ids]


def _readings(weights: np.ndarray, rows: Rows) -> list[tuple[Reading, np.ndarray]]:
    """Every head, the mean of each layer, and the mean of all, of weights (layer, head, target, source)."""
    n_layers, n_heads = weights.shape[:2]
    heads = [(Reading(rows, layer, head), weights[layer, head]) for layer, head in np.ndindex(n_layers, n_heads)]
    layers = [(Reading(rows, layer, None), mean) for layer, mean in enumerate(weights.mean(1))]
    return [*heads, *layers, (Reading(rows, None, None), weights.mean((0, 1)))]


def _diagonal(pair: GoldPair) -> frozenset[Link]:
    n_source, n_target = len(pair.source), len(pair.target)
    return frozenset((round(target * (n_source - 1) / max(n_target - 1, 1)), target) for target in range(n_target))
