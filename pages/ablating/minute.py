"""Tasks of a minute: what a few switches do where the right answer is known, trained by anyone while they watch."""

from collections.abc import Sequence

import streamlit as st

from transformer.ablations.results import MinuteResult, find_minute, read_minute
from ui.ablation_figures import distance_figure
from ui.markdown import plain

NAMES = {
    "recall-full": "full attention",
    "recall-window": "window of 7",
    "recall-convolution": "convolution of 7",
    "recall-gru": "GRU",
    "recall-additive": "additive scores",
    "recall-qk-norm": "QK-norm",
    "reverse-masked": "with the causal mask",
    "reverse-forgotten": "the causal mask forgotten",
    "two-places-h1": "one head",
    "two-places-h2": "two heads",
}
CHART = {"displaylogo": False}
LEARNED = 0.99
"""Of whole answers, from which a task counts as learned."""


def minute() -> None:
    """What was measured, or how to measure it."""
    path = find_minute()
    if path is None:
        st.info(
            "Nothing has been measured here yet: `roundtable ablate minute` trains these small models, three seeds "
            "each, and writes what this page shows. Each takes about a minute on one core."
        )
        return
    try:
        results = read_minute(path)
    except ValueError as error:
        st.warning(plain(error))
        return
    of = {task: [one for one in results if one.task == task] for task in ("recall", "reverse", "two-places")}
    if of["recall"]:
        st.subheader("Telephone or round table", anchor=False)
        st.markdown(
            "One letter of fifty is a capital; the model is to say which. The decoder sees only the last place of the "
            "encoder, so the letter has to get there. **Full attention takes one step from anywhere; a window or a "
            "convolution reaches a few places a layer; recurrent units hand it on place by place.**"
        )
        st.plotly_chart(
            distance_figure(of["recall"], NAMES), key="recall", config=CHART, alt="Letters recalled by distance."
        )
        st.markdown(_farthest(of["recall"]))
    left, right = st.columns(2, gap="large")
    if of["reverse"]:
        left.subheader("The mask forgotten", anchor=False)
        left.markdown(
            "Reversing letters. Without the causal mask the decoder is shown, while it trains, the letter that it is "
            "to write: its loss is perfect, and alone it writes nonsense."
        )
        left.dataframe(_frame(of["reverse"]), hide_index=True, column_config=_formats())
    if of["two-places"]:
        right.subheader("Two places at once", anchor=False)
        right.markdown(
            "Each letter written depends on two letters read, and one layer of cross-attention alone can see them. "
            "The paper says that with a single head “averaging inhibits this” (§3.2.2)."
        )
        right.dataframe(_frame(of["two-places"]), hide_index=True, column_config=_formats())
        right.markdown(_single_head(of["two-places"]))
    if results:
        first = results[0]
        st.caption(
            f"Means over {len({one.seed for one in results})} seeds, bars from the worst to the best; {first.device}; "
            f"`{first.version}`. Strings that were not trained on. `roundtable ablate minute` trains them all again."
        )


def _farthest(results: Sequence[MinuteResult]) -> str:
    """What is left at the farthest distance, where lines of the plot may lie on each other."""
    far = max((one.distance or 0 for one in results), default=0)
    said = []
    for name in dict.fromkeys(one.name for one in results):
        mean = _mean([one.generated for one in results if one.name == name and one.distance == far])
        said.append(f"{NAMES.get(name, name)}: {'diverged' if mean is None else f'{mean:.0%}'}")
    return f"From {far} places away: {', '.join(said)}."


def _single_head(results: Sequence[MinuteResult]) -> str:
    """How many seeds have learned the task, and what that says of a single head."""
    learned = [one.name for one in results if (one.generated or 0) >= LEARNED]
    counts = [
        f"{NAMES[name]} {learned.count(name)} of {sum(one.name == name for one in results)} seeds"
        for name in dict.fromkeys(one.name for one in results)
    ]
    answer = (
        "**One head can do it**; that training does not always find out how is another matter."
        if "two-places-h1" in learned
        else "No seed has learned it with one head."
    )
    return f"With {LEARNED:.0%} of whole answers right, alone: {', '.join(counts)}. {answer}"


def _frame(results: Sequence[MinuteResult]):
    """A row a model: what it scores when it is given the right letters, and when it writes alone."""
    import pandas as pd

    rows = []
    for name in dict.fromkeys(one.name for one in results):
        own = [one for one in results if one.name == name]
        alone = [one.generated for one in own if one.generated is not None]
        rows.append(
            {
                "model": NAMES.get(name, name),
                "loss given the right letters": _mean([one.nll for one in own]),
                "tokens right, given them": _mean([one.accuracy for one in own]),
                "whole answers right, alone": _mean(alone),
                "worst seed": min(alone, default=None),
                "best seed": max(alone, default=None),
            }
        )
    return pd.DataFrame(rows)


def _formats() -> dict:
    shares = ("tokens right, given them", "whole answers right, alone", "worst seed", "best seed")
    return {
        "loss given the right letters": st.column_config.NumberColumn(format="%.3f nats"),
        **{name: st.column_config.NumberColumn(format="percent") for name in shares},
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
