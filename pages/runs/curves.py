"""Curves of the chosen runs over each other: loss, perplexity, and what else a run logs, live."""

from collections.abc import Mapping

import streamlit as st

from ui.run_metrics import by_tokenizer, lines_of
from ui.run_theme import RUN_COLOURS
from ui.training_figures import Curve, Lines, Points, curves_chart, perplexity, points_of, smooth

EVERY = 1.0
"""Seconds between two looks at the files."""
LOSS = "nats per target token"
MORE = (
    ("Objective, with label smoothing", LOSS, "smoothed"),
    ("Learning rate", "", "lr"),
    ("Gradient norm", "", "grad_norm"),
    ("Speed", "target tokens/s", "tokens_per_second"),
)
"""Title, unit and field of metrics.jsonl of the small charts."""


def curves(names: list[str], live: bool) -> None:
    share = st.slider(
        "Smoothing", 0.0, 0.99, 0.0, 0.01, key="smoothing", bind="query-params", width=260,
        help="Of training curves: the share that earlier values keep. The curve itself stays behind it, faint.",
    )  # fmt: skip
    st.fragment(_charts, run_every=EVERY if live else None)(names, share)


def _charts(names: list[str], share: float) -> None:
    lines = {name: lines_of(name) for name in names}
    colours = dict(zip(names, RUN_COLOURS, strict=False))
    if not any(lines.values()):
        st.info("Nothing is logged yet: the first points come after a few steps.")
        return
    groups = by_tokenizer(names)
    for number, group in enumerate(groups):
        of = f" of {', '.join(group)}" if len(groups) > 1 else ""
        lines_are = "solid: training, dashed: validation"
        left, right = st.columns((3, 2), gap="medium")
        loss, perplexities = _losses(group, lines, colours, share)
        alt = f"Training and validation loss{of} over steps."
        with left:
            _chart(curves_chart(f"Loss{of}", f"{LOSS}; {lines_are}", loss), 340, f"loss_{number}", alt)
        with right:
            alt = f"Training and validation perplexity{of} over steps."
            option = curves_chart(f"Perplexity{of}", f"e to the loss; {lines_are}", perplexities, log=True)
            _chart(option, 340, f"perplexity_{number}", alt)
    if len(groups) > 1:
        st.caption(
            "A loss counts by the token, and these runs cut text into different tokens: their losses and perplexities "
            "cannot be compared, so each tokenizer has axes of its own."
        )
    for column, (title, unit, field) in zip(st.columns(len(MORE), gap="medium"), MORE, strict=True):
        drawn = [
            curve
            for name in names
            for curve in _smoothed(name, colours[name], points_of(lines[name], field), share if field != "lr" else 0)
        ]
        with column:
            _chart(curves_chart(title, unit, drawn), 230, field, f"{title} over steps.")


def _losses(
    group: list[str], lines: Mapping[str, Lines], colours: Mapping[str, str], share: float
) -> tuple[list[Curve], list[Curve]]:
    """Loss and perplexity of training and validation, all without label smoothing."""
    loss: list[Curve] = []
    perplexities: list[Curve] = []
    for name in group:
        for curves, change in ((loss, float), (perplexities, perplexity)):
            training = points_of(lines[name], "nll", change)
            validation = points_of(lines[name], "validation_nll", change)
            curves += _smoothed(_label(name, "training", group), colours[name], training, share)
            curves.append(Curve(_label(name, "validation", group), colours[name], validation, dashed=True, dots=True))
    return loss, perplexities


def _label(name: str, which: str, group: list[str]) -> str:
    return which if len(group) == 1 else f"{name}, {which}"


def _smoothed(name: str, colour: str, points: Points, share: float) -> list[Curve]:
    curve = Curve(name, colour, smooth(points, share))
    return [Curve(name, colour, points, faint=True), curve] if share else [curve]


def _chart(option: dict, height: int, key: str, alt: str) -> None:
    st.echarts_chart(option, height=height, key=f"chart_{key}", alt=alt)
