"""The five encodings, everything else the same: what is trained, on what, and on what lengths it is tested (§3.5)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import get_args

from torch import Tensor

from transformer.ablations.family import with_steps
from transformer.ablations.lengths import (
    LONGEST_TESTED,
    LONGEST_TRAINED,
    SHIFT,
    SHORT,
    n_words,
    short_corpus,
    task_corpus,
)
from transformer.analysis.by_length import buckets
from transformer.config import ModelConfig, Positions, TrainConfig
from transformer.presets import Preset, derive
from transformer.text.corpora import Corpus, load_corpus
from transformer.text.tokenizer import EOS

ENCODINGS: tuple[Positions, ...] = get_args(Positions)

REAL_TEXT = Preset(
    ModelConfig(d_model=128, d_ff=512, n_heads=4, n_encoder_layers=3, n_decoder_layers=3),
    TrainConfig(steps=3000, batch_tokens=1024, vocab_size=4000, warmup=800, cooldown=1000),
)
"""3 million target tokens: seven minutes on one core. Of so few, small batches and a cooldown make the most."""
TASK = Preset(
    ModelConfig(d_model=64, d_ff=256, n_heads=4, n_encoder_layers=2, n_decoder_layers=2),
    TrainConfig(steps=2000, batch_tokens=2048, vocab_size=313, warmup=500, validate_every=1000, save_every=1000),
)
"""4 million target tokens; after half of them a model with sinusoids copies all strings of a trained length."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One corpus that all five encodings are trained on."""

    name: str
    preset: Preset
    corpus: Callable[[Callable[[str], None]], Corpus]
    """Given what is told before a download."""
    seeds: tuple[int, ...]
    unit: str
    trained_to: int | None
    """The longest length trained on; None: every length that the corpus has."""
    edges: tuple[tuple[int, int], ...]
    judged: Callable[[Tensor], Tensor] | None = None
    """Which tokens accuracy counts, where not all but </s> (see score_by_length)."""
    fitted_table: bool = False
    """Whether a learned table ends with the longest text trained on; else it has ModelConfig.max_length rows."""

    @property
    def listed(self) -> bool:
        """Whether its models are checkpoints that every page offers, and not only measured."""
        return self.seeds == (1,)

    def checkpoint(self, encoding: Positions, seed: int) -> str:
        """The folder of one model in the checkpoints folder. Models of the length test lie one level deeper.

        There they are in no list of models, which sixty of them would fill.
        """
        if self.listed:
            return f"positions-{encoding}"
        return f"positions/{self.name}-{encoding}-{seed}"

    def preset_of(self, encoding: Positions, seed: int, steps: int | None) -> Preset:
        """The preset of one model, before its table of positions is fitted to a text."""
        return with_steps(derive(self.preset, {"positions": encoding}), seed, steps)


def length(pair: tuple[str, str]) -> int:
    """Words, or letters, of the longer side of a pair."""
    return max(map(n_words, pair))


def _tatoeba(notify: Callable[[str], None]) -> Corpus:
    return load_corpus("tatoeba", notify=notify)


def _short(notify: Callable[[str], None]) -> Corpus:
    return short_corpus(_tatoeba(notify))


def _task(task: str, notify: Callable[[str], None]) -> Corpus:
    return task_corpus(task)


def _after_the_shift(gold: Tensor) -> Tensor:
    """All tokens but </s> and the first three."""
    judged = gold != EOS
    judged[:, :SHIFT] = False
    return judged


def _task_part(task: str, judged: Callable[[Tensor], Tensor] | None = None) -> Part:
    return Part(
        name=task,
        preset=TASK,
        corpus=partial(_task, task),
        seeds=(1, 2, 3),
        unit="letters",
        trained_to=LONGEST_TRAINED,
        edges=tuple(buckets(LONGEST_TESTED, 5)),
        judged=judged,
        fitted_table=True,
    )


PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        Part(
            name="tatoeba",
            preset=REAL_TEXT,
            corpus=_tatoeba,
            seeds=(1,),
            unit="words",
            trained_to=None,
            edges=((1, 4), (5, 8), (9, 12), (13, 16), (17, 30)),
        ),
        _task_part("copy"),
        _task_part("reverse"),
        _task_part(f"shift-{SHIFT}", _after_the_shift),
        Part(
            name="short",
            preset=REAL_TEXT,
            corpus=_short,
            seeds=(1, 2, 3),
            unit="words",
            trained_to=SHORT,
            edges=((1, 4), (5, 8), (9, 10), (11, 12), (13, 16), (17, 30)),
            fitted_table=True,
        ),
    )
}
"""In the order in which they are trained."""
