"""Translations side by side: the model's own, the typed target, and a second one, each scored token by token."""

from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from pages.translating.as_code import score_code, show_code
from pages.translating.state import Ids, labels, score, target_trace, text, typed_ids
from pages.translating.view import View
from transformer.export.about import About
from transformer.export.svg_tokens import tokens_svg
from transformer.export.tables import Rows
from ui.taken import Facts, Taken
from ui.translation_scores import score_card, verdict

if TYPE_CHECKING:
    from transformer.decoding.score import TargetScore

TYPED, SECOND = "the typed target", "the second target"


def comparing(view: View) -> Taken:
    said = st.container()
    columns = st.columns(3, gap="medium")
    second = columns[2].text_area(
        "A second target", key="second_target", bind="query-params", height="content",
        placeholder="another translation to compare",
    )  # fmt: skip
    own = "its own translation" if view.chosen == 0 else f"its {view.hypothesis_name}"
    targets: dict[str, Ids] = {own: view.hypothesis.tokens}
    texts = {own: text(view.model, view.hypothesis.tokens)}
    places = {own: columns[0], TYPED: columns[1], SECOND: columns[2]}
    if view.typed is not None:
        targets[TYPED], texts[TYPED] = view.typed, view.request.target or ""
    else:
        columns[1].caption("Type a translation under Target in the sidebar to compare it.")
    if second.strip():
        targets[SECOND], texts[SECOND] = typed_ids(view.model, second), second
    scores = {name: score(view.model, view.sentence, ids) for name, ids in targets.items()}
    for name, ids in targets.items():
        title = f"{view.model}, {view.hypothesis_name}" if name == own else name
        with places[name]:
            st.html(score_card(title, texts[name], labels(view.model, ids), scores[name], view.record.alpha))
    sentences = [*_verdicts(scores), *_missed(view, targets, scores)]
    if len(sentences) > 1:
        sentences = [f"- {sentence}" for sentence in sentences]
    said.markdown("\n".join(sentences) or "Type a second translation, and the two are compared.")
    show_code(score_code(view))
    return taken(view, targets, texts, scores)


def taken(view: View, targets: dict[str, Ids], texts: dict[str, str], scores: dict[str, "TargetScore"]) -> Taken:
    """Each target token by token."""

    def draw(name: str, about: About, facts: Facts) -> str:
        of = replace(about, target=texts[name], view="typed target" if name in (TYPED, SECOND) else about.view)
        said = {**facts, "target": of.target, "view": of.view}
        shown = labels(view.model, targets[name])
        return tokens_svg(scores[name], shown, view.name, f"Token by token: {name}", of, said)

    pictures = {f"tokens of {name}": partial(draw, name) for name in targets}
    tables = {"scores": partial(score_rows, view, targets, scores)}
    trace = target_trace(view.model, view.sentence, view.hypothesis.tokens, True)
    return Taken(trace, "Translations compared", pictures, tables, partial(score_arrays, view, targets, scores))


def _verdicts(scores: dict[str, "TargetScore"]) -> list[str]:
    return [verdict(one, other, scores[one], scores[other]) for one, other in combinations(scores, 2)]


def _missed(view: View, targets: dict[str, Ids], scores: dict[str, "TargetScore"]) -> list[str]:
    """Whether a target that a person typed would have won the search, had it been found."""
    record = view.record
    known, best = {found.tokens for found in record.found}, record.found[0].score
    better = [
        name
        for name, ids in targets.items()
        if ids not in known
        and ids[: len(record.prefix)] == record.prefix
        and scores[name].score(record.alpha) > best + 1e-3
    ]
    if not better:
        return []
    return [f"By score {' and '.join(better)} would have come first: the search did not find it."]


def score_rows(view: View, targets: dict[str, Ids], scores: dict[str, "TargetScore"]) -> Rows:
    """Every token of every target."""
    return [
        {"target": name, "position": place, "token": label, "log_prob": scores[name].token_log_probs[place]}
        for name, ids in targets.items()
        for place, label in enumerate(labels(view.model, ids))
    ]


def score_arrays(view: View, targets: dict[str, Ids], scores: dict[str, "TargetScore"]) -> dict[str, Any]:
    """The names of the targets, and of each, counted from 1, its tokens with their log-probabilities and entropies."""
    arrays: dict[str, Any] = {"targets": list(targets)}
    for place, (name, ids) in enumerate(targets.items(), 1):
        arrays |= {
            f"tokens_{place}": labels(view.model, ids),
            f"log_probs_{place}": np.array(scores[name].token_log_probs),
            f"entropies_{place}": np.array(scores[name].entropies),
        }
    return arrays
