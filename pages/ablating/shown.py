"""What Side by side shows, as one value that every part of it is given."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from transformer.analysis.attention import Attention, Kind
from transformer.analysis.compare import Match, apart_from, partners, ranked
from transformer.export.palette import head_name
from ui.compare_state import Measured, Reading
from ui.sidebar import Request

if TYPE_CHECKING:
    from transformer.checkpoint import CheckpointConfig

Place = tuple[int, int]


@dataclass(frozen=True)
class Shown:
    """Several models on one sentence, with one head open in all of them."""

    request: Request
    models: Mapping[str, str]
    """Name and what it is loaded by, of each that could read the sentence; the sidebar's first."""
    configs: "Mapping[str, CheckpointConfig]"
    kind: Kind
    one_target: bool
    matched: bool
    """Whether a head's partner is the one most alike, and not the one at its place."""
    reading: Reading
    measured: Measured
    opened: tuple[int, Place]
    """The model, by number, in which a head was opened, and (layer, head)."""

    @property
    def names(self) -> tuple[str, ...]:
        return self.reading.names

    @property
    def attentions(self) -> tuple[Attention, ...]:
        return self.measured.aligned.attentions

    @cached_property
    def places(self) -> list[Place | None]:
        """The opened head's partner in each model, None where a model has none."""
        shapes = [(each.pattern.shape[0], each.pattern.shape[1]) for each in self.attentions]
        return partners(self.opened, shapes, self._matches)

    @cached_property
    def apart(self) -> list[np.ndarray | None]:
        """For each model, how far each of the first one's heads is from its partner there, in nats."""
        return [
            None if pairs is None else apart_from(pairs, matches)
            for pairs, matches in zip(self.measured.pairs, self._matches, strict=True)
        ]

    @cached_property
    def ranked(self) -> list[tuple[Place, float]]:
        """The first model's heads, farthest from their partners first."""
        known = [each for each in self.apart if each is not None]
        return ranked(known) if known else []

    @property
    def seeds_apart(self) -> np.ndarray | None:
        """The same between two models that differ in their seed alone."""
        pairs = self.measured.seed_pairs
        return None if pairs is None else apart_from(pairs, self.measured.seed_matches if self.matched else None)

    @cached_property
    def seed_places(self) -> tuple[Place, Place] | None:
        """The heads of those two whose difference is the noise floor of the opened one."""
        two, names = self.measured.seeds, self.reading.seeds
        if two is None or names is None:
            return None
        shown = self.names.index(names[0]) if names[0] in self.names else 0
        place = self.places[shown]
        if place is None or place[0] >= two[0].pattern.shape[0] or place[1] >= two[0].pattern.shape[1]:
            return None
        matches = self.measured.seed_matches if self.matched else None
        _, other = partners((0, place), [two[0].pattern.shape[:2], two[1].pattern.shape[:2]], [None, matches])
        return None if other is None else (place, other)

    def head(self, number: int, place: Place) -> str:
        """L0·H3, as that model names it."""
        layer, head = place
        attention = self.attentions[number]
        known = layer < len(attention.layers) and head < len(attention.heads)
        return head_name(attention.layers[layer], attention.heads[head]) if known else f"L{layer}·H{head}"

    def missing(self, number: int) -> str:
        """Why a model shows no head."""
        number_opened, place = self.opened
        opened = self.head(number_opened, place)
        matched = self._matches[number] is not None or self._matches[number_opened] is not None
        if not matched:
            return f"{self.names[number]} has no {opened}."
        return f"{self.names[number]} has no head that is matched with {opened} of {self.names[number_opened]}."

    @property
    def _matches(self) -> tuple[list[Match] | None, ...]:
        return self.measured.matches if self.matched else (None,) * len(self.names)


def open_head(model: str, layer: str, head: str) -> None:
    """What a click does, before the page runs again."""
    st.session_state.opened_in, st.session_state.layer, st.session_state.head = model, layer, head
