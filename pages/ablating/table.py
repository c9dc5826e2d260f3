"""Our own Table 3 beside the paper's: what holds at this scale, what does not, and what cannot be told."""

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from transformer.ablations.results import Result, find_results, read_results
from transformer.ablations.variants import GROUPS, VARIANTS
from transformer.ablations.verdicts import SAYS, VERDICTS, Comparison, Metric, comparisons, tally
from ui.ablation_figures import cost_figure, curve_figure, dot_figure

CHART = {"displaylogo": False}
METRICS: tuple[Metric, ...] = ("perplexity", "bleu")
NAMES = {"perplexity": "perplexity", "bleu": "BLEU"}
LOOKS = ("Differences", "Curves", "Cost")
_MOST_CURVES = 6


def table() -> None:
    """What was measured, or how to measure it."""
    path = find_results()
    if path is None:
        st.info(
            "Nothing has been measured here yet: `roundtable ablate table3-small` trains a base and its variants, one "
            "after the other, and writes what this page shows. It can be stopped and started again."
        )
        return
    try:
        results = read_results(path)
    except ValueError as error:
        st.warning(str(error))
        return
    found: dict[Metric, list[Comparison]] = {metric: comparisons(results, metric) for metric in METRICS}
    if not found["perplexity"]:
        st.info("The table has no base yet, or nothing beside it: `roundtable ablate table3-small` goes on.")
        return
    st.markdown(_summary(found))
    look = st.segmented_control(
        "Look at", LOOKS, default=LOOKS[0], required=True, key="look", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    if look == "Curves":
        _curves(results)
    elif look == "Cost":
        _cost(results)
    else:
        st.caption("Each row against the base: the dot is ours, the diamond the paper’s, the band what a seed makes.")
        st.plotly_chart(
            dot_figure(found), key="ablation_dots", config=CHART,
            alt="Differences from the base of every variant, ours and the paper's.",
        )  # fmt: skip
        _numbers(results, found)
    st.caption(_small_print(results))


def _summary(found: dict[Metric, list[Comparison]]) -> str:
    """How many findings hold, by each metric, and which do not."""
    sentences = []
    for metric, all_of_them in found.items():
        counts = tally(all_of_them)
        said = ", ".join(f"**{counts[verdict]}** {_VERB[verdict]}" for verdict in VERDICTS)
        n = sum(counts.values())
        sentences.append(f"Of {n} finding{'s' * (n != 1)} of the paper, by {NAMES[metric]}: {said}.")
    against = [one for one in found["perplexity"] if one.verdict == "does not hold"]
    if against:
        sentences.append("By perplexity these turn round: " + ", ".join(f"`{one.name}`" for one in against) + ".")
    return " ".join(sentences)


_VERB = {"holds": "hold here", "does not hold": "do not", "cannot tell": "cannot be told"}


def _numbers(results: Sequence[Result], found: dict[Metric, list[Comparison]]) -> None:
    """The same as a table, with what was measured."""
    import pandas as pd

    by_bleu = {one.name: one for one in found["bleu"]}
    first = {one.name: one for one in reversed(results)}
    rows = []
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
    formats: dict[str, Any] = {
        name: st.column_config.NumberColumn(format=how)
        for names, how in (
            (("perplexity",), "%.2f"), (("Δ ours", "Δ paper"), "%+.2f"), (("BLEU", "chrF"), "%.1f"),
            (("Δ BLEU ours", "Δ BLEU paper"), "%+.1f"), (("parameters", "tokens/s"), "localized"),
        )
        for name in names
    }  # fmt: skip
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=formats, height="content", placeholder="–")
    for name, (against, words) in SAYS.items():
        if any(one.name == name for one in found["perplexity"]):
            st.caption(f"`{name}` is measured against `{against}`. {words}.")


def _verdict(one: Comparison) -> str:
    if one.ours is None:
        return "diverged" if one.verdict is None else f"diverged: {one.verdict}"
    if one.verdict is not None:
        return one.verdict
    return "the paper has no number" if one.exceeds_spread else "not distinguishable"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _curves(results: Sequence[Result]) -> None:
    """Training of a few models over each other."""
    from transformer.folders import CheckpointError, find_checkpoint, runs_folder
    from transformer.training.metrics import read_metrics

    names = [f"{one.name}, seed {one.seed}" for one in results]
    folders = {name: one.checkpoint for name, one in zip(names, results, strict=True)}
    preset = [name for name in names if name.startswith("base,")][:1] + names[-2:]
    chosen = st.multiselect(
        "Models", names, default=list(dict.fromkeys(preset)), max_selections=_MOST_CURVES, key="curves_of",
        bind="query-params",
    )  # fmt: skip
    curves = {}
    for name in chosen:
        folder = runs_folder() / folders[name]
        if not folder.is_dir():
            try:
                folder = find_checkpoint(folders[name])
            except CheckpointError:
                continue
        lines = [line for line in read_metrics(folder) if "validation_nll" in line]
        if lines:
            curves[name] = [line["step"] for line in lines], [line["validation_nll"] for line in lines]
    gone = [name for name in chosen if name not in curves]
    if curves:
        st.plotly_chart(
            curve_figure(curves), key="ablation_curves", config=CHART, alt="Validation loss over training steps."
        )
    if gone:
        st.caption(f"There is no curve here of {'; '.join(gone)}: it lies where the model was trained.")
    if not chosen:
        st.info("Choose one to six models.")


def _cost(results: Sequence[Result]) -> None:
    left, right = st.columns(2, gap="medium")
    left.plotly_chart(
        cost_figure(results, "parameters"), key="cost_parameters", config=CHART, alt="Perplexity over parameters."
    )
    right.plotly_chart(
        cost_figure(results, "tokens_per_second"), key="cost_speed", config=CHART, alt="Perplexity over speed."
    )
    st.caption("Rows: " + "; ".join(f"**{letter}** {meaning}" for letter, meaning in GROUPS.items()) + ".")


def _small_print(results: Sequence[Result]) -> str:
    """Budgets, seeds, what is missing: what a number needs beside it."""
    tokens = sorted({one.target_tokens for one in results if one.diverged_at is None})
    said = []
    if tokens:
        seen = " to ".join(dict.fromkeys(f"{n / 1e6:.1f}" for n in (tokens[0], tokens[-1])))
        said.append(
            f"Every model has seen {seen} million target tokens of Tatoeba, cut by one tokenizer; with the same seed, "
            "in the same order."
        )
    seeds = sorted({one.seed for one in results if one.name == "base"})
    said.append(
        f"The base has {len(seeds)} seed{'s' * (len(seeds) != 1)}, every other row one; the grey band reaches as far "
        "as the base’s best seed lies from its worst, and what lies inside is called not distinguishable."
    )
    said.append(
        "Beam 4, α = 0.6, last weights. Perplexities are of different texts and pieces than the paper’s: compare "
        "differences, not values. A paper’s gap within its own rounding counts as cannot tell."
    )
    missing = [variant.name for variant in VARIANTS.values() if all(one.name != variant.name for one in results)]
    if missing:
        said.append(f"Not trained yet: {', '.join(missing)}.")
    said.append(f"BLEU signature: `{next((one.bleu_signature for one in results if one.bleu_signature), 'none')}`.")
    return " ".join(said)
