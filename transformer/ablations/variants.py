"""Our own Table 3: what each variant changes in the base model, in the order of training. Light; needs no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transformer.config import ConfigError


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One row: the base model with some fields of its configuration changed."""

    name: str
    group: str
    """The row's letter in the paper; S, L, M, P, F and R for what the paper does not ablate (see GROUPS)."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    against: str = "base"
    """The variant that it is measured against."""
    repeats: str | None = None
    """The variant that makes the same change in the base; a finding is counted there, and here only looked at again."""
    seeds: tuple[int, ...] = (1,)
    paper: str | None = None
    """The row of the paper's Table 3 that it is the counterpart of (see transformer.ablations.paper)."""
    positions: str | None = None
    """Its first seed is the model of this encoding in the family of positions, which is not trained again."""

    def folder(self, seed: int) -> str:
        """Of one model, in the checkpoints folder; one level deeper than models that are listed."""
        if self.positions is not None and seed == self.seeds[0]:
            return f"positions-{self.positions}"
        return f"table3/{self.name}-{seed}"


GROUPS = {
    "base": "the base model, with five seeds",
    "A": "heads, and the width of a head",
    "B": "the width of queries and keys",
    "D": "dropout and label smoothing",
    "E": "learned positions",
    "S": "the scale of the scores",
    "C": "depth and width",
    "L": "where the normalization stands, and warmup",
    "M": "what self-attention weighs by",
    "P": "no positions",
    "F": "the feed-forward network",
    "R": "a lower learning rate",
}


def _layers(n: int) -> dict[str, Any]:
    return {"n_encoder_layers": n, "n_decoder_layers": n}


def _heads(n_heads: int, width: int) -> dict[str, Any]:
    return {"n_heads": n_heads, "d_k": width, "d_v": width}


_HALF, _QUARTER = {"lr_factor": 0.5}, {"lr_factor": 0.25}
_PRE = {"norm": "pre"}
_WIDE = {"d_model": 256, "d_k": 64, "d_v": 64}

