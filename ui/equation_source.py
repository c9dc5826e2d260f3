"""The lines of our own source that compute a matrix of Equation 1, read from the source as it runs."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from transformer.export.equation import Matrix

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Source:
    """Some lines of a file."""

    file: str
    first: int
    text: str

    @property
    def place(self) -> str:
        last = self.first + self.text.count("\n")
        return f"{self.file}, " + (f"line {last}" if last == self.first else f"lines {self.first}–{last}")


def source_of(parts: "HeadParts", matrix: Matrix) -> list[Source]:
    """What runs for this matrix in a pass with hooks; with rotation or bias where the model has them."""
    from transformer.model import attention, positions
    from transformer.model import transformer as model
    from transformer.model.scores import SCORES, ScaledDotProduct

    layer = attention.MultiHeadAttention
    score = SCORES[parts.score]
    assert issubclass(score, ScaledDotProduct), "head_parts refuses all others"
    found = {
        "Q": [lines(layer.forward, "q = self._heads(self.query(x))")],
        "K": [lines(layer.forward, "k, v = self._heads(self.key(source))")],
        "V": [lines(layer.forward, "k, v = self._heads(self.key(source))")],
        "scores": [
            lines(score.scale_of, "return"),
            lines(score.forward, "return"),
            lines(layer._explicit, "scores = self.score(q, k)", "scores = watch("),
        ],
        "mask": [lines(layer._explicit, "if causal:", "mask = "), lines(attention.causal_mask, "return")],
        "softmax": [
            lines(attention.masked_softmax, "scores = scores.float()", "return scores.masked_fill"),
            lines(layer._explicit, "pattern = watch("),
        ],
        "z": [lines(layer._explicit, "dropped = ", "return watch(")],
    }[matrix]
    if matrix == "mask" and parts.kind != "decoder":
        found.append(lines(model.source_mask, "return"))
    if matrix in ("Q", "K") and parts.unturned:
        turned = lines(positions._turn, "first, second =", "return")
        found += [lines(layer.forward, "q, k = positions.rotate("), turned]
    if matrix == "scores" and parts.bias is not None:
        found.append(lines(positions.LinearBias.bias, "query = ", "return"))
    return found


def lines(function: Callable, first: str, last: str | None = None) -> Source:
    """From the line of a function that begins with `first` to the one that begins with `last`, by default itself.

    Raises LookupError where the function has no such line.
    """
    function = inspect.unwrap(function)
    text, start = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "").resolve()
    begins = [line.strip() for line in text]
    at = next((place for place, line in enumerate(begins) if line.startswith(first)), None)
    if at is None:
        raise LookupError(f"{function.__qualname__} has no line that begins with {first!r}.")
    end = at if last is None else next((p for p in range(at, len(begins)) if begins[p].startswith(last)), None)
    if end is None:
        raise LookupError(f"{function.__qualname__} has no later line that begins with {last!r}.")
    name = file.relative_to(_ROOT).as_posix() if file.is_relative_to(_ROOT) else file.name
    return Source(name, start + at, dedent("".join(text[at : end + 1])).rstrip())
