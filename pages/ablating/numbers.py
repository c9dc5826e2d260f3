"""Our own Table 3 as a table: every row's scores, its differences beside the paper's, and its verdicts."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from transformer.ablations.results import Result
from transformer.ablations.verdicts import SAYS, Comparison, Metric

_COLUMNS = [
    *("row", "differs from base", "perplexity", "Δ ours", "Δ paper", "by perplexity", "BLEU", "Δ BLEU ours"),
    *("Δ BLEU paper", "by BLEU", "chrF", "parameters", "tokens/s", "measured against"),
]


def numbers(results: Sequence[Result], found: Mapping[Metric, Sequence[Comparison]]) -> None:
    """The base first, then every row that is measured against another, then what has nothing to compare with yet."""
    import pandas as pd

    by_bleu = {one.name: one for one in found["bleu"]}
    first = {one.name: one for one in reversed(results)}
    rows = [_base(results)] if "base" in first else []
    for one in found["perplexity"]:
        row, bleu = first[one.name], by_bleu.get(one.name)
        rows.append(
            {
                "row": one.name,
                "differs from base": row.differs,
                "perplexity": one.ours,
                "Δ ours": _finite(one.delta),
                "Δ paper": one.paper_delta,
                "by perplexity": _verdict(one),
                "BLEU": None if bleu is None else bleu.ours,
                "Δ BLEU ours": None if bleu is None else _finite(bleu.delta),
                "Δ BLEU paper": None if bleu is None else bleu.paper_delta,
                "by BLEU": "" if bleu is None else _verdict(bleu),
                "chrF": row.chrf,
                "parameters": row.parameters,
                "tokens/s": row.tokens_per_second,
                "measured against": one.against,
            }
        )
    shown = {one["row"] for one in rows}
    rows += [_alone(first[name]) for name in first if name not in shown]
    formats: dict[str, Any] = {"row": st.column_config.TextColumn(width=180, pinned=True)} | {
        name: st.column_config.NumberColumn(format=how, width=90)
        for names, how in (
            (("perplexity",), "%.2f"), (("Δ ours", "Δ paper"), "%+.2f"), (("BLEU", "chrF"), "%.1f"),
            (("Δ BLEU ours", "Δ BLEU paper"), "%+.1f"), (("parameters", "tokens/s"), "localized"),
        )
        for name in names
    }  # fmt: skip
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    st.dataframe(frame, hide_index=True, column_config=formats, height="content", placeholder="–")
    for name, words in SAYS.items():
        if any(one.name == name for one in found["perplexity"]):
            st.caption(f"`{name}`: {words}.")


def _base(results: Sequence[Result]) -> dict[str, Any]:
    """The base's row: means over its seeds, and how far the seeds lie from each other."""
    own = [one for one in results if one.name == "base"]
    known = [one.perplexity for one in own if one.perplexity is not None]
    row = _alone(own[0])
    for name, field in (("perplexity", "perplexity"), ("BLEU", "bleu"), ("chrF", "chrf")):
        values = [value for one in own if (value := getattr(one, field)) is not None]
        row[name] = sum(values) / len(values) if values else None
    spread = f", perplexity {min(known):.2f} to {max(known):.2f}" if len(known) > 1 else ""
    return row | {"differs from base": f"mean of {len(own)} seed{'s' * (len(own) != 1)}{spread}", "by perplexity": ""}


def _alone(row: Result) -> dict[str, Any]:
    """A row that is measured against nothing."""
    return {
        "row": row.name,
        "differs from base": row.differs,
        "perplexity": row.perplexity,
        "by perplexity": "diverged" if row.diverged_at is not None else "nothing to compare with yet",
        "BLEU": row.bleu,
        "chrF": row.chrf,
        "parameters": row.parameters,
        "tokens/s": row.tokens_per_second,
    }


def _verdict(one: Comparison) -> str:
    if not one.learned:
        gone = "diverged" if one.ours is None else "failed"
        return gone if one.verdict is None else f"{gone}: {one.verdict}"
    if one.verdict is not None:
        return one.verdict
    return "differs; the paper has no number" if one.distinguishable else "not distinguishable"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
