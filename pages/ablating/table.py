"""Our own Table 3 beside the paper's: what holds at this scale, what does not, and what cannot be told."""

from collections.abc import Sequence

import streamlit as st

from pages.ablating.curves import curves
from pages.ablating.numbers import numbers
from transformer.ablations.results import NO_TRANSLATION, Result, find_results, read_results
from transformer.ablations.variants import GROUPS
from transformer.ablations.verdicts import (
    VERDICTS,
    Comparison,
    Metric,
    comparisons,
    missing,
    n_models,
    tally,
    turned,
)
from ui.ablation_figures import cost_figure, dot_figure
from ui.markdown import plain

CHART = {"displaylogo": False}
METRICS: tuple[Metric, ...] = ("perplexity", "bleu")
NAMES = {"perplexity": "perplexity", "bleu": "BLEU"}
LOOKS = ("Differences", "Curves", "Cost")


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
        st.warning(plain(error))
        return
    if not results:
        st.info("The table has no row yet: `roundtable ablate table3-small` goes on.")
        return
    found: dict[Metric, list[Comparison]] = {metric: comparisons(results, metric) for metric in METRICS}
    st.markdown(_summary(results, found))
    if left := missing(results):
        st.markdown(_missing(left))
    look = st.segmented_control(
        "Look at", LOOKS, default=LOOKS[0], required=True, key="look", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    if look == "Curves":
        curves(results)
    elif look == "Cost":
        _cost(results)
    else:
        if found["perplexity"]:
            st.caption(
                "Each row against the base, or what the table says it is measured against: the dot is ours, pale where "
                "it is not distinguishable, an arrow where it lies off the scale; the diamond is the paper’s; the band "
                "is what another seed may make."
            )
            st.plotly_chart(
                dot_figure(found), key="ablation_dots", config=CHART,
                alt="Differences from the base of every variant, ours and the paper's.",
            )  # fmt: skip
        numbers(results, found)
    st.caption(_small_print(results, found))


def _summary(results: Sequence[Result], found: dict[Metric, list[Comparison]]) -> str:
    """How many findings hold, by each metric, and which do not; or why nothing can be said yet."""
    if all(one.name != "base" or one.perplexity is None for one in results):
        return "The base is not measured yet, so that nothing can be compared with it."
    if not found["perplexity"]:
        return "The base is measured, and nothing else yet."
    sentences = []
    for metric, all_of_them in found.items():
        counts = tally(all_of_them)
        said = ", ".join(f"{verdict} **{counts[verdict]}**" for verdict in VERDICTS)
        n = sum(counts.values())
        sentences.append(f"Of {n} finding{'s' * (n != 1)} of the paper, by {NAMES[metric]}: {said}.")
    for metric, all_of_them in found.items():
        if against := turned(all_of_them):
            named = ", ".join(f"`{name}`{_holding(again)}" for name, again in against.items())
            sentences.append(f"By {NAMES[metric]} these turn round: {named}.")
    diverged = [one.name for one in found["perplexity"] if one.ours is None]
    if diverged:
        sentences.append(f"Diverged: {', '.join(f'`{name}`' for name in diverged)}.")
    failed = dict.fromkeys(one.name for one in results if one.failed)
    if failed:
        sentences.append(
            f"Trained to the end without learning to translate (BLEU below {NO_TRANSLATION:g}): "
            f"{', '.join(f'`{name}`' for name in failed)}."
        )
    if all(one.margin is None for one in found["perplexity"]):
        sentences.append("With one seed of the base nothing says how much is chance, so that nothing can be told.")
    return " ".join(sentences)


def _holding(names: Sequence[str]) -> str:
    """Where the finding holds that a row before it turns round."""
    return f" (not in {', '.join(f'`{name}`' for name in names)})" if names else ""


def _missing(left: Sequence[str]) -> str:
    n = n_models()
    return (
        f"**{n - len(left)} of {n}** models are measured. `roundtable ablate table3-small` trains those that are "
        f"missing: {', '.join(left)}."
    )


def _cost(results: Sequence[Result]) -> None:
    left, right = st.columns(2, gap="medium")
    left.plotly_chart(
        cost_figure(results, "parameters"), key="cost_parameters", config=CHART, alt="Perplexity over parameters."
    )
    right.plotly_chart(
        cost_figure(results, "tokens_per_second"), key="cost_speed", config=CHART, alt="Perplexity over speed."
    )
    gone = [f"{one.name}, seed {one.seed}" for one in results if not one.learned]
    if gone:
        st.caption(f"Diverged or failed, and so not drawn: {'; '.join(gone)}.")
    st.caption("Rows: " + "; ".join(f"**{letter}** {meaning}" for letter, meaning in GROUPS.items()) + ".")


def _small_print(results: Sequence[Result], found: dict[Metric, list[Comparison]]) -> str:
    """Budgets, seeds, what chance may make: what a number needs beside it."""
    tokens = sorted({one.target_tokens for one in results if one.diverged_at is None})
    said = []
    if tokens:
        seen = " to ".join(dict.fromkeys(f"{n / 1e6:.1f}" for n in (tokens[0], tokens[-1])))
        said.append(
            f"Every model has seen {seen} million target tokens of Tatoeba, cut by one tokenizer; with the same seed, "
            "in the same order."
        )
    seeds = sorted({one.seed for one in results if one.name == "base"})
    said.append(f"The base has {len(seeds)} seed{'s' * (len(seeds) != 1)}, every other row one.")
    if margins := _margins(found):
        said.append(
            f"The grey band, {margins} against the base, is what 19 of 20 further seeds of the base would stay within, "
            "by Student’s t over those it has; what lies inside is called not distinguishable. Of twenty rows that "
            "change nothing, one would still lie outside."
        )
    said.append(
        "Beam 4, α = 0.6, last weights. Perplexities are of different texts and pieces than the paper’s: compare "
        "differences, not values. The paper’s gaps are taken as they stand, since it says nothing of seeds; one within "
        "its own rounding counts as cannot tell."
    )
    said.append(f"BLEU signature: `{next((one.bleu_signature for one in results if one.bleu_signature), 'none')}`.")
    return " ".join(said)


def _margins(found: dict[Metric, list[Comparison]]) -> str:
    """What another seed may make by each metric; empty where the base's seeds do not say."""
    digits = {"perplexity": 2, "bleu": 1}
    against = {metric: next((one.margin for one in all_of_them if one.against == "base"), None)
               for metric, all_of_them in found.items()}  # fmt: skip
    return " and ".join(
        f"±{margin:.{digits[metric]}f} {NAMES[metric]}" for metric, margin in against.items() if margin is not None
    )
