"""The form "Train a model" in the sidebar of every page: what to train on, what to train, for how long, and where."""

from typing import Any

import streamlit as st

from transformer.text.lines import split_lines
from transformer.text.own_files import pairs_of_tsv, split_by_source
from transformer.training import runs
from transformer.training.device import devices
from transformer.training.estimate import Estimate, estimate
from transformer.training.request import MAX_PROBES, RunRequest
from ui.go_to import go_to
from ui.markdown import plain
from ui.run_text import duration
from ui.train_choices import (
    NUMBERS,
    OWN,
    UNITS,
    Answers,
    as_bytes,
    as_count,
    as_probes,
    corpora,
    describe_changes,
    describe_corpus,
    describe_preset,
    first_budget,
    first_preset,
    first_probe,
    label,
    preset_values,
    presets,
    refusal,
    request_of,
    suggested_name,
    word_fields,
)

KEPT: dict[str, Any] = {"persist_state": "session"}


@st.fragment
def train_form(sentence: str, example: str) -> None:
    """Draw the form; what is typed runs this part alone. `sentence` is the sidebar's, `example` one of letters."""
    if st.session_state.pop("train_started", False):
        st.rerun()
    form = st.expander("Train a model", key="train_form", on_change="rerun")
    if not form.open:
        return
    with form:
        answers, upload = _answers(sentence, example)
        try:
            if upload is not None:
                _check_upload(answers.file, upload)
            request = request_of(answers)
            size = estimate(request)
            _show_size(size)
            refused = refusal(size, request.train.keep)
        except ValueError as error:
            # A person at a form knows its fields, not the classes that check them.
            request, refused = None, str(error).removeprefix("ModelConfig.").removeprefix("TrainConfig.")
        if refused:
            st.warning(plain(refused))
        allowed = request is not None and not refused
        # The request that was drawn: a second click, before the page has changed, asks for the same name.
        st.button("Train", key="train", on_click=_start, args=(request, upload), disabled=not allowed, width="stretch")
        failure = st.session_state.pop("train_failure", None)
        if failure is not None:
            st.warning(plain(failure))


def _answers(sentence: str, example: str) -> tuple[Answers, bytes | None]:
    corpus = st.selectbox("Corpus", corpora(), index=corpora().index("reverse-small"), key="train_corpus", **KEPT)
    st.caption(plain(describe_corpus(corpus)))
    file, upload = "", None
    if corpus == OWN:
        given = st.file_uploader("Text", type=["tsv", "txt"], key="train_file", label_visibility="collapsed")
        if given is not None:
            file, upload = given.name, given.getvalue()
    # Every corpus has a preset of its own to start with, and every preset has values of its own: so have the keys.
    preset = st.selectbox(
        "Preset", presets(), index=presets().index(first_preset(corpus)), key=f"train_preset_{corpus}", **KEPT
    )
    st.caption(plain(describe_preset(preset)))
    changes = _changes(preset)
    unit, amount = _budget(preset)
    names = [device.name for device in devices()]
    device = st.selectbox("Device", names, format_func=_describe_device, key="train_device", **KEPT)
    first, second = st.columns((2, 1))
    seed = second.number_input("Seed", 0, 2**31, 1, key="train_seed", **KEPT)
    try:
        stem = file.rpartition(".")[0] or "mine" if corpus == OWN else corpus
        suggestion = suggested_name(stem, preset, changes)
    except OSError:
        suggestion = ""
    name = first.text_input("Name", key="train_name", placeholder=suggestion, max_chars=60, **KEPT)
    otherwise = first_probe(corpus, sentence, example)
    probes = st.text_area(
        "Probe sentences", key="train_probes", placeholder=otherwise, height="content",
        help=f"Their heads are recorded on the way. One a line, at most {MAX_PROBES}; after a tab, the target to read.",
        **KEPT,
    )  # fmt: skip
    answers = Answers(
        corpus=corpus, preset=preset, changes=changes, unit=unit, amount=amount, device=device, seed=int(seed),
        name=name or suggestion, probes=as_probes(probes or "", otherwise), file=file,
    )  # fmt: skip
    return answers, upload


def _changes(preset: str) -> dict[str, Any]:
    """What differs from the preset, asked for in a popover whose label says it."""
    before = preset_values(preset)
    changes: dict[str, Any] = {}
    words = word_fields()
    shown = st.empty()
    with st.popover("What to change", key="train_changes", width="stretch"):
        for name, title in NUMBERS.items():
            changes[name] = _number(title, before[name], f"train_{name}_{preset}")
        for name, choices in words.items():
            chosen = st.selectbox(
                label(name), choices, index=choices.index(before[name]), key=f"train_{name}_{preset}",
                disabled=len(choices) == 1, **KEPT,
            )  # fmt: skip
            changes[name] = chosen
    changes = {name: value for name, value in changes.items() if value != before[name]}
    if changes:
        shown.caption("Changed: " + plain(describe_changes(changes)))
    return changes


def _number(title: str, value: float | None, key: str) -> float | int | None:
    if isinstance(value, float):
        return st.number_input(title, 0.0, 0.99, value, 0.05, key=key, **KEPT)
    empty = "d_model / n_heads" if value is None else None
    return st.number_input(title, 1, 2**20, value, 1, key=key, placeholder=empty, **KEPT)


def _budget(preset: str) -> tuple[str, float]:
    first, amounts = first_budget(preset)
    left, right = st.columns((5, 6), vertical_alignment="bottom", gap="xsmall")
    unit = right.selectbox(
        "Unit", UNITS, index=UNITS.index(first), key=f"train_unit_{preset}", label_visibility="collapsed", **KEPT
    )
    key = f"train_{unit}_{preset}"
    if unit == "steps":
        return unit, left.number_input("Train for", 1, 10**7, int(amounts[unit]), key=key, **KEPT)
    return unit, left.number_input("Train for", 0.1, 10_000.0, amounts[unit], 1.0, "%g", key=key, **KEPT)


def _describe_device(name: str) -> str:
    return next(str(device) for device in devices() if device.name == name)


def _show_size(size: Estimate) -> None:
    time = "as long as its epochs take" if size.seconds is None else f"about {duration(size.seconds)}"
    st.markdown(
        f"**{as_count(size.parameters)}** parameters · about **{as_bytes(size.memory)}** of "
        f"{as_bytes(size.device.memory)} · {time}"
    )


@st.cache_data(max_entries=4, show_spinner="Reading the text …")
def _check_upload(name: str, content: bytes) -> None:
    """Raises CorpusError, which names the line, for a text that is no corpus."""
    split_by_source(pairs_of_tsv(split_lines(content, name), name), name)


def _start(request: RunRequest, upload: bytes | None) -> None:
    try:
        name = runs.start(request, upload)
    except (ValueError, OSError) as error:
        st.session_state.train_failure = str(error)
        return
    st.session_state.runs = [name]
    st.session_state.train_name = ""
    st.session_state.train_form = False  # so that the run is in sight
    st.session_state.train_started = True
    go_to("Training")
