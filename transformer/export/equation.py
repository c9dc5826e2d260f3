"""The arithmetic of one cell of Equation 1 with its real numbers, in words and signs that are plain text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, isclose, sin, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from transformer.export.markup import shorten
from transformer.export.numbers import exact

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts

Matrix = Literal["Q", "K", "scores", "mask", "softmax", "V", "z"]
MATRICES: tuple[Matrix, ...] = ("Q", "K", "scores", "mask", "softmax", "V", "z")
ROWS: dict[Matrix, Literal["query", "key"]] = {
    "Q": "query", "K": "key", "scores": "query", "mask": "query", "softmax": "query", "V": "key", "z": "query",
}  # fmt: skip
COLUMNS: dict[Matrix, Literal["key", "dimension"]] = {
    "Q": "dimension", "K": "dimension", "scores": "key", "mask": "key", "softmax": "key", "V": "dimension",
    "z": "dimension",
}  # fmt: skip
_LARGEST = 4  # terms written out beside the first
_BASE = 10_000.0  # of the frequencies by which positions turn (§3.5)


@dataclass(frozen=True)
class Cell:
    """A place in one of the matrices."""

    matrix: Matrix
    row: int
    column: int


@dataclass(frozen=True)
class Arithmetic:
    """How a cell comes about."""

    name: str
    """Such as scores[6, 1]."""
    lines: tuple[str, ...]
    """Each the right side of an equation; the last is, or ends in, the value."""
    notes: tuple[str, ...]
    value: float


def matrices(parts: "HeadParts") -> dict[Matrix, np.ndarray]:
    """The seven matrices in the order of Equation 1."""
    return {
        "Q": parts.q, "K": parts.k, "scores": parts.scores, "mask": parts.mask.astype(np.float32),
        "softmax": parts.pattern, "V": parts.v, "z": parts.z,
    }  # fmt: skip


def arithmetic(parts: "HeadParts", cell: Cell) -> Arithmetic:
    """What the cell is made of, one step back."""
    explain: Mapping[Matrix, Callable[[HeadParts, Cell], tuple[list[str], list[str], float]]] = {
        "Q": _projected, "K": _projected, "V": _projected, "scores": _score, "mask": _mask, "softmax": _weight,
        "z": _mixed,
    }  # fmt: skip
    lines, notes, value = explain[cell.matrix](parts, cell)
    return Arithmetic(f"{cell.matrix}[{cell.row}, {cell.column}]", tuple(lines), tuple(notes), value)


def where(parts: "HeadParts", cell: Cell) -> str:
    """The cell's row and column in words."""
    row = token(parts, ROWS[cell.matrix], cell.row)
    column = COLUMNS[cell.matrix]
    return f"{row}, {token(parts, 'key', cell.column) if column == 'key' else f'dimension {cell.column}'}"


def token(parts: "HeadParts", side: Literal["query", "key"], place: int) -> str:
    """A query or key by its place and its label, which an isolate keeps from turning the line around."""
    tokens = parts.queries if side == "query" else parts.keys
    return f"{side} {place} “\u2068{shorten(tokens.labels[place])}\u2069”"


def _factor(value: float) -> str:
    """The same inside a product."""
    return f"({exact(value)})" if value < 0 or 0 < value < 0.0005 else exact(value)


def written_out(terms: Sequence[float]) -> list[int]:
    """Which terms of a sum are written out: all of a few, else the first and then the largest."""
    if len(terms) <= _LARGEST + 2:
        return list(range(len(terms)))
    rest = sorted(range(1, len(terms)), key=lambda at: -abs(terms[at]))
    return [0, *rest[:_LARGEST]]


def _sum_of_products(
    a: np.ndarray, b: np.ndarray, name: Callable[[int], str], names: str
) -> tuple[str, list[str], float]:
    """The sum written out, a note on which terms stand there and what the others come to, and its value."""
    terms = a.astype(np.float64) * b.astype(np.float64)
    shown = written_out(terms.tolist())
    parts = [f"{_factor(a[at])}·{_factor(b[at])}" for at in shown]
    notes = []
    n_others = len(terms) - len(shown)
    if n_others:
        others = float(terms.sum() - terms[shown].sum())
        parts.append(f"[{n_others} others: {exact(others)}]")
        largest = ", ".join(name(at) for at in shown[1:])
        notes.append(
            f"Of {len(terms)} {names}, those of {name(0)}, the first, and of the largest stand here: {largest}. "
            f"The other {n_others} come to {exact(others)} together."
        )
    return " + ".join(parts), notes, float(terms.sum())


def _score(parts: "HeadParts", cell: Cell) -> tuple[list[str], list[str], float]:
    i, j, by = cell.row, cell.column, divided_by(parts)
    written, notes, product = _sum_of_products(parts.q[i], parts.k[j], "dimension {}".format, "products")
    value = product * parts.scale
    lines = [f"Q[{i}] · K[{j}]", written]
    if by:
        root = f"{1 / parts.scale:.4g}"
        lines = [f"{lines[0]} / {by}", f"({written}) / {root}", f"{exact(product)} / {root}"]
    if parts.bias is not None:
        bias = float(parts.bias[i, j])
        lines = [f"{lines[0]} + bias", *(f"{line} + {_factor(bias)}" for line in lines[1:])]
        slope = f"−{exact(-bias / abs(i - j))}·|{i} − {j}|" if i != j else "0, as the distance is 0"
        notes.append(f"The bias of ALiBi is {slope} = {exact(bias)}." if i != j else f"The bias of ALiBi is {slope}.")
        value += bias
    if parts.unturned:
        notes.append("Q and K are as RoPE has turned them, each by its own position.")
    lines.append(exact(value))
    return lines, notes, value


