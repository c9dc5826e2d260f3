"""What the files of the page say of themselves, and its tables and arrays."""

from math import exp
from typing import Any

import numpy as np

from pages.translating.state import labels, score, text
from pages.translating.view import View
from transformer.analysis.trace import Trace
from transformer.decoding.hypothesis import length_penalty
from transformer.export.about import About
from transformer.export.tables import Rows


def about_of(view: View, trace: Trace) -> About:
    """Where the files of a tab come from: the trace that it shows, and how its target was found."""
    record = view.record
    found = f"beam {record.beam}, α {record.alpha:g}, {view.hypothesis_name}"
    given = f", first {len(record.prefix)} tokens given" if record.prefix else ""
    return About.of(trace, f"{found}{given}" if trace.translation.generated else "typed target")


def facts_of(view: View, about: About) -> dict[str, Any]:
    """The same for a machine, with what the search was asked for."""
    record = view.record
    asked = {"beam": record.beam, "alpha": record.alpha, "prefix": list(record.prefix), "hypothesis": view.chosen + 1}
    return about.facts() | asked


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


def search_arrays(view: View) -> dict[str, Any]:
    """The opened hypothesis token by token, and the hypotheses that were found, best score first."""
    tokens, found = view.hypothesis.tokens, view.record.found
    scored = score(view.model, view.sentence, tokens)
    return {
        "tokens": labels(view.model, tokens),
        "ids": np.array(tokens),
        "log_probs": np.array(scored.token_log_probs),
        "entropies": np.array(scored.entropies),
        "alternatives": np.array(scored.alternatives),
        "alternative_log_probs": np.array(scored.alternative_log_probs),
        "hypotheses": [text(view.model, hypothesis.tokens) for hypothesis in found],
        "hypothesis_log_probs": np.array([hypothesis.log_prob for hypothesis in found]),
        "hypothesis_scores": np.array([hypothesis.score for hypothesis in found]),
    }
