"""What a person leaves out of attention, or puts in its place, before looking at it: pure functions on Attention."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float32

from transformer.analysis.attention import Attention, Kind
from transformer.analysis.trace import KINDS, Trace

Weighting = Literal["weight", "norm"]
Summary = Literal["mean", "max", "rollout"]
Norms = Float32[np.ndarray, "layer head key"]


def above(attention: Attention, threshold: float) -> Attention:
    """Weights under the threshold set to 0; the rest stay as they are, so that rows sum to less. NaN stays NaN."""
    pattern = attention.pattern
    return replace(attention, pattern=np.where(pattern < threshold, np.float32(0), pattern))


def strongest(attention: Attention, k: int) -> Attention:
    """The k largest weights of each row, the rest set to 0. Weights that tie with the k-th stay too; NaN stays NaN."""
    if k < 1:
        raise ValueError(f"k is {k}; allowed is 1 or more keys a row.")
    pattern, n_key = attention.pattern, len(attention.keys)
    if k >= n_key:
        return attention
    least = np.partition(np.nan_to_num(pattern, nan=np.inf), n_key - k, axis=-1)[..., n_key - k, None]
    return replace(attention, pattern=np.where(pattern < least, np.float32(0), pattern))


def by_norm(attention: Attention, norms: Norms) -> Attention:
    """How much of what a query takes comes from each key: weight × ‖f(x)‖, as a share of its row's sum.

    `norms` are those of value_norms (Kobayashi et al. 2020). Rows sum to 1, but for rows of 0.
    """
    if norms.shape != (*attention.pattern.shape[:2], len(attention.keys)):
        raise ValueError(
            f"{attention.kind}: norms of shape {norms.shape} were given for {attention.pattern.shape[0]} layers, "
            f"{attention.pattern.shape[1]} heads and {len(attention.keys)} keys."
        )
    taken = attention.pattern * norms[:, :, None, :]
    total = taken.sum(-1, keepdims=True)
    share = np.divide(taken, total, out=np.zeros_like(taken), where=total != 0)
    return replace(attention, pattern=share.astype(np.float32), scores=None)


def select(attention: Attention, layers: tuple[str, ...] = (), heads: tuple[str, ...] = ()) -> Attention:
    """Only these layers and heads, by name, in their own order; nothing given means all of them."""
    if not layers and not heads:
        return attention
    rows = _chosen(attention, "layer", attention.layers, layers)
    columns = _chosen(attention, "head", attention.heads, heads)
    chosen = np.ix_(rows, columns)
    return replace(
        attention,
        pattern=attention.pattern[chosen],
        scores=None if attention.scores is None else attention.scores[chosen],
        layers=tuple(attention.layers[row] for row in rows),
        heads=tuple(attention.heads[column] for column in columns),
    )


@dataclass(frozen=True)
class Filters:
    """A view of attention, as the page Head maps holds it in its address bar.

    They act in the order of these fields, but for rollout, which comes before special tokens go.
    """

    weighting: Weighting = "weight"
    """"norm" weighs by the vectors that are taken instead of by attention alone; see by_norm."""
    heads: tuple[str, ...] = ()
    """Names of the heads kept, empty for all; summaries are over these."""
    hide_special: bool = False
    renormalize: bool = False
    """Whether rows that lost special tokens are divided by what is left."""
    words: bool = False
    summary: Summary | None = None
    layers: tuple[str, ...] = ()
    """Names of the layers kept, empty for all."""
    threshold: float = 0.0
    top_k: int = 0
    """Keys kept in a row, 0 for all."""

    def apply(self, trace: Trace, kind: Kind, norms: Mapping[Kind, Norms] | None = None) -> Attention:
        """One kind of a trace as it is seen. `norms` are those of value_norms, needed where weighting is "norm".

        Raises ValueError, in one sentence, for a layer or head that is not there.
        """
        norms = norms or {}
        if self.summary != "rollout":
            return self.of(trace[kind], norms.get(kind))
        weighed = {each: self._weighed(trace[each], norms.get(each)) for each in KINDS}
        return self._reduced(replace(trace, **weighed).rollout()[kind])

    def of(self, attention: Attention, norms: Norms | None = None) -> Attention:
        """The same for attention of one kind alone, of which no rollout can be made."""
        if self.summary == "rollout":
            raise ValueError("Rollout needs a trace: it is carried through all layers of encoder and decoder.")
        return self._reduced(self._weighed(attention, norms))

    def changed(self) -> dict[str, Any]:
        """The fields that are not as they are by default."""
        pairs = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return {name: value for name, value, default in pairs if value != default}

    def __str__(self) -> str:
        """What was done, in words; empty where nothing was."""
        rows = "divided by what is left" if self.renormalize else "summing to less than 1"
        said = {
            "weight × length of the value vectors, as shares of a row": self.weighting == "norm",
            f"heads {', '.join(self.heads)}": self.heads,
            f"without special tokens, rows {rows}": self.hide_special,
            "words": self.words,
            "rollout" if self.summary == "rollout" else f"{self.summary} over heads": self.summary,
            f"layers {', '.join(self.layers)}": self.layers,
            f"weights from {self.threshold:g} on": self.threshold,
            f"the largest {self.top_k} of a row": self.top_k,
        }
        return ", ".join(text for text, holds in said.items() if holds)

    def __repr__(self) -> str:
        """Python that makes it, without what is as it is by default."""
        return f"Filters({', '.join(f'{name}={value!r}' for name, value in self.changed().items())})"

    def _weighed(self, attention: Attention, norms: Norms | None) -> Attention:
        if self.weighting == "norm":
            if norms is None:
                raise ValueError("Weighting by norm needs the lengths of the value vectors; value_norms measures them.")
            attention = by_norm(attention, norms)
        return select(attention, heads=self.heads)

    def _reduced(self, attention: Attention) -> Attention:
        if self.hide_special:
            attention = attention.without_special(renormalize=self.renormalize)
        if self.words:
            attention = attention.words()
        if self.summary == "mean":
            attention = attention.mean()
        if self.summary == "max":
            attention = attention.max()
        attention = select(attention, layers=self.layers)
        if self.threshold:
            attention = above(attention, self.threshold)
        return strongest(attention, self.top_k) if self.top_k else attention


def _chosen(attention: Attention, what: str, names: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
    missing = next((name for name in wanted if name not in names), None)
    if missing is not None:
        raise ValueError(f"There is no {what} {missing}; {attention.kind} has {', '.join(names)}.")
    return [index for index, name in enumerate(names) if not wanted or name in wanted]