def divided_by(parts: "HeadParts") -> str:
    """What products are divided by, as the paper writes it: √64; empty where it is 1."""
    if parts.scale == 1:
        return ""
    divisor = 1 / parts.scale
    return f"√{parts.d_k}" if isclose(divisor, sqrt(parts.d_k), rel_tol=1e-6) else f"{divisor:.4g}"


def _mask(parts: "HeadParts", cell: Cell) -> tuple[list[str], list[str], float]:
    i, j = cell.row, cell.column
    if parts.mask.all():
        return ["may attend"], ["No key is padding, and every query sees every key: nothing is masked."], 1.0
    if parts.mask[i, j]:
        note = "The decoder reads the key at this step or before it." if parts.kind == "decoder" else "It is in view."
        return ["may attend"], [note], 1.0
    late = parts.kind == "decoder" and j > i
    why = "The decoder reads the key after this step." if late else "The query does not see this key."
    return ["masked"], [f"{why} Its score gives way to the lowest number of float32, and its weight is 0."], 0.0


def _weight(parts: "HeadParts", cell: Cell) -> tuple[list[str], list[str], float]:
    i, j = cell.row, cell.column
    allowed = np.flatnonzero(parts.mask[i])
    if not parts.mask[i, j]:
        return ["0"], ["The key is masked for this query."], 0.0
    scores = parts.scores[i].astype(np.float64)
    largest = float(scores[allowed].max())
    terms = np.exp(scores[allowed] - largest)
    total, mine = float(terms.sum()), float(np.exp(scores[j] - largest))
    shown = written_out(terms.tolist())
    written = [f"e^({exact(scores[allowed[at]])} − {_factor(largest)})" for at in shown]
    notes = [
        f"{exact(largest)} is the row's largest score. It is taken off first, so that no power overflows, and cancels."
    ]
    if len(allowed) < len(scores):
        notes.append(f"{len(scores) - len(allowed)} masked keys are left out of the sum.")
    if len(shown) < len(terms):
        others = float(terms.sum() - terms[shown].sum())
        written.append(f"[{len(terms) - len(shown)} others: {exact(others)}]")
        names = ", ".join(token(parts, "key", int(allowed[at])) for at in shown[1:])
        first = token(parts, "key", int(allowed[0]))
        notes.append(f"Of {len(terms)} powers, those of {first}, the first, and of the largest stand here: {names}.")
    lines = [
        f"e^scores[{i}, {j}] / (sum of e^scores[{i}, …])",
        f"e^({exact(scores[j])} − {_factor(largest)}) / ({' + '.join(written)})",
        f"{exact(mine)} / {exact(total)}",
        exact(mine / total),
    ]
    return lines, notes, mine / total


def _mixed(parts: "HeadParts", cell: Cell) -> tuple[list[str], list[str], float]:
    i, c = cell.row, cell.column
    allowed = np.flatnonzero(parts.mask[i])
    written, notes, value = _sum_of_products(
        parts.pattern[i, allowed],
        parts.v[allowed, c],
        lambda at: token(parts, "key", int(allowed[at])),
        "products",
    )
    return [f"softmax[{i}] · V[…, {c}]", written, exact(value)], notes, value


def _projected(parts: "HeadParts", cell: Cell) -> tuple[list[str], list[str], float]:
    """A query, key or value: a row of what reaches the layer, times a column of weights, then turned where RoPE is."""
    name, row, c = cell.matrix.lower(), cell.row, cell.column
    made_of = parts.projections[name]
    reaches = "x"
    if parts.kind == "cross" and name != "q":
        reaches = "encoder output"
    written, notes, value = _sum_of_products(made_of.rows[row], made_of.weight[:, c], "number {}".format, "products")
    value += float(made_of.bias[c])
    lines = [
        f"{reaches}[{row}] · W_{cell.matrix}[…, {c}] + b_{cell.matrix}[{c}]",
        f"{written} + {_factor(float(made_of.bias[c]))}",
        exact(value),
    ]
    if parts.unturned and name in parts.unturned:
        pair, odd = divmod(c, 2)
        first, second = (float(at) for at in parts.unturned[name][row, 2 * pair : 2 * pair + 2].astype(np.float64))
        frequency = _BASE ** (-2 * pair / parts.d_k)
        angle = row * frequency
        sine, cosine = (first, second) if odd else (second, first)
        value = cosine * cos(angle) + (sine if odd else -sine) * sin(angle)
        sign = "+" if odd else "−"
        lines[-1] += " before RoPE"
        lines += [
            f"{_factor(cosine)}·cos {exact(angle)} {sign} {_factor(sine)}·sin {exact(angle)} after RoPE",
            exact(value),
        ]
        notes.append(
            f"RoPE turns dimensions {2 * pair} and {2 * pair + 1}, {exact(first)} and {exact(second)}, by position "
            f"{row} times {exact(frequency)}: {exact(angle)} rad."
        )
    return lines, notes, value


def made_of(parts: "HeadParts") -> dict[Matrix, str]:
    """What each matrix is made of, in signs that stand under its name."""
    by = divided_by(parts)
    turned = " ↻" if parts.unturned else ""
    score = "QKᵀ" + (f"/{by}" if by else "") + (" + b" if parts.bias is not None else "")
    return {
        "Q": f"x·W_Q{turned}", "K": f"x·W_K{turned}", "scores": score,
        "mask": "all seen" if parts.mask.all() else "hatched", "softmax": "by row", "V": "x·W_V", "z": "softmax·V",
    }  # fmt: skip
