"""Several models beside each other, to take away: divergences and weights as files, and the Python that makes both."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from transformer import __version__
from transformer.analysis.attention import Attention
from transformer.analysis.compare import Match, apart_from
from transformer.export.about import About
from transformer.export.formats import views_csv
from transformer.export.tables import arrays_npz, encoded, table_csv
from transformer.export.trace_json import views_json

Place = tuple[int, int]
SCHEMA = "roundtable.comparison"


@dataclass(frozen=True)
class Model:
    """One of the models that are compared."""

    about: About
    attention: Attention
    place: Place | None
    """(layer, head) of its opened head, by index; None where it has none."""
    changed: str = ""
    """What sets it apart from the first one, in words."""
    pairs: np.ndarray | None = None
    """Divergences (layer, head, own layer, own head) of the first one's heads; None for the first, and for one whose
    tokens are others."""
    matches: Sequence[Match] | None = None
    """Heads matched by what they attend to; None where they are taken by their place."""


@dataclass(frozen=True)
class Comparison:
    """Two to four models on one sentence pair, and two that differ in their seed alone, where there are any."""

    models: Sequence[Model]
    """The first one is what the others are compared with."""
    matched: bool
    """Whether partners are the heads most alike, and not those at the same place."""
    seeds: tuple[Model, Model] | None = None
    """The noise floor: the second's pairs and matches are with the first of these two."""

    @property
    def kind(self) -> str:
        return self.models[0].attention.kind

    @property
    def facts(self) -> dict[str, Any]:
        """What it is, for a machine."""
        models = [one.about.facts(one.attention) | {"changed": one.changed, "opened": one.place} for one in self.models]
        return {
            "program": "Roundtable",
            "version": __version__,
            "kind": self.kind,
            "partners": "most alike" if self.matched else "same place",
            "models": models,
            "noise_floor": None if self.seeds is None else [one.about.model for one in self.seeds],
        }


def head_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One row for each head of the first model and each other model: its partner there, and how far apart they are.

    The noise floor's rows come last, marked as such. A head without a partner has none of the three.
    """
    first = comparison.models[0]
    rows = [row for other in comparison.models[1:] for row in _rows(first, other, False)]
    return rows + ([] if comparison.seeds is None else _rows(*comparison.seeds, True))


def heads_csv(comparison: Comparison) -> bytes:
    """head_rows, with a last column that says as JSON what they are of."""
    return table_csv(head_rows(comparison), comparison.facts)


def weights_csv(comparison: Comparison) -> bytes:
    """One row a cell of every model; the first column counts the models from 1. Raises ValueError as view_csv does."""
    return views_csv([(one.attention, one.about) for one in comparison.models])


def comparison_npz(comparison: Comparison) -> bytes:
    """pattern_1, mask_1, queries_1, keys_1, pattern_2 and so on; divergence_2 and partner_2, those of the first one's
    heads, with −1 and NaN where there is none; divergence_floor; about, a JSON text."""
    arrays: dict[str, np.ndarray | Sequence[str]] = {}
    for number, one in enumerate(comparison.models, 1):
        attention = one.attention
        arrays |= {
            f"pattern_{number}": attention.pattern,
            f"mask_{number}": attention.mask,
            f"queries_{number}": attention.queries.labels,
            f"keys_{number}": attention.keys.labels,
        }
        if one.pairs is not None:
            arrays[f"divergence_{number}"] = apart_from(one.pairs, one.matches)
            arrays[f"partner_{number}"] = _partners(one)
    if comparison.seeds is not None and comparison.seeds[1].pairs is not None:
        arrays["divergence_floor"] = apart_from(comparison.seeds[1].pairs, comparison.seeds[1].matches)
    return arrays_npz(arrays, comparison.facts)


def comparison_json(comparison: Comparison) -> bytes:
    """One object: schema, facts, head_rows as "heads", and as "views" what views_json writes of all models.

    Raises ValueError as trace_json does.
    """
    views = json.loads(views_json([(one.attention, one.about) for one in comparison.models]))["views"]
    rows = [{name: None if value != value else value for name, value in row.items()} for row in head_rows(comparison)]
    content = {"schema": SCHEMA, "schema_version": 1, "about": comparison.facts, "heads": rows, "views": views}
    return encoded(json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")


def comparison_code(
    models: Sequence[str | Path], sentence: str, target: str | None, kind: str, *, one_target: bool, matched: bool
) -> str:
    """Python whose `apart` holds, for each model but the first, how far each of the first one's heads is from its
    partner there; models are given by what load_checkpoint takes."""
    given = "" if target is None or not one_target else f", {target!r}"
    lines = [
        "from transformer import load_checkpoint",
        "from transformer.analysis.compare import aligned, apart_from, best_matches, divergences, ranked",
    ]
    if one_target and target is None:
        lines.append("from transformer.analysis.retrace import retrace")
    lines += ["", f"first, *others = (load_checkpoint(name) for name in {[str(model) for model in models]!r})"]
    lines.append(f"traces = [first.trace({sentence!r}{given})]")
    if not one_target or target is not None:
        lines.append(f"traces += [other.trace({sentence!r}{given}) for other in others]")
    else:
        lines += [
            "for other in others:  # what the first wrote is read as its very pieces, where a tokenizer is the same",
            "    alike = other.tokenizer.sha256 == first.tokenizer.sha256",
            "    given = traces[0].source_text, traces[0].target_text",
            "    traces.append(retrace(other, traces[0]) if alike else other.trace(*given))",
        ]
    lines.append(f'both = aligned([trace["{kind}"] for trace in traces])')
    lines.append("same = [one for one, compares in zip(both.attentions, both.compares) if compares]")
    lines.append("pairs = [divergences(same[0], one) for one in same[1:]]")
    partner = "best_matches(each)" if matched else "None"
    lines.append(f"apart = [apart_from(each, {partner}) for each in pairs]  # nats, (layer, head) of the first model")
    lines.append("ranked(apart)")
    return "\n".join(lines)


def _rows(first: Model, other: Model, floor: bool) -> list[dict[str, Any]]:
    if other.pairs is None:
        return []
    apart, partners = apart_from(other.pairs, other.matches), _partners(other)
    return [
        {
            "model": other.about.model,
            "against": first.about.model,
            "noise_floor": floor,
            "layer": layer,
            "head": head,
            "partner_layer": None if partners[layer, head, 0] < 0 else int(partners[layer, head, 0]),
            "partner_head": None if partners[layer, head, 1] < 0 else int(partners[layer, head, 1]),
            "divergence_nats": None if np.isnan(apart[layer, head]) else float(apart[layer, head]),
        }
        for layer, head in np.ndindex(apart.shape)
    ]


def _partners(one: Model) -> np.ndarray:
    """(layer, head, 2): layer and head of each partner, −1 where there is none."""
    assert one.pairs is not None
    n_layers, n_heads, own_layers, own_heads = one.pairs.shape
    found = np.full((n_layers, n_heads, 2), -1)
    if one.matches is None:
        for layer, head in np.ndindex(min(n_layers, own_layers), min(n_heads, own_heads)):
            found[layer, head] = layer, head
    else:
        for match in one.matches:
            found[match.one] = match.other
    return found
