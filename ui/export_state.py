"""What the files of a view say of themselves, and its report."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from transformer.analysis.attention import Attention, Kind
from transformer.analysis.filters import Filters
from transformer.analysis.trace import KINDS
from transformer.export.about import About
from transformer.export.tables import encoded
from ui.filtered_state import filtered_attention
from ui.sidebar import Request
from ui.state import about, load, trace


def view_about(request: Request, filters: Filters, untrained: bool) -> About:
    """Model, step, sentence, target and filters."""
    return About.of(trace(request.model, request.sentence, request.target, untrained), str(filters))


def described(model: str, untrained: bool) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """What config.json and evaluation.json say of a model; of its untrained twin nothing was measured."""
    if untrained:
        return {**about(model), "weights": "untrained", "step": 0}, {}
    return about(model), load(model).evaluation


def report(request: Request, filters: Filters, kind: Kind, opened: tuple[int, int], untrained: bool) -> bytes:
    """The HTML report of all three kinds through the same filters; the opened head is large.

    A choice of layers is of one kind's layers, so that the other kinds show all of theirs.
    """
    from transformer.export.report import report_html

    whole = trace(request.model, request.sentence, request.target, untrained)
    views: dict[Kind, Attention] = {}
    for each in KINDS:
        chosen = filters if each == kind else replace(filters, layers=())
        views[each] = filtered_attention(request, each, untrained, chosen)
    large: dict[Kind, tuple[int, int]] = {kind: opened}
    said = str(filters) + (f" (layers of {kind} alone)" if filters.layers else "")
    config, evaluation = described(request.model, untrained)
    return encoded(report_html(whole, large, views=views, view=said, config=config, evaluation=evaluation))
