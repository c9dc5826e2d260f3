"""One head, step by step, to take away: its matrices as NPZ, a pair as CSV, and the Python that makes both."""

import csv
import io
import json
from typing import TYPE_CHECKING

import numpy as np

from transformer.analysis.about import About
from transformer.analysis.as_code import as_code
from transformer.analysis.attention import Attention, Kind

if TYPE_CHECKING:
    from transformer.analysis.head_parts import HeadParts


def head_npz(parts: "HeadParts", about: About) -> bytes:
    """q, k, v, scores, mask, pattern and z; bias, and q and k before the rotation, where there are any; labels; about.

    `about` is a JSON text, with the scale that products of queries and keys are multiplied by.
    """
    names = ("q", "k", "v", "scores", "mask", "pattern", "z")
    arrays = {name: getattr(parts, name) for name in names}
    arrays |= {f"{name}_before_rotation": rows for name, rows in parts.unturned.items()}
    if parts.bias is not None:
        arrays["bias"] = parts.bias
    for side, tokens in (("queries", parts.queries), ("keys", parts.keys)):
        arrays[side] = np.array(tokens.labels, dtype=np.str_)
    facts = about.facts(as_attention(parts)) | {"score": parts.score, "scale": parts.scale}
    arrays["about"] = np.array(json.dumps(facts, ensure_ascii=False))
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


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


def pair_csv(parts: "HeadParts", query: int, key: int) -> bytes:
    """One row a dimension: q, k, their product, and the product times the scale, of which, with the bias, is the score.

    The bias of the positions is a row of its own.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("dimension", "q", "k", "product", "term"))
    for dimension, (q, k) in enumerate(zip(parts.q[query].tolist(), parts.k[key].tolist(), strict=True)):
        writer.writerow((dimension, q, k, q * k, q * k * parts.scale))
    if parts.bias is not None:
        writer.writerow(("bias", "", "", "", float(parts.bias[query, key])))
    return file.getvalue().encode()


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
