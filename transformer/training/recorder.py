"""Recording probes while a model trains, without leaving a mark on the training."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from transformer.analysis.trace import KINDS
from transformer.analysis.tracing import trace_ids
from transformer.checkpoint import Checkpoint, CheckpointConfig
from transformer.config import ModelConfig
from transformer.decoding.search import greedy
from transformer.text.tokenizer import EOS, Tokenizer
from transformer.training.probes import Probe, frames_that_fit, load_probes, probe_steps, save_probes, until
from transformer.training.trainer import Trainer

MAX_PIECES = 64
"""Of a probe's source and of its target; longer ones are not recorded."""
_MAX_EXTRA = 16
"""Pieces by which a model's own translation may be longer than the source: untrained ones do not end by themselves."""


class ProbeRecorder:
    """Records a trainer's probes at the steps that are due and keeps them in the run's folder.

    Dropout is off, and no random number is drawn: with and without probes training is the same, bit by bit.
    """

    def __init__(
        self,
        trainer: Trainer,
        tokenizer: Tokenizer,
        probes: Sequence[str],
        answer: Callable[[str], str | None] = lambda sentence: None,
    ) -> None:
        """Take probes as RunRequest has them; `answer` gives a sentence's right target where there is one to give.

        What the folder holds from before is kept up to the trainer's step, if it is of the same probes.
        """
        self.trainer, self.tokenizer = trainer, tokenizer
        wanted = [_split(probe, answer) for probe in probes]
        fitting = [pair for pair in wanted if self._fits(*pair)]
        self.n_left_out = len(wanted) - len(fitting)
        self.probes = self._recorded_before(fitting)
        frames = frames_that_fit(sum(self._frame_bytes(*pair) for pair in fitting))
        self._steps = set(probe_steps(trainer.config.steps, frames))

    def __call__(self) -> None:
        """Record, if this step is due and not recorded yet."""
        step = self.trainer.progress.step
        if not self.probes or step not in self._steps or step in self.probes[0].steps:
            return
        self.trainer.model.eval()
        with torch.inference_mode():
            self.probes = [self._with_frame(probe) for probe in self.probes]
        save_probes(self.trainer.folder, self.probes)

    def _with_frame(self, probe: Probe) -> Probe:
        trainer, tokenizer = self.trainer, self.tokenizer
        config = CheckpointConfig(trainer.model.config, trainer.config, {}, step=trainer.progress.step)
        checkpoint = Checkpoint(trainer.folder.name, config, tokenizer, trainer.model, trainer.folder)
        source = tokenizer.encode(probe.source)
        found = greedy(trainer.model, [source], max_extra=_MAX_EXTRA)[0].tokens
        own = [piece for piece in found if piece != EOS][: self._longest - 1]
        translation = tokenizer.decode(own)
        written = own if probe.target is None else tokenizer.encode(probe.target)
        texts = probe.source, translation if probe.target is None else probe.target
        trace = trace_ids(checkpoint, texts, [*source, EOS], [*written, EOS], generated=probe.target is None)
        # Neither the model nor scores are kept.
        kinds = {kind: replace(trace[kind], scores=None) for kind in KINDS}
        trace = replace(trace, _replay=None, **kinds)
        return Probe(probe.source, probe.target, (*probe.traces, trace), (*probe.translations, translation))

    def _recorded_before(self, fitting: list[tuple[str, str | None]]) -> list[Probe]:
        try:
            before = load_probes(self.trainer.folder)
        except ValueError:
            before = []
        if [(probe.source, probe.target) for probe in before] == fitting:
            return until(before, self.trainer.progress.step)
        return [Probe(source, target, (), ()) for source, target in fitting]

    @property
    def _longest(self) -> int:
        """Rows of the longest target: as many as the model has positions for, or as a probe may come to."""
        config = self.trainer.model.config
        return config.max_length if config.positions == "learned" else MAX_PIECES + 1 + _MAX_EXTRA

    def _lengths(self, source: str, target: str | None) -> tuple[int, int]:
        """Rows of source and target, EOS included."""
        n_source = len(self.tokenizer.encode(source)) + 1
        return n_source, n_source + _MAX_EXTRA if target is None else len(self.tokenizer.encode(target)) + 1

    def _fits(self, source: str, target: str | None) -> bool:
        n_source, n_target = self._lengths(source, target)
        given = n_source if target is None else max(n_source, n_target)
        return given <= min(MAX_PIECES + 1, self._longest)

    def _frame_bytes(self, source: str, target: str | None) -> int:
        config: ModelConfig = self.trainer.model.config
        n_source, n_target = self._lengths(source, target)
        encoder = config.n_encoder_layers * n_source**2
        decoder = config.n_decoder_layers * n_target * (n_source + n_target)
        return 2 * config.n_heads * (encoder + decoder)


def _split(probe: str, answer: Callable[[str], str | None]) -> tuple[str, str | None]:
    source, tab, target = probe.partition("\t")
    return source, target if tab else answer(source)
