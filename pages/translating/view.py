"""The row of controls, and what they make the page show: a search, one of its hypotheses, or a typed target."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.translating import forced
from pages.translating.state import Ids, labels, search, target_trace, typed_ids
from transformer.analysis.trace import Trace
from transformer.decoding.hypothesis import Hypothesis
from ui.captions import translation_line
from ui.markdown import plain
from ui.sidebar import Request
from ui.state import load

if TYPE_CHECKING:
    from streamlit.elements.lib.mutable_popover_container import PopoverContainer

    from transformer.decoding.record import Record

WIDEST_BEAM, LONGEST_PREFIX = 10, 1_000


@dataclass(frozen=True)
class View:
    """What the page shows."""

    request: Request
    record: "Record"
    chosen: int
    """The opened hypothesis, counted from 0, best score first."""
    typed: Ids | None
    """The target in the sidebar, with its end; None where it is empty or cannot be taken."""

    @property
    def model(self) -> str:
        return self.request.model

    @property
    def sentence(self) -> str:
        return self.request.sentence

    @property
    def hypothesis(self) -> Hypothesis:
        return self.record.found[self.chosen]

    @property
    def read(self) -> Ids:
        """What alignment and deletion are about: the typed target, else the opened hypothesis."""
        return self.hypothesis.tokens if self.typed is None else self.typed

    @property
    def read_name(self) -> str:
        return self.hypothesis_name if self.typed is None else "the typed target"

    @property
    def hypothesis_name(self) -> str:
        """In a sentence."""
        return "the model's translation" if self.chosen == 0 else f"hypothesis {self.chosen + 1}"

    @property
    def trace(self) -> Trace:
        """Of what alignment and deletion are about."""
        return target_trace(self.model, self.sentence, self.read, self.typed is None)

    def name(self, piece: int) -> str:
        """The label of a piece that stands alone."""
        return labels(self.model, (piece,))[0]


def controls(request: Request) -> tuple[View, "PopoverContainer"]:
    """Draw the controls, at their end the popover for what can be taken away, still empty, and the translation.

    Raises ValueError, in one sentence, for what the model cannot take."""
    checkpoint = load(request.model)
    config = checkpoint.config.model
    longest = config.max_length - 1 if config.positions == "learned" else LONGEST_PREFIX
    prefix = forced.forced_prefix(request, len(checkpoint.tokenizer), longest)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="controls"):
        beam = st.slider(
            "Beam size (1 is greedy)", 1, WIDEST_BEAM, 4, key="beam", bind="query-params", width=190,
            help="How many hypotheses are kept at each step.",
        )  # fmt: skip
        alpha = st.slider(
            "Length penalty α", 0.0, 2.0, 0.6, 0.1, key="alpha", bind="query-params", width=190,
            help="The exponent of the length penalty: 0 ranks by log-probability alone, more favours longer targets.",
        )  # fmt: skip
        with st.spinner(f"{request.model} is translating …"):
            record = search(request.model, request.sentence, beam, alpha, prefix)
        numbers = [str(place + 1) for place in range(len(record.found))]
        chosen = st.selectbox(
            "Hypothesis", numbers, key="hypothesis", bind="query-params", width=96, help="1 has the best score."
        )
        st.button("Undo", on_click=forced.undo, disabled=not forced.can_undo(), icon=":material/undo:", key="undo")
        st.button("Start over", on_click=forced.start_over, disabled=not prefix, key="start_over")
        take = st.popover("Take it with you", width="content", key="take", on_change="rerun")
    view = View(request, record, int(chosen) - 1, _typed(request))
    _headline(view)
    return view, take


def _typed(request: Request) -> Ids | None:
    if request.target is None:
        return None
    try:
        return typed_ids(request.model, request.target)
    except ValueError as error:
        st.warning(plain(error))
        return None


def _headline(view: View) -> None:
    trace = target_trace(view.model, view.sentence, view.hypothesis.tokens, True)
    st.html(translation_line(trace.translation, view.model))
    if view.record.prefix:
        st.caption(f"You gave the first {len(view.record.prefix)} tokens; the rest was decoded from there.")
