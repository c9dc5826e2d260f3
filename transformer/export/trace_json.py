"""A trace, or any view of one, as JSON, the format for other programs; and a trace read back from it.

UTF-8, one object, "schema" and "schema_version" first, arrays as nested lists in the order layer, head, query, key,
numbers rounded to 6 significant digits. What is not finite is one of the strings "NaN", "Infinity" and "-Infinity".
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from transformer import __version__
from transformer.analysis.attention import Attention, Kind, Tokens
from transformer.analysis.trace import KINDS, Trace, Translation
from transformer.export.about import About
from transformer.export.tables import encoded

TRACE_SCHEMA, VIEW_SCHEMA, VIEWS_SCHEMA = "roundtable.trace", "roundtable.view", "roundtable.views"
SCHEMA_VERSION = 1
MOST_NUMBERS = 4_000_000
"""Weights and scores in one file; NPZ takes any number."""


def trace_json(trace: Trace) -> bytes:
    """All that Trace.save holds. Raises ValueError, in one sentence, for more than 4,000,000 weights and scores."""
    _check_size([trace[kind] for kind in KINDS])
    translation = asdict(trace.translation)
    for name in ("token_log_probs", "score"):
        translation[name] = _rounded(np.array(translation[name], np.float64))
    fields = {"model": trace.model, "step": trace.step, "source_text": trace.source_text, "translation": translation}
    return _file(TRACE_SCHEMA, {**_texts(fields), **{kind: _attention(trace[kind]) for kind in KINDS}})


def view_json(attention: Attention, about: About) -> bytes:
    """One kind as it is seen: merged, filtered, a subset of layers and heads. Raises ValueError as trace_json does."""
    _check_size([attention])
    return _file(VIEW_SCHEMA, {**_texts({"about": about.facts(attention)}), "attention": _attention(attention)})


def views_json(views: Sequence[tuple[Attention, About]]) -> bytes:
    """Views of several sentences, in a list. Raises ValueError as trace_json does."""
    _check_size([attention for attention, _ in views])
    each = (
        _object({**_texts({"about": about.facts(attention)}), "attention": _attention(attention)})
        for attention, about in views
    )
    return _file(VIEWS_SCHEMA, {"views": f"[{','.join(each)}]"})


def load_trace_json(path: str | Path) -> Trace:
    """A trace from a file of trace_json. Raises ValueError, in one sentence, when it is not one."""
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        if not isinstance(content, dict) or content.get("schema") != TRACE_SCHEMA:
            raise ValueError(f"it has no schema {TRACE_SCHEMA!r}")
        if content["schema_version"] != SCHEMA_VERSION:
            version = content["schema_version"]
            raise ValueError(f"its schema version is {version!r}, and this version reads {SCHEMA_VERSION}")
        translation = content["translation"]
        return Trace(
            model=str(content["model"]),
            step=int(content["step"]),
            source_text=str(content["source_text"]),
            translation=Translation(
                text=str(translation["text"]),
                generated=bool(translation["generated"]),
                token_log_probs=tuple(map(float, translation["token_log_probs"])),
                score=float(translation["score"]),
            ),
            encoder=_read_attention("encoder", content["encoder"]),
            decoder=_read_attention("decoder", content["decoder"]),
            cross=_read_attention("cross", content["cross"]),
        )
    except (OSError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        said = f"it has no {error}" if isinstance(error, KeyError) else str(error).removesuffix(".")
        raise ValueError(f"{path} is not a trace in Roundtable's JSON: {said}.") from error


def _file(schema: str, members: Mapping[str, str]) -> bytes:
    head = _texts({"schema": schema, "schema_version": SCHEMA_VERSION, "version": __version__})
    return encoded(_object({**head, **members}) + "\n")


def _attention(attention: Attention) -> str:
    sides = {"queries": attention.queries, "keys": attention.keys, "read": attention.read}
    fields = {
        "kind": attention.kind,
        "layers": attention.layers,
        "heads": attention.heads,
        **{side: None if tokens is None else asdict(tokens) for side, tokens in sides.items()},
        "mask": attention.mask.tolist(),
    }
    scores = "null" if attention.scores is None else _array_text(attention.scores)
    return _object({**_texts(fields), "pattern": _array_text(attention.pattern), "scores": scores})


def _array_text(values: np.ndarray) -> str:
    """A layer-head-query-key array. Head by head, because a Python number takes ten times the room of its digits."""
    layers = ("[" + ",".join(_text(_rounded(head)) for head in layer) + "]" for layer in values)
    return "[" + ",".join(layers) + "]"


def _object(members: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{_text(name)}:{value}" for name, value in members.items()) + "}"


def _texts(fields: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in fields.items()}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _rounded(values: np.ndarray) -> Any:
    """Nested lists of numbers with 6 significant digits."""
    values = values.astype(np.float64)
    finite = np.isfinite(values)
    known = np.where(finite, values, 0)
    digits = 5 - np.floor(np.log10(abs(known), out=np.zeros_like(known), where=known != 0))
    scale = 10.0 ** abs(digits)
    # Dividing by a power of ten gives the float that is nearest to the decimal, which is then written with its digits.
    rounded = np.where(digits >= 0, np.rint(known * scale) / scale, np.rint(known / scale) * scale)
    extreme = abs(digits) > 22  # 10^22 is the largest power of ten that a float holds exactly
    rounded[extreme] = [float(f"{value:.5e}") for value in known[extreme]]
    if finite.all():
        return rounded.tolist()
    said = np.where(np.isnan(values), "NaN", np.where(values > 0, "Infinity", "-Infinity"))
    return np.where(finite, rounded.astype(object), said.astype(object)).tolist()


def _read_attention(kind: Kind, content: Mapping[str, Any]) -> Attention:
    queries, keys = _tokens(content["queries"]), _tokens(content["keys"])
    layers, heads = tuple(map(str, content["layers"])), tuple(map(str, content["heads"]))
    scores = content["scores"]
    shape = (len(layers), len(heads), len(queries), len(keys))
    return Attention(
        kind=kind,
        pattern=_array(f"{kind}.pattern", content["pattern"], np.float32, shape),
        scores=None if scores is None else _array(f"{kind}.scores", scores, np.float32, shape),
        mask=_array(f"{kind}.mask", content["mask"], np.bool_, shape[2:]),
        queries=queries,
        keys=keys,
        read=None if content["read"] is None else _tokens(content["read"]),
        layers=layers,
        heads=heads,
    )


def _array(name: str, nested: Any, kind: type, shape: tuple[int, ...]) -> np.ndarray:
    array = np.array(nested, kind)
    if array.size == 0:
        array = array.reshape(shape)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, but its layers, heads and tokens say {shape}")
    return array


def _tokens(fields: Mapping[str, Any]) -> Tokens:
    tokens = Tokens(
        pieces=tuple(map(str, fields["pieces"])),
        labels=tuple(map(str, fields["labels"])),
        words=tuple(map(int, fields["words"])),
        special=tuple(map(bool, fields["special"])),
    )
    if not len(tokens.pieces) == len(tokens.labels) == len(tokens.words) == len(tokens.special):
        raise ValueError("pieces, labels, words and special of its tokens differ in number")
    return tokens


def _check_size(attentions: Sequence[Attention]) -> None:
    count = sum(each.pattern.size * (1 if each.scores is None else 2) for each in attentions)
    if count > MOST_NUMBERS:
        raise ValueError(
            f"There are {count:,} weights and scores, and a JSON file takes {MOST_NUMBERS:,}; "
            "NPZ holds them all, or choose fewer layers, heads or tokens."
        )
