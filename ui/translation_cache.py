"""The key–value cache at one step: what is kept from before, what is computed now, what is still to come."""

from dataclasses import dataclass

from transformer.config import ModelConfig
from transformer.export.markup import tag
from ui.theme import KIND_COLOURS

_CELL, _GAP, _ROW, _MOST = 13.0, 3.0, 44.0, 30


@dataclass(frozen=True)
class CacheStep:
    """Keys of one layer at the step that writes one position, and how many numbers that makes in all layers."""

    kept: int
    """Target positions whose keys and values are there from earlier steps."""
    computed: int
    """Target positions whose keys and values this step computes: 1, but for the first step, which reads all given."""
    to_come: int
    """Positions that the opened hypothesis has yet to read."""
    source: int
    """Keys of the source, </s> among them."""
    source_computed: bool
    """Whether this step computes them, as the first one does."""
    rows: int
    """Hypotheses that are open while this step is computed; each has keys and values of its own."""
    n_layers: int
    n_heads: int
    d_k: int
    d_v: int

    @property
    def numbers_kept(self) -> int:
        """Floating-point numbers of all layers, keys and values, from earlier steps."""
        return self._numbers(self.kept * self.rows + (0 if self.source_computed else self.source))

    @property
    def numbers_computed(self) -> int:
        """Those that this step computes."""
        return self._numbers(self.computed * self.rows + (self.source if self.source_computed else 0))

    @property
    def numbers_without(self) -> int:
        """Those that this step would compute if nothing were kept: all."""
        return self.numbers_kept + self.numbers_computed

    def _numbers(self, keys: int) -> int:
        return keys * self.n_layers * self.n_heads * (self.d_k + self.d_v)


def cache_step(config: ModelConfig, n_source: int, n_given: int, position: int, n_target: int, rows: int) -> CacheStep:
    """The cache while the token at `position` is written.

    n_source: source tokens, </s> among them. n_given: tokens that decoding was made to begin with, read together with
    <s> in the first step. n_target: tokens of the opened hypothesis. rows: open hypotheses.
    """
    config = config.resolved()
    assert config.d_k is not None and config.d_v is not None
    first = position <= n_given
    computed = n_given + 1 if first else 1
    kept = 0 if first else position
    return CacheStep(
        kept, computed, max(0, n_target - kept - computed), n_source, first, rows,
        config.n_decoder_layers, config.n_heads, config.d_k, config.d_v,
    )  # fmt: skip


def cache_svg(step: CacheStep) -> str:
    """Two rows of cells, one a key and its value: of the target so far, and of the source."""
    target = ["kept"] * step.kept + ["new"] * step.computed + ["empty"] * step.to_come
    source = ["new" if step.source_computed else "kept"] * step.source
    rows = [("decoder: keys of the target", "decoder", target), ("cross: keys of the source", "cross", source)]
    parts = []
    for place, (label, kind, cells) in enumerate(rows):
        y = _ROW * place
        shown, skipped = _window(cells)
        parts.append(tag("text", f"{label}{', the last of them' if skipped else ''}", x=0, y=y + 12, font_size=12.5))
        parts += [_cell(cell, KIND_COLOURS[kind], (_CELL + _GAP) * column, y + 20) for column, cell in enumerate(shown)]
    y = _ROW * len(rows) + 8
    for x, cell, text in ((0.0, "kept", "kept"), (70.0, "new", "computed now"), (190.0, "empty", "to come")):
        parts.append(_cell(cell, KIND_COLOURS["decoder"], x, y))
        parts.append(tag("text", text, x=x + 19, y=y + 11, font_size=12, opacity=0.85))
    across, height = max(280.0, (_CELL + _GAP) * _MOST), y + 20
    said = f"Of the target {step.kept} positions kept, {step.computed} computed, {step.to_come} to come."
    return tag(
        "svg", tag("title", said), *parts, width=round(across), height=round(height), role="img", fill="currentColor",
        viewBox=f"0 0 {across:.0f} {height:.0f}", class_="cache",
    )  # fmt: skip


def _window(cells: list[str]) -> tuple[list[str], bool]:
    """At most so many cells, with the new ones among them, and whether earlier ones are left out."""
    if len(cells) <= _MOST:
        return cells, False
    last = max((place for place, cell in enumerate(cells) if cell == "new"), default=_MOST - 1)
    start = max(0, min(last - _MOST + 3, len(cells) - _MOST))
    return cells[start : start + _MOST], start > 0


def _cell(kind: str, colour: str, x: float, y: float) -> str:
    look = {
        "kept": {"fill": "currentColor", "fill_opacity": 0.28, "stroke": "none"},
        "new": {"fill": colour, "stroke": colour},
        "empty": {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.35, "stroke_dasharray": "2 2"},
    }[kind]
    return tag("rect", x=x, y=y, width=_CELL, height=_CELL, rx=2, class_=f"cell-{kind}", **look)
