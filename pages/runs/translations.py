"""What a model makes of its probe sentences, from the first step to the last."""

from html import escape

import streamlit as st

from pages.runs.choose import choose_run
from transformer.training.probes import Probe
from transformer.training.runs import Run
from ui.markdown import plain
from ui.probe_state import probes_of

EVERY = 2.0


def translations(runs: list[Run]) -> None:
    run = choose_run(runs)
    st.fragment(_tables, run_every=EVERY if run.live else None)(run.name, run.live)


def _tables(name: str, live: bool) -> None:
    try:
        probes = probes_of(name)
    except ValueError as error:
        st.warning(plain(error))
        return
    if not probes:
        st.info(
            "Nothing is recorded yet: the first translation comes before the first step."
            if live
            else "This run recorded nothing: it was started without a probe sentence, or they were too long."
        )
        return
    for probe in probes:
        st.html(probe_html(probe))
    st.caption("Greedy search, dropout off. Steps with the same translation stand on one line; the newest is on top.")


def probe_html(probe: Probe) -> str:
    """The sentence and, newest first, what the model wrote at which steps; what is right is marked."""
    rows = "".join(_row(first, last, text, probe.target) for first, last, text in reversed(stretches(probe)))
    target = f'<span class="note"> → <bdi>{escape(probe.target)}</bdi></span>' if probe.target is not None else ""
    return (
        f'<div class="probe"><div class="source" dir="auto"><bdi>{escape(probe.source)}</bdi>{target}</div>'
        f"<table><thead><tr><th>step</th><th>the model writes</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def stretches(probe: Probe) -> list[tuple[int, int, str]]:
    """First step, last step and text of each stretch in which the model wrote the same."""
    found: list[tuple[int, int, str]] = []
    for step, text in zip(probe.steps, probe.translations, strict=True):
        if found and found[-1][2] == text:
            found[-1] = (found[-1][0], step, text)
        else:
            found.append((step, step, text))
    return found


def _row(first: int, last: int, text: str, target: str | None) -> str:
    steps = f"{first:,}" if first == last else f"{first:,} – {last:,}"
    right = " ✓" if target is not None and text == target else ""
    return f'<tr><td>{steps}</td><td dir="auto"><bdi>{escape(text) or "(nothing)"}</bdi>{right}</td></tr>'
