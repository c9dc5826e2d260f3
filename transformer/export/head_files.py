"""One head, step by step, to take away: its matrices as NPZ and tables, a pair, and the Python that makes them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer.analysis.attention import Attention, Kind
from transformer.export.about import About
from transformer.export.as_code import as_code
from transformer.export.equation import COLUMNS, ROWS, matrices
from transformer.export.tables import Rows

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts


def head_arrays(parts: "HeadParts") -> dict[str, np.ndarray | Sequence[str]]:
    """q, k, v, scores, mask, pattern and z; bias, and q and k before the rotation, where there are any; labels."""
    names = ("q", "k", "v", "scores", "mask", "pattern", "z")
    arrays: dict[str, np.ndarray | Sequence[str]] = {name: getattr(parts, name) for name in names}
    arrays |= {f"{name}_before_rotation": rows for name, rows in parts.unturned.items()}
    if parts.bias is not None:
        arrays["bias"] = parts.bias
    return arrays | {"queries": parts.queries.labels, "keys": parts.keys.labels}


def head_facts(parts: "HeadParts", about: About) -> dict[str, Any]:
    """What a file of one head says of itself, with what products of queries and keys are multiplied by."""
    return about.facts(as_attention(parts)) | {"score": parts.score, "scale": parts.scale}


def as_attention(parts: "HeadParts") -> Attention:
    """The pattern of the one head as the Attention of its kind."""
    return Attention(
        parts.kind,
        parts.pattern[None, None],
        parts.scores[None, None],
        parts.mask,
        parts.queries,
        parts.keys,
        parts.read,
        layers=(str(parts.layer),),
        heads=(str(parts.head),),
    )


def pair_rows(parts: "HeadParts", query: int, key: int) -> Rows:
    """One row a dimension: q, k, their product, and the product times the scale, of which, with the bias, is the score.

    The bias of the positions is a row of its own.
    """
    rows: list[dict[str, Any]] = [
        {"dimension": dimension, "q": q, "k": k, "product": q * k, "term": q * k * parts.scale}
        for dimension, (q, k) in enumerate(zip(parts.q[query].tolist(), parts.k[key].tolist(), strict=True))
    ]
    if parts.bias is not None:
        rows.append({"dimension": "bias", "term": float(parts.bias[query, key])})
    return rows


def key_rows(parts: "HeadParts", query: int) -> Rows:
    """One row a key: what the query's score and weight are for it, and whether it may attend there at all."""
    return [
        {
            "query_position": query,
            "query": parts.queries.labels[query],
            "key_position": key,
            "key": label,
            "score": float(parts.scores[query, key]),
            "may_attend": bool(parts.mask[query, key]),
            "weight": float(parts.pattern[query, key]),
        }
        for key, label in enumerate(parts.keys.labels)
    ]


def matrix_rows(parts: "HeadParts") -> Rows:
    """One row a cell of each matrix of Equation 1: its place, the tokens at its sides, its value."""
    labels = {"query": parts.queries.labels, "key": parts.keys.labels}
    return [
        {
            "matrix": name,
            "row": row,
            "row_of": f"{ROWS[name]} {labels[ROWS[name]][row]}",
            "column": column,
            "column_of": f"key {labels['key'][column]}" if COLUMNS[name] == "key" else f"dimension {column}",
            "value": float(values[row, column]),
        }
        for name, values in matrices(parts).items()
        for row, column in np.ndindex(*values.shape)
    ]


def head_code(
    model: str,
    sentence: str,
    target: str | None,
    place: tuple[Kind, int, int],
    shown: str = "scores",
    *,
    untrained: bool = False,
) -> str:
    """Python whose `head` holds one head's matrices, and whose last line is what is `shown` of it.

    place: kind, layer, head.
    """
    kind, layer, head = place
    imports, _, lines = as_code(model, sentence, target, kind, untrained=untrained).partition("\n\n")
    checkpoint = "checkpoint.untrained()" if untrained else "checkpoint"
    steps = lines.splitlines()[:-1]
    return "\n".join(
        [
            imports,
            "from transformer.analysis.head_parts import head_parts",
            "",
            *steps,
            f"head = head_parts({checkpoint}, view, trace.source, layer={layer}, head={head})",
            f"head.{shown}",
        ]
    )
