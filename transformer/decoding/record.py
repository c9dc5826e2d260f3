"""What a beam search did, step by step: which hypotheses were open, which pieces they could write, which went on.

The search itself is transformer/decoding/search.py, observed; every number here is the one that it decided by.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jaxtyping import Float, Int
from torch import Tensor

from transformer.decoding.hypothesis import Hypothesis, length_penalty
from transformer.decoding.search import beam_search
from transformer.model.transformer import Transformer
from transformer.text.tokenizer import EOS


@dataclass(frozen=True)
class Choice:
    """A piece that an open hypothesis may write next."""

    piece: int
    log_prob: float
    """Natural logarithm of its probability."""


@dataclass(frozen=True)
class Beam:
    """A hypothesis that was kept after a step."""

    tokens: tuple[int, ...]
    token_log_probs: tuple[float, ...]
    parent: int
    """Place, among the beams of the step before, of the hypothesis that it goes on from; 0 in the first step."""

    @property
    def log_prob(self) -> float:
        """The plain sum over its tokens, in nats."""
        return sum(self.token_log_probs)

    @property
    def ended(self) -> bool:
        return self.tokens[-1] == EOS


@dataclass(frozen=True)
class Step:
    """All hypotheses at one position of the target."""

    position: int
    """Of the token written, counted from 0."""
    choices: tuple[tuple[Choice, ...], ...]
    """The likeliest next pieces of each hypothesis that was open, best first; () for one that has ended before."""
    beams: tuple[Beam, ...]
    """What was kept, by log-probability, best first: as many as the beam has free places."""
    n_rows: int
    """Hypotheses that the decoder was run for; one that ended a step before is among them, to no end."""

    @property
    def n_open(self) -> int:
        """Hypotheses that go on."""
        return sum(not beam.ended for beam in self.beams)


@dataclass(frozen=True)
class Record:
    """One search over one sentence."""

    source: tuple[int, ...]
    """Ids, without EOS."""
    beam: int
    alpha: float
    prefix: tuple[int, ...]
    """Ids that every target was made to begin with."""
    steps: tuple[Step, ...]
    """From the first position after the prefix on."""
    found: tuple[Hypothesis, ...]
    """Best score first, as many as the beam is wide, or as were found."""

    @property
    def n_positions(self) -> int:
        """Target positions written, those of the prefix among them."""
        return len(self.prefix) + len(self.steps)

    def path(self, hypothesis: Hypothesis) -> tuple[int, ...]:
        """For each step the place of a found hypothesis among the beams, up to where it ended."""
        places = []
        for step in self.steps:
            begun = hypothesis.tokens[: step.position + 1]
            places += [place for place, beam in enumerate(step.beams) if beam.tokens == begun]
            if step.position + 1 >= len(hypothesis.tokens):
                break
        return tuple(places)

    def penalty(self, hypothesis: Hypothesis) -> float:
        """What its log-probability is divided by to give its score."""
        return length_penalty(len(hypothesis.tokens), self.alpha)


def record_search(
    model: Transformer,
    source: Sequence[int],
    *,
    beam: int = 4,
    alpha: float = 0.6,
    prefix: Sequence[int] = (),
    max_extra: int = 50,
    n_choices: int = 5,
) -> Record:
    """Search for the targets of a source, ids without EOS, as beam_search does, and keep every step.

    Raises ValueError when an option is out of range.
    """
    notes = _Notes(prefix, n_choices)
    options = {"beam": beam, "alpha": alpha, "n_best": beam, "max_extra": max_extra, "prefix": prefix}
    found = beam_search(model, [source], **options, observer=notes)[0]
    given = found[0].token_log_probs[: len(prefix)]
    steps = (
        replace(step, beams=tuple(replace(each, token_log_probs=given + each.token_log_probs) for each in step.beams))
        for step in notes.steps
    )
    return Record(tuple(source), beam, alpha, tuple(prefix), tuple(steps), tuple(found))


class _Notes:
    """Observes the search of one sentence. It is not shown the prefix, so its beams lack those log-probabilities."""

    def __init__(self, prefix: Sequence[int], n_choices: int) -> None:
        self.n_prefix, self.n_choices = len(prefix), n_choices
        self.steps: list[Step] = []
        self.before = (Beam(tuple(prefix), (), 0),)

    def __call__(
        self,
        log_probs: Float[Tensor, "row vocab"],
        totals: Float[Tensor, "sentence width"],
        row: Int[Tensor, " new_row"],
        written: Int[Tensor, " new_row"],
    ) -> None:
        likeliest = log_probs[:, EOS:].topk(min(self.n_choices, log_probs.shape[1] - EOS))
        # Rows that were never filled come last, and nothing goes on from them.
        rows = zip(self.before, (likeliest.indices + EOS).tolist(), likeliest.values.tolist(), strict=False)
        choices = tuple(() if self.steps and beam.ended else tuple(map(Choice, *likely)) for beam, *likely in rows)
        chosen = log_probs[row, written].tolist()
        kept = zip(totals[0].tolist(), row.tolist(), written.tolist(), chosen, strict=True)
        self.before = tuple(
            Beam((*self.before[parent].tokens, piece), (*self.before[parent].token_log_probs, log_prob), parent)
            for total, parent, piece, log_prob in kept
            if total > float("-inf")
        )
        self.steps.append(Step(self.n_prefix + len(self.steps), choices, self.before, len(log_probs)))