_ROWS = (
    Variant(name="base", group="base", seeds=(1, 2, 3, 4, 5), paper="base", positions="sinusoidal"),
    Variant(name="A-h1", group="A", changes=_heads(1, 128), paper="A-h1"),
    Variant(name="A-h2", group="A", changes=_heads(2, 64), paper="A-h4"),
    Variant(name="A-h8", group="A", changes=_heads(8, 16), paper="A-h16"),
    Variant(name="A-h16", group="A", changes=_heads(16, 8), paper="A-h32"),
    Variant(name="A-h2-dk32", group="A", changes=_heads(2, 32)),
    Variant(name="A-h8-dk32", group="A", changes=_heads(8, 32)),
    Variant(name="A-h4-dk64", group="A", changes=_heads(4, 64)),
    Variant(name="B-dk8", group="B", changes={"d_k": 8}, paper="B-dk16"),
    Variant(name="B-dk16", group="B", changes={"d_k": 16}, paper="B-dk32"),
    Variant(name="D-drop0", group="D", changes={"p_drop": 0.0}, paper="D-drop0"),
    Variant(name="D-drop0.2", group="D", changes={"p_drop": 0.2}, paper="D-drop0.2"),
    Variant(name="D-smooth0", group="D", changes={"label_smoothing": 0.0}, paper="D-smooth0"),
    Variant(name="D-smooth0.2", group="D", changes={"label_smoothing": 0.2}, paper="D-smooth0.2"),
    Variant(name="E-learned", group="E", changes={"positions": "learned"}, paper="E-learned", positions="learned"),
    Variant(name="unscaled-dk32", group="S", changes={"score": "unscaled"}),
    Variant(name="unscaled-dk32-divided", group="S", changes={"score": "unscaled", "divide_query": True}),
    Variant(name="twice-dk32", group="S", changes={"score": "scaled-twice"}),
    Variant(name="unscaled-dk128", group="S", changes=_heads(1, 128) | {"score": "unscaled"}, against="A-h1"),
    Variant(
        name="unscaled-dk128-divided",
        group="S",
        against="A-h1",
        changes=_heads(1, 128) | {"score": "unscaled", "divide_query": True},
    ),
    Variant(name="twice-dk128", group="S", changes=_heads(1, 128) | {"score": "scaled-twice"}, against="A-h1"),
    Variant(name="C-n1", group="C", changes=_layers(1), paper="C-n2"),
    Variant(name="C-n2", group="C", changes=_layers(2), paper="C-n4"),
    Variant(name="C-n6", group="C", changes=_layers(6), paper="C-n8"),
    Variant(name="C-d64", group="C", changes={"d_model": 64, "d_k": 16, "d_v": 16}, paper="C-d256"),
    Variant(name="C-d256", group="C", changes=_WIDE, paper="C-d1024"),
    Variant(name="C-ff128", group="C", changes={"d_ff": 128}, paper="C-ff1024"),
    Variant(name="C-ff2048", group="C", changes={"d_ff": 2048}, paper="C-ff4096"),
    Variant(name="pre", group="L", changes=_PRE),
    Variant(name="pre-no-warmup", group="L", changes=_PRE | {"schedule": "no-warmup"}, against="pre"),
    Variant(name="pre-n2", group="L", changes=_PRE | _layers(2), against="pre", repeats="C-n2"),
    Variant(name="pre-n6", group="L", changes=_PRE | _layers(6), against="pre", repeats="C-n6"),
    Variant(name="pre-d256", group="L", changes=_PRE | _WIDE, against="pre", repeats="C-d256"),
    Variant(name="pre-uniform", group="L", changes=_PRE | {"mixing": "uniform"}, against="pre", repeats="uniform"),
    Variant(name="post-no-warmup", group="L", changes={"schedule": "no-warmup"}),
    Variant(name="uniform", group="M", changes={"mixing": "uniform"}),
    Variant(name="no-positions", group="P", changes={"positions": "none"}, positions="none"),
    Variant(name="swiglu", group="F", changes={"activation": "swiglu"}),
    Variant(name="experts", group="F", changes={"n_experts": 4, "top_experts": 2}),
    Variant(name="rate-half", group="R", changes=_HALF),
    Variant(name="rate-half-n2", group="R", changes=_HALF | _layers(2), against="rate-half", repeats="C-n2"),
    Variant(name="rate-half-n6", group="R", changes=_HALF | _layers(6), against="rate-half", repeats="C-n6"),
    Variant(name="rate-half-d256", group="R", changes=_HALF | _WIDE, against="rate-half", repeats="C-d256"),
    Variant(name="rate-half-drop0", group="R", changes=_HALF | {"p_drop": 0.0}, against="rate-half", repeats="D-drop0"),
    Variant(
        name="rate-half-unscaled",
        group="R",
        changes=_HALF | {"score": "unscaled"},
        against="rate-half",
        repeats="unscaled-dk32",
    ),
    Variant(name="rate-quarter", group="R", changes=_QUARTER),
    Variant(name="rate-quarter-n2", group="R", changes=_QUARTER | _layers(2), against="rate-quarter", repeats="C-n2"),
    Variant(name="rate-quarter-n6", group="R", changes=_QUARTER | _layers(6), against="rate-quarter", repeats="C-n6"),
)
VARIANTS: dict[str, Variant] = {variant.name: variant for variant in _ROWS}
"""In the order in which they are trained."""


def chosen(only: Sequence[str]) -> list[Variant]:
    """The variants of these names or groups, in the order of training; all where none is named.

    Raises ConfigError for a name that is neither.
    """
    for name in only:
        if name not in VARIANTS and name not in GROUPS:
            raise ConfigError(
                f"--only is {name!r}; allowed is a group, {' | '.join(GROUPS)}, or a name, {' | '.join(VARIANTS)}."
            )
    return [variant for variant in VARIANTS.values() if not only or variant.name in only or variant.group in only]
