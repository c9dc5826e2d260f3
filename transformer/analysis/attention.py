"""The attention of one kind in one trace: patterns with their labels, and the views that people ask of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from jaxtyping import Bool, Float32

from transformer.text.words import display_word

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True)
class Tokens:
    """One side's tokens; all four fields have one entry a token."""

    pieces: tuple[str, ...]
    """As the tokenizer writes them."""
    labels: tuple[str, ...]
    """As a person reads them."""
    words: tuple[int, ...]
    """Index of the word that each belongs to."""
    special: tuple[bool, ...]
    """Whether it is <s> or </s>."""

    def __len__(self) -> int:
        return len(self.pieces)

    def select(self, keep: Sequence[bool]) -> Self:
        """Only the tokens where keep is true."""
        chosen = [index for index, kept in enumerate(keep) if kept]
        return self._take(chosen)

    def merged(self) -> Self:
        """One token a word, its pieces joined and its label read from them."""
        groups: dict[int, list[int]] = {}
        for index, word in enumerate(self.words):
            groups.setdefault(word, []).append(index)
        return type(self)(
            pieces=tuple("".join(self.pieces[i] for i in group) for group in groups.values()),
            labels=tuple(display_word([self.pieces[i] for i in group]) for group in groups.values()),
            words=tuple(range(len(groups))),
            special=tuple(all(self.special[i] for i in group) for group in groups.values()),
        )

    def membership(self) -> Float32[np.ndarray, "word token"]:
        """1 where the token belongs to the word, 0 elsewhere."""
        order = {word: row for row, word in enumerate(dict.fromkeys(self.words))}
        matrix = np.zeros((len(order), len(self)), np.float32)
        matrix[[order[word] for word in self.words], range(len(self))] = 1
        return matrix

    def _take(self, chosen: Sequence[int]) -> Self:
        return type(self)(
            pieces=tuple(self.pieces[i] for i in chosen),
            labels=tuple(self.labels[i] for i in chosen),
            words=tuple(self.words[i] for i in chosen),
            special=tuple(self.special[i] for i in chosen),
        )


@dataclass(frozen=True)
class Attention:
    """Every head of one kind of attention: who attends (query, a row) to whom (key, a column)."""

    kind: Kind
    pattern: Float32[np.ndarray, "layer head query key"]
    """After softmax, before dropout; rows sum to 1, but for a row that may see nothing, which is all 0."""
    scores: Float32[np.ndarray, "layer head query key"] | None
    """Before mask and softmax; None in a view that scores cannot be carried into."""
    mask: Bool[np.ndarray, "query key"]
    """True where the query may attend to the key."""
    queries: Tokens
    """Row t of decoder and cross is the step that writes token t; these are the tokens written."""
    keys: Tokens
    """Keys of the decoder are the tokens read."""
    read: Tokens | None = None
    """Decoder and cross: the token that the decoder reads at each row."""
    layers: tuple[str, ...] = ()
    """Names along the layer axis."""
    heads: tuple[str, ...] = ()
    """Names along the head axis: numbers, or what was done to the heads."""

    def __post_init__(self) -> None:
        n_layers, n_heads = self.pattern.shape[:2]
        if not self.layers:
            object.__setattr__(self, "layers", tuple(map(str, range(n_layers))))
        if not self.heads:
            object.__setattr__(self, "heads", tuple(map(str, range(n_heads))))
        if (len(self.layers), len(self.heads), len(self.queries), len(self.keys)) != self.pattern.shape:
            raise ValueError(
                f"{self.kind}: a pattern of shape {self.pattern.shape} was given {len(self.layers)} layer names, "
                f"{len(self.heads)} head names, {len(self.queries)} queries and {len(self.keys)} keys."
            )

    def words(self) -> Self:
        """Pieces merged to words: summed over a word's keys, averaged over its queries, so that rows sum to 1."""
        key_of, query_of = self.keys.membership(), self.queries.membership()
        share = query_of / query_of.sum(1, keepdims=True)
        return replace(
            self,
            pattern=share @ (self.pattern @ key_of.T),
            scores=None,
            mask=(query_of @ self.mask @ key_of.T) > 0,
            queries=self.queries.merged(),
            keys=self.keys.merged(),
            read=None,
        )

    def mean(self) -> Self:
        """The mean over each layer's heads; rows still sum to 1."""
        return replace(self, pattern=self.pattern.mean(1, keepdims=True), scores=None, heads=("mean",))

    def max(self) -> Self:
        """The largest weight among each layer's heads; rows are not distributions and may sum to more than 1."""
        return replace(self, pattern=self.pattern.max(1, keepdims=True), scores=None, heads=("max",))

    def without_special(self, *, renormalize: bool = False) -> Self:
        """Without <s> and </s> among queries and keys.

        Rows then sum to less than 1; renormalize divides each row by its sum (a row with nothing left stays all 0).
        """
        rows, columns = ~np.array(self.queries.special, bool), ~np.array(self.keys.special, bool)
        pattern = self.pattern[:, :, rows][..., columns]
        if renormalize:
            total = pattern.sum(-1, keepdims=True)
            pattern = np.divide(pattern, total, out=np.zeros_like(pattern), where=total > 0)
        return replace(
            self,
            pattern=pattern,
            scores=None if self.scores is None else self.scores[:, :, rows][..., columns],
            mask=self.mask[rows][:, columns],
            queries=self.queries.select(rows.tolist()),
            keys=self.keys.select(columns.tolist()),
            read=None if self.read is None else self.read.select(rows.tolist()),
        )

    def to_frame(self) -> "pd.DataFrame":
        """One row a cell: kind, layer, head, query, key, their positions, weight, and score where there is one."""
        import pandas as pd

        shape = self.pattern.shape
        layer, head, query, key = (axis.ravel() for axis in np.indices(shape))
        columns = {
            "kind": np.full(layer.size, self.kind),
            "layer": np.array(self.layers)[layer],
            "head": np.array(self.heads)[head],
            "query_position": query,
            "query": np.array(self.queries.labels)[query] if len(self.queries) else query.astype(str),
            "key_position": key,
            "key": np.array(self.keys.labels)[key] if len(self.keys) else key.astype(str),
            "weight": self.pattern.ravel(),
            "may_attend": np.broadcast_to(self.mask, shape).ravel(),
        }
        if self.scores is not None:
            columns["score"] = self.scores.ravel()
        return pd.DataFrame(columns)
