"""The tables of the page as CSV and JSON files, which say what they are of."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import Any

import streamlit as st

from pages.translating.state import labels, score, text
from pages.translating.view import View
from transformer import __version__
from transformer.decoding.hypothesis import length_penalty

Rows = Sequence[Mapping[str, Any]]
SCHEMA = "roundtable.translation"


def downloads(view: View, tables: Mapping[str, Callable[[], Rows]]) -> None:
    """Draw a popover with both files of each table; a file is made when it is asked for."""
    with st.popover("Download", icon=":material/download:"):
        for name, rows in tables.items():
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                st.markdown(name, width="content")
                st.download_button(
                    "CSV", lambda rows=rows: as_csv(rows()), f"{view.model}-{name}.csv", "text/csv",
                    key=f"csv {name}", on_click="ignore",
                )  # fmt: skip
                st.download_button(
                    "JSON", lambda name=name, rows=rows: as_json(view, name, rows()), f"{view.model}-{name}.json",
                    "application/json", key=f"json {name}", on_click="ignore",
                )  # fmt: skip


def as_csv(rows: Rows) -> bytes:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode("utf-8", "backslashreplace")


def as_json(view: View, table: str, rows: Rows) -> bytes:
    record = view.record
    content = {
        "schema": SCHEMA,
        "schema_version": 1,
        "version": __version__,
        "model": view.model,
        "sentence": view.sentence,
        "target": view.request.target,
        "beam": record.beam,
        "alpha": record.alpha,
        "prefix": list(record.prefix),
        "hypothesis": view.chosen + 1,
        "table": table,
        "rows": list(rows),
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "backslashreplace")


def token_rows(view: View) -> Rows:
    """The opened hypothesis token by token, each with its alternatives."""
    tokens = view.hypothesis.tokens
    scored = score(view.model, view.sentence, tokens)
    rows = []
    for place, label in enumerate(labels(view.model, tokens)):
        row = {
            "position": place,
            "token": label,
            "id": tokens[place],
            "log_prob": scored.token_log_probs[place],
            "probability": exp(scored.token_log_probs[place]),
            "entropy_nats": scored.entropies[place],
            "given": place < len(view.record.prefix),
        }
        pairs = zip(scored.alternatives[place], scored.alternative_log_probs[place], strict=True)
        for rank, (piece, log_prob) in enumerate(pairs, 1):
            row |= {f"alternative_{rank}": view.name(piece), f"alternative_{rank}_log_prob": log_prob}
        rows.append(row)
    return rows


def hypothesis_rows(view: View) -> Rows:
    """What the search found, best score first."""
    return [
        {
            "rank": rank,
            "text": text(view.model, hypothesis.tokens),
            "ids": " ".join(map(str, hypothesis.tokens)),
            "tokens": len(hypothesis.tokens),
            "log_prob": hypothesis.log_prob,
            "length_penalty": view.record.penalty(hypothesis),
            "score": hypothesis.score,
        }
        for rank, hypothesis in enumerate(view.record.found, 1)
    ]


def step_rows(view: View) -> Rows:
    """All that the search kept."""
    return [
        {
            "position": step.position,
            "place": place,
            "parent": beam.parent,
            "token": view.name(beam.tokens[-1]),
            "id": beam.tokens[-1],
            "token_log_prob": beam.token_log_probs[-1],
            "log_prob": beam.log_prob,
            "score": beam.log_prob / length_penalty(len(beam.tokens), view.record.alpha),
            "ended": beam.ended,
            "text": text(view.model, beam.tokens),
        }
        for step in view.record.steps
        for place, beam in enumerate(step.beams)
    ]
