"""Past the training length: do sinusoids extrapolate, as the paper hopes (§3.5)? The numbers of our own models."""

from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from pages.encodings.views import CHART, Given
from transformer.ablations.extrapolation import KEEPS, LEARNED, REFERENCE, Kept, kept
from transformer.ablations.summary import Spread, reach
from transformer.ablations.table import Row, find_table, read_rows
from ui.encoding_theme import ENCODING_NAMES
from ui.length_figure import length_figure
from ui.markdown import plain

TASKS = {
    "copy letters": "copy",
    "reverse letters": "reverse",
    "letter 3 back": "shift-3",
    "translate, ≤ 8 words": "short",
    "translate, all lengths": "tatoeba",
}
METRICS = {"tokens right": "accuracy", "wholly right": "whole", "perplexity": "perplexity"}
UNFAIR = (
    "RoPE and ALiBi put no position into cross-attention, where this task is solved: it is **unfair to them**, and so "
    "says nothing of how far they reach."
)


def lengths() -> Given | None:
    """What was measured, or how to measure it."""
    path = find_table()
    if path is None:
        st.info(
            "Nothing has been measured here yet: `roundtable ablate positions` trains the five encodings on short "
            "texts, three seeds each, tests them on longer ones, and writes what this page shows. It can be stopped "
            "and started again."
        )
        return None
    try:
        rows = read_rows(path)
    except ValueError as error:
        st.warning(plain(error))
        return None
    with st.container(horizontal=True, gap="medium"):
        task = _switch("Task", tuple(TASKS), "task")
        measured_by = _switch("Measured by", tuple(METRICS), "measured_by")
    part, metric = TASKS[task], METRICS[measured_by]
    st.markdown(
        "The paper chose sinusoids because they “may allow the model to extrapolate to sequence lengths longer than "
        f"the ones encountered during training” (§3.5), and did not test it. **Do ours?** {_answers(rows)}"
    )
    own = [row for row in rows if row.part == part]
    if not own:
        st.info(
            f"“{task}” is not measured yet: `roundtable ablate positions --parts {part}` trains and tests it. "
            + (UNFAIR if part == "reverse" else "")
        )
        return None
    found = kept(rows, part, "sinusoidal")
    st.markdown(_verdict(own, found))
    st.plotly_chart(length_figure(own, metric), key="lengths", alt=f"{measured_by} by length.", config=CHART)
    st.markdown(_table(rows, part, metric))
    st.caption(_small_print(part, own, found))
    return Given(
        f"lengths-{part}",
        {"task": task, "part": part},
        {"scores by length": lambda: [asdict(row) for row in own]},
        "from transformer.ablations.extrapolation import kept\n"
        "from transformer.ablations.summary import reach\n"
        "from transformer.ablations.table import find_table, read_rows\n\n"
        "rows = read_rows(find_table())\n"
        f"reach(rows, {part!r}, {metric!r})  # within the trained lengths, and beyond\n"
        f"kept(rows, {part!r}, 'sinusoidal')  # do they reach on?",
    )


def _switch(label: str, options: Sequence[str], key: str) -> str:
    chosen = st.segmented_control(label, options, default=options[0], required=True, key=key, bind="query-params")
    return chosen or options[0]


def _answers(rows: Sequence[Row]) -> str:
    """Of sinusoids, for each task that trains on short texts alone."""
    answers = [(task, kept(rows, part, "sinusoidal")) for task, part in TASKS.items()]
    said = "; ".join(f"{task.partition(',')[0]}: **{_answer(one)}**" for task, one in answers if one is not None)
    return said[:1].upper() + said[1:] + "."


def _answer(found: Kept) -> str:
    if found.answer in ("yes", "no", "seeds differ", "cannot tell"):
        return f"{found.answer} ({found.n_kept} of {found.n_seeds} seed{'s' * (found.n_seeds != 1)})"
    return {"stops": "they stop", "not learned": "task not learned", "no reference": "cannot tell yet"}.get(
        found.answer, found.answer
    )


