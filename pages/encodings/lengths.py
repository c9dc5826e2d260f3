"""Past the training length: do sinusoids extrapolate, as the paper hopes (§3.5)? The numbers of our own models."""

from collections.abc import Sequence

import streamlit as st

from pages.encodings.views import CHART
from transformer.ablations.summary import Reach, Spread, reach
from transformer.ablations.table import Row, find_table, read_rows
from ui.encoding_theme import ENCODING_NAMES
from ui.length_figure import length_figure

PART_NAMES = {
    "copy": "copy letters",
    "reverse": "reverse letters",
    "shift-3": "repeat the letter 3 back",
    "short": "translate: at most 8 words",
    "tatoeba": "translate: all lengths",
}
METRICS = {"accuracy": "tokens right", "whole": "wholly right", "perplexity": "perplexity"}


def lengths() -> None:
    """What was measured, or how to measure it."""
    path = find_table()
    if path is None:
        st.info(
            "Nothing has been measured here yet: `roundtable ablate positions` trains the five encodings on short "
            "texts, three seeds each, tests them on longer ones, and writes what this page shows. It can be stopped "
            "and started again."
        )
        return
    try:
        rows = read_rows(path)
    except ValueError as error:
        st.warning(str(error))
        return
    available = [part for part in PART_NAMES if any(row.part == part for row in rows)]
    if not available:
        st.info(f"{path} has no rows yet.")
        return
    first, second = st.columns(2, gap="medium")
    part = (
        first.segmented_control(
            "Task",
            available,
            default=available[0],
            required=True,
            key="task",
            format_func=PART_NAMES.__getitem__,
            bind="query-params",
        )
        or available[0]
    )
    metric = (
        second.segmented_control(
            "Measured by",
            tuple(METRICS),
            default="accuracy",
            required=True,
            key="measured_by",
            format_func=METRICS.__getitem__,
            bind="query-params",
        )
        or "accuracy"
    )
    own = [row for row in rows if row.part == part]
    st.markdown(_verdict(reach(rows, part, metric), metric, own))
    st.plotly_chart(length_figure(own, metric), key="lengths", alt=f"{METRICS[metric]} by length.", config=CHART)
    st.caption(_small_print(part, own))


def _verdict(found: dict[str, Reach], metric: str, rows: Sequence[Row]) -> str:
    """What the numbers answer to the paper's expectation that sinusoids extrapolate (§3.5)."""
    trained_to, unit = rows[0].trained_to, rows[0].unit
    within = {name: one.within for name, one in found.items() if one.within is not None}
    if not any(row.shortest > trained_to for row in rows):
        values = ", ".join(f"{ENCODING_NAMES[name]} {_value(one.mean, metric)}" for name, one in within.items())
        return f"Trained on every length, up to {trained_to} {unit}: {values}."
    sentences = []
    sinusoidal = found.get("sinusoidal", Reach(None, None))
    if sinusoidal.within is not None and sinusoidal.beyond is not None:
        before, after = sinusoidal.within.mean, sinusoidal.beyond.mean
        keeps = after <= 1.1 * before if metric == "perplexity" else after >= 0.9 * before
        answer = "do extrapolate here" if keeps else "**do not extrapolate here**"
        sentences.append(
            "The paper hoped that sinusoids might reach further than training (§3.5) and did not test it. They "
            f"{answer}: {_value(before, metric)} up to {trained_to} {unit}, {_range(sinusoidal.beyond, metric)} beyond."
        )
    others = [
        f"{ENCODING_NAMES[name]} {_value(one.mean, metric)} → {_range(found[name].beyond, metric)}"
        for name, one in within.items()
        if name != "sinusoidal"
    ]
    if others:
        sentences.append("Within → beyond: " + ", ".join(others) + ".")
    return " ".join(sentences)


def _range(spread: Spread | None, metric: str) -> str:
    """A mean, with the range over seeds where there are several; a table that ends has none."""
    if spread is None:
        return "stops"
    mean, lowest, highest = (_value(value, metric) for value in (spread.mean, spread.lowest, spread.highest))
    return mean if spread.n_seeds == 1 else f"{mean} ({lowest} to {highest})"


def _value(value: float, metric: str) -> str:
    return f"{value:.2f}" if metric == "perplexity" else f"{value:.0%}"


def _small_print(part: str, rows: Sequence[Row]) -> str:
    counts = {(row.shortest, row.longest): row.n_pairs + row.n_too_long for row in rows}
    pairs = ", ".join(f"{low}–{high}: {count:,}" for (low, high), count in counts.items())
    seeds = len({row.seed for row in rows})
    said = [
        f"Test pairs by {rows[0].unit}: {pairs}. {seeds} seed{'s' * (seeds > 1)}; bars span from the lowest to the "
        "highest."
    ]
    said.append(
        f"{rows[0].steps:,} steps, {rows[0].target_tokens:,} target tokens each; the decoder reads the right target "
        "at every step."
    )
    if part in ("copy", "reverse"):
        said.append(
            "RoPE and ALiBi put no position into cross-attention, where this task is solved: it is unfair to them."
        )
    if part == "short":
        said.append("Longer sentences are not as hard as short ones for any model: compare the lines with each other.")
    if part == "shift-3":
        said.append("The decoder's self-attention alone can solve it: counted from the fourth letter on.")
    if any(row.n_too_long for row in rows):
        said.append(
            "A learned table has as many rows as the longest text trained on: what is longer cannot be read at all."
        )
    return " ".join(said)
