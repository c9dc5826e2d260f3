"""Probes: recorded while a model trains, without a trace in the training, whole at every moment, and bounded."""

import numpy as np
import pytest

from tests.training_runs.small_runs import curve, do, go_on, weights
from transformer import load_checkpoint
from transformer.text.algorithmic import answer
from transformer.training import recorder
from transformer.training.probes import (
    MAX_BYTES,
    MAX_FRAMES,
    MIN_FRAMES,
    frames_that_fit,
    load_probes,
    probe_steps,
)
from transformer.training.status import STOP_FILE
from transformer.training.trainer import Trainer

pytestmark = pytest.mark.filterwarnings("ignore:The text allows a vocabulary")
PROBES = ("a b c", "d e\te d", "x")


@pytest.mark.parametrize("steps", [1, 2, 10, 47, 48, 1000, 300_000])
@pytest.mark.parametrize("frames", [MIN_FRAMES, MAX_FRAMES])
def test_the_steps_hold_first_and_last_and_are_few(steps, frames):
    chosen = probe_steps(steps, frames)
    assert chosen == sorted(set(chosen))
    assert (chosen[0], chosen[-1]) == (0, steps)
    assert len(chosen) <= frames + 1
    if steps >= 1000 and frames == MAX_FRAMES:
        assert sum(step <= steps / 100 for step in chosen) > 5
        assert max(np.diff(chosen)) <= steps / 20


def test_frames_fit_into_the_bound():
    assert frames_that_fit(1) == MAX_FRAMES
    assert frames_that_fit(2 * MAX_BYTES) == MIN_FRAMES
    assert frames_that_fit(MAX_BYTES // 20) == 20


def test_a_run_with_probes_learns_the_same_bit_by_bit(ask, folder):
    assert do(ask("with", probes=PROBES))
    assert do(ask("without"))
    assert weights("with") == weights("without")
    assert curve(folder / "with") == curve(folder / "without")
    assert load_probes(folder / "without") == []


def test_every_step_has_its_patterns_tokens_and_translation(ask, folder):
    assert do(ask("one", probes=PROBES))
    probes = load_probes(folder / "one")
    assert [(probe.source, probe.target) for probe in probes] == [("a b c", None), ("d e", "e d"), ("x", None)]
    for probe in probes:
        assert probe.steps == tuple(range(7))
        assert len(probe.translations) == 7
        for trace in probe.traces:
            for kind in ("encoder", "decoder", "cross"):
                np.testing.assert_allclose(trace[kind].pattern.sum(-1), 1, atol=1e-5)
                assert trace[kind].pattern.dtype == np.float32
                assert trace[kind].scores is None
            assert (trace.model, trace.source_text) == ("one", probe.source)
    given = probes[1].traces[3]
    assert given.target_text == "e d"
    assert not given.translation.generated
    assert given.target.labels[-1] == "</s>"
    assert probes[1].at(4).step == 4
    with pytest.raises(ValueError, match="the first recorded step is 0"):
        probes[1].at(-1)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"causal": False},
        {"memory": "last"},
        {"mixing": "window", "mixing_width": 3},
        {"mixing": "convolution", "mixing_width": 3, "causal": False},
    ],
    ids=str,
)
def test_the_last_pattern_is_the_checkpoints_own(ask, folder, changes):
    assert do(ask("one", probes=PROBES, **changes))
    recorded = load_probes(folder / "one")[1].traces[-1]
    again = load_checkpoint("one").trace("d e", target="e d")
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(recorded[kind].pattern, again[kind].pattern, atol=1e-3)
        assert recorded[kind].keys == again[kind].keys
        assert recorded[kind].queries == again[kind].queries
        assert recorded[kind].read == again[kind].read
        np.testing.assert_array_equal(recorded[kind].mask, again[kind].mask)
    assert recorded.translation.log_prob == pytest.approx(again.translation.log_prob, abs=1e-4)
    assert recorded.step == again.step == 6


def test_a_task_knows_the_target_of_a_probe():
    assert answer("reverse-small", "a b c") == "c b a"
    assert answer("sort", " c a  b ") == "a b c"
    assert answer("reverse", "ab c") is None
    assert answer("reverse", " ") is None
    assert answer("tatoeba", "a b c") is None


def test_a_stopped_run_goes_on_recording_where_it_was(ask, folder, monkeypatch):
    step = Trainer._step

    def stops(self: Trainer, batches) -> float:
        if self.progress.step == 3:
            (folder / "one" / STOP_FILE).touch()
        return step(self, batches)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", stops)
        assert not do(ask("one", probes=PROBES))
    assert load_probes(folder / "one")[0].steps == (0, 1, 2, 3, 4)
    assert go_on("one")
    assert do(ask("two", probes=PROBES))
    for ours, theirs in zip(load_probes(folder / "one"), load_probes(folder / "two"), strict=True):
        assert (ours.steps, ours.translations) == (theirs.steps, theirs.translations)
        for a, b in zip(ours.traces, theirs.traces, strict=True):
            np.testing.assert_array_equal(a.cross.pattern, b.cross.pattern)


def test_what_was_recorded_after_the_saved_step_is_recorded_again(ask, folder, monkeypatch):
    """A crash at step 5 falls back to step 4, and frames of step 5 go with it."""
    step = Trainer._step

    def crashes(self: Trainer, batches) -> float:
        if self.progress.step == 5:
            raise MemoryError
        return step(self, batches)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", crashes)
        with pytest.raises(ValueError, match="memory"):
            do(ask("one", probes=PROBES))
    assert load_probes(folder / "one")[0].steps[-1] == 5
    assert go_on("one")
    assert load_probes(folder / "one")[0].steps == tuple(range(7))


def test_a_broken_file_is_named_and_recorded_anew(ask, folder):
    assert do(ask("one", probes=PROBES))
    path = folder / "one" / "probes.npz"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"probes\.npz is not a file of probes"):
        load_probes(folder / "one")
    assert go_on("one")
    assert load_probes(folder / "one")[0].steps == (6,)


def test_a_probe_too_long_for_the_model_is_left_out_and_said(ask, folder, monkeypatch):
    monkeypatch.setattr(recorder, "MAX_PIECES", 4)
    said: list[str] = []
    assert do(ask("one", probes=("a b c d e", "a b", "a\tb c d e f")), said.append)
    assert "2 probe sentences are too long for the model: not recorded." in said
    assert [probe.source for probe in load_probes(folder / "one")] == ["a b"]


def test_a_model_with_few_learned_positions_is_asked_no_further(ask, folder):
    assert do(ask("one", positions="learned", max_length=6, probes=("a b c d e f", "a b")))
    probes = load_probes(folder / "one")
    assert [probe.source for probe in probes] == ["a b"]
    assert all(len(trace.target) <= 6 for trace in probes[0].traces)