def _verdict(own: Sequence[Row], found: Kept | None) -> str:
    """What the numbers of one task say of sinusoids, whatever the figure is measured by."""
    trained_to, unit = own[0].trained_to, own[0].unit
    if found is None:
        return f"Trained on every length, up to {trained_to} {unit}: nothing here is beyond, and longer is harder."
    sinusoidal = reach(own, own[0].part, "accuracy").get("sinusoidal")
    if sinusoidal is None or sinusoidal.within is None or sinusoidal.beyond is None:
        return f"Sinusoids, trained on up to {trained_to} {unit}: {_answer(found)}."
    tokens = "letters" if unit == "letters" else "tokens"
    within, beyond = (_range(spread, "accuracy") for spread in (sinusoidal.within, sinusoidal.beyond))
    said = {
        "yes": "**do reach on**", "no": "**do not reach on**", "seeds differ": "**reach on in some seeds**",
    }.get(found.answer, f"give no answer here ({_answer(found)})")  # fmt: skip
    reference = f", where one trained on all lengths keeps {found.expected:.0%}" if found.expected != 1 else ""
    if found.margin:
        reference += f"; chance alone makes up to {found.margin:.1%}"
    return (
        f"Sinusoids {said}: trained on up to {trained_to} {unit}, they get {within} of {tokens} right there, and "
        f"{beyond} beyond; a model keeps {found.share:.0%} of what it gets right{reference}."
    )


def _table(rows: Sequence[Row], part: str, metric: str) -> str:
    """Every encoding within the trained lengths and beyond, as Markdown."""
    own = [row for row in rows if row.part == part]
    trained_to, unit = own[0].trained_to, own[0].unit
    kept_of = (
        "keeps, of tokens right" if part not in REFERENCE else "keeps, of tokens right (if trained on all lengths)"
    )
    lines = [f"| | up to {trained_to} {unit} | longer | {kept_of} | reaches on? | seeds |", "|:--|:--|:--|:--|:--|:--|"]
    for encoding, found in reach(rows, part, metric).items():
        one = kept(rows, part, encoding)
        longer = [row for row in own if row.encoding == encoding and row.shortest > trained_to]
        unread, pairs = sum(row.n_too_long for row in longer), sum(row.n_pairs + row.n_too_long for row in longer)
        beyond = _range(found.beyond, metric) if found.beyond else "cannot be read" if unread else "–"
        if found.beyond and unread:
            beyond += f"; {unread / pairs:.1%} cannot be read"
        n_seeds = len({row.seed for row in own if row.encoding == encoding})
        answer, keeps = ("–", "–") if one is None else (_answer(one), f"{one.share:.0%}" if one.share else "–")
        if one is not None and one.expected != 1:
            keeps += f" ({one.expected:.0%})"
        cells = (ENCODING_NAMES[encoding], _range(found.within, metric), beyond, keeps, answer, str(n_seeds))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _range(spread: Spread | None, metric: str) -> str:
    """A mean, with the range over seeds where there are several."""
    if spread is None:
        return "–"
    mean, lowest, highest = (_value(value, metric) for value in (spread.mean, spread.lowest, spread.highest))
    return mean if spread.n_seeds == 1 or lowest == highest else f"{mean} ({lowest} to {highest})"


def _value(value: float, metric: str) -> str:
    if metric == "perplexity":
        return f"{value:.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value:.1%}" if 0 < value < 0.0995 or 0.9895 <= value < 0.9995 else f"{value:.0%}"


def _small_print(part: str, rows: Sequence[Row], found: Kept | None) -> str:
    counts = {(row.shortest, row.longest): row.n_pairs + row.n_too_long for row in rows}
    pairs = ", ".join(f"{low}–{high}: {count:,}" for (low, high), count in counts.items())
    said = [
        f"Means over seeds, in brackets from the lowest to the highest. Test pairs by {rows[0].unit}: {pairs}. "
        f"{rows[0].steps:,} steps, {rows[0].target_tokens / 1e6:.1f} million target tokens each; the decoder reads the "
        "right target at every step."
    ]
    if found is not None:
        said.append(
            "Longer sentences are harder for any model. Reaches on: no, where the models keep less of their share of "
            "tokens right than one of the same encoding that was trained on all lengths (one seed, pieces of its own); "
            "yes, where they keep more; cannot tell, where 19 of 20 such differences between seeds are as large."
            if part in REFERENCE
            else f"Reaches on: every seed’s model keeps {KEEPS:.0%} of its share of letters right beyond the trained "
            f"lengths; one that gets fewer than {LEARNED:.0%} right within them has not learned the task."
        )
    if part in ("copy", "reverse"):
        said.append(UNFAIR.replace("**", ""))
    if part == "shift-3":
        said.append(
            "The decoder’s self-attention alone can solve it, and a guess among the last three letters is right one "
            "time in three. Tokens right count from the fourth letter on; the first three, which strings wholly right "
            "need too, are copied by cross-attention."
        )
    if any(row.n_too_long for row in rows):
        said.append(
            "A learned table has as many rows as the longest text trained on: what is longer cannot be read at all."
        )
    return " ".join(said)
