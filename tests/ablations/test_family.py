"""A family in miniature: shared by processes, interrupted, resumed, diverged, and measured."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest
import torch

from transformer.ablations import facts
from transformer.ablations.family import Member, train_family, with_steps
from transformer.ablations.minute import Minute
from transformer.ablations.results import Result, find_results, read_minute, read_results, write_results
from transformer.ablations.table3 import Table3
from transformer.ablations.variants import VARIANTS
from transformer.checkpoint import load_checkpoint
from transformer.cli import main
from transformer.config import ModelConfig, TrainConfig
from transformer.evaluate import evaluate, save_evaluation
from transformer.folders import CheckpointError, list_checkpoints, runs_folder
from transformer.presets import Preset, derive
from transformer.text.corpora import Corpus
from transformer.training.start import start_training
from transformer.training.trainer import Trainer

PAIRS = [(" ".join(x), " ".join(reversed(x))) for x in ("abc", "de", "f", "ghi", "jkl", "mno", "pqr", "st")]
BASE = Preset(
    ModelConfig(d_model=8, d_ff=8, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, max_length=32),
    TrainConfig(steps=4, batch_tokens=12, vocab_size=301, warmup=2, cooldown=2, save_every=1, log_every=1),
)
CORPUS = Corpus("small", "free", "us", 0, ("a", "b"), {"train": PAIRS, "validation": PAIRS[:4], "test": PAIRS[:4]})


class Small(Table3):
    """The first rows of the table, at a size that takes a moment."""

    @cached_property
    def base(self) -> Preset:
        return BASE

    def members(self, only: Sequence[str], steps: int | None) -> list[Member]:
        def reduced(member: Member) -> Member:
            changes = {"A-h1": {"n_heads": 1}, "B-dk8": {"d_k": 3}}.get(member.name, {})
            return replace(member, preset=with_steps(derive(BASE, changes), member.seed, steps))

        return [reduced(one) for one in super().members(only or ["base", "A-h1", "B-dk8"], steps)]

    def corpus(self, name: str, notify) -> Corpus:
        return CORPUS


@pytest.fixture(autouse=True)
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(facts, "code_version", lambda: "0.1.0 test")
    return tmp_path


def to_the_end(trainer: Trainer) -> bool:
    return trainer.run()


def quiet(text: str) -> None:
    pass


def train(members: list[Member], how=to_the_end, notify=quiet) -> bool:
    return train_family(Small(), members, how, notify)


def table(folder: Path) -> dict[tuple[str, int], Result]:
    return {(row.name, row.seed): row for row in read_results(folder / "table3-small.csv")}


def test_models_are_trained_measured_and_left_alone(checkpoints: Path):
    members = Small().members(["A-h1", "B-dk8"], None)
    assert train(members)
    rows = table(checkpoints)
    assert list(rows) == [("A-h1", 1), ("B-dk8", 1)]
    row = rows["A-h1", 1]
    assert (row.group, row.checkpoint, row.steps, row.diverged_at) == ("A", "table3/A-h1-1", 4, None)
    assert row.differs == "heads 1 (not 2); d_k 8 (not 4); d_v 8 (not 4)"
    assert row.command == "roundtable ablate table3-small --only A-h1"
    assert row.perplexity is not None
    assert row.perplexity > 1
    assert row.bleu_signature.startswith("nrefs:1|case:mixed")
    assert row.tokens_per_second is not None
    assert row.version == "0.1.0 test"
    folder = checkpoints / row.checkpoint
    checkpoint = load_checkpoint(folder)
    assert row.parameters == checkpoint.model.n_parameters
    assert row.perplexity == pytest.approx(evaluate(checkpoint, CORPUS.pairs("test"))["perplexity"])
    assert not (folder / "state.pt").exists()
    assert not (folder / "steps").exists()
    assert (folder / "metrics.jsonl").exists()
    assert not list_checkpoints() or "A-h1-1" not in list_checkpoints()

    def never(trainer: Trainer) -> bool:
        raise AssertionError("it is finished")

    said: list[str] = []
    assert train(members, never, said.append)
    assert said == ["0 of 2 models are to be trained and measured."]


def test_what_was_stopped_goes_on(checkpoints: Path):
    members = Small().members(["A-h1"], None)
    assert not train(members, lambda trainer: trainer.run(should_stop=lambda: trainer.progress.step >= 2))
    begun: list[int] = []

    def noted(trainer: Trainer) -> bool:
        begun.append(trainer.progress.step)
        return trainer.run()

    assert train(members, noted)
    assert begun == [2]
    with pytest.raises(CheckpointError, match="was begun with another configuration"):
        train(Small().members(["A-h1"], 3))


def test_a_model_that_diverges_gets_its_row_and_the_others_go_on(checkpoints: Path):
    def spoilt(trainer: Trainer) -> bool:
        if trainer.folder.name == "A-h1-1":
            step = trainer._step

            def broken(batches):
                if trainer.progress.step == 2:
                    with torch.no_grad():
                        trainer.model.projection.weight.fill_(math.nan)
                return step(batches)

            trainer._step = broken
        return trainer.run()

    assert train(Small().members(["A-h1", "B-dk8"], None), spoilt)
    rows = table(checkpoints)
    diverged = rows["A-h1", 1]
    assert diverged.diverged_at == 3
    assert (diverged.perplexity, diverged.bleu, diverged.chrf, diverged.bleu_signature) == (None, None, None, "")
    assert diverged.target_tokens > 0
    assert rows["B-dk8", 1].perplexity is not None
    assert (checkpoints / "table3" / "A-h1-1" / "metrics.jsonl").read_text().count('"nll"') == 2
    assert Small().missing(Small().members(["A-h1"], None)) == []


def test_two_processes_share_the_work(checkpoints: Path):
    """While one trains a model, another that is given the same list takes the next."""
    members = Small().members(["A-h1", "B-dk8"], None)
    order: list[str] = []

    def other(trainer: Trainer) -> bool:
        order.append(f"other {trainer.folder.name}")
        return trainer.run()

    def first(trainer: Trainer) -> bool:
        order.append(trainer.folder.name)
        if trainer.folder.name == "A-h1-1":
            assert train(members, other, said.append)
        return trainer.run()

    said: list[str] = []
    assert train(members, first)
    assert order == ["A-h1-1", "other B-dk8-1"]
    assert said[1] == "A-h1, seed 1 is in the hands of another process."
    assert list(table(checkpoints)) == [("A-h1", 1), ("B-dk8", 1)], "in the order of training, whoever was first"


def test_the_family_of_positions_lends_its_models(checkpoints: Path):
    base = Small().members(["base"], None)
    assert [member.given for member in base] == [True, *[False] * 4]
    said: list[str] = []
    assert train(base[:1], notify=said.append)
    assert "base, seed 1 is missing: it is positions-sinusoidal, which `roundtable ablate positions` trains." in said
    assert Small().missing(base[:1]) == base[:1]
    folder = runs_folder() / "positions-sinusoidal"
    trainer = start_training(folder, CORPUS, base[0].preset)
    trainer.run()
    save_evaluation(folder, "small test", {**evaluate(load_checkpoint(folder), PAIRS[:4]), "perplexity": 5.5})
    assert train(base[:1])
    row = table(checkpoints)["base", 1]
    assert (row.perplexity, row.differs, row.checkpoint) == (5.5, "nothing", "positions-sinusoidal")
    assert row.command == "roundtable ablate positions --parts tatoeba"
    assert row.target_tokens == trainer.progress.n_tokens
    assert (folder / "state.pt").exists(), "what is lent is left as it was"


def test_another_budget_is_not_taken_for_the_base(checkpoints: Path):
    (member,) = Small().members(["base"], None)[:1]
    start_training(runs_folder() / "positions-sinusoidal", CORPUS, with_steps(BASE, 1, 2)).run()
    assert Small().given(member) is None


def test_the_commands_say_what_is_missing(checkpoints: Path, capsys: pytest.CaptureFixture):
    with pytest.raises(SystemExit) as leaving:
        main(["ablate", "table3-small", "--only", "B", "base", "--missing"])
    assert leaving.value.code == 0
    assert capsys.readouterr().out.splitlines() == [
        *(f"base, seed {seed}" for seed in range(1, 6)), "B-dk8, seed 1", "B-dk16, seed 1",
    ]  # fmt: skip


def test_fewer_steps_keep_the_cooldowns_share():
    assert with_steps(BASE, 3, 2).train == replace(BASE.train, steps=2, cooldown=1, seed=3)
    assert with_steps(BASE, 3, None).train == replace(BASE.train, seed=3)


def test_results_survive_with_their_gaps(checkpoints: Path):
    row = Result(
        group="A", name="A-h1", seed=1, differs="heads 1 (not 4), √d_k", checkpoint="table3/A-h1-1", perplexity=None,
        bleu=None, bleu_signature="", chrf=1.5, chrf_signature="x", parameters=3, tokens_per_second=None, device="cpu",
        diverged_at=None, steps=4, target_tokens=5, version="0", command="roundtable ablate table3-small --only A-h1",
    )  # fmt: skip
    path = checkpoints / "table3-small.csv"
    write_results([row, replace(row, diverged_at=7)], path)
    assert read_results(path) == [row, replace(row, diverged_at=7)]
    assert find_results() == path
    path.write_text("a,b\n1,2\n")
    with pytest.raises(CheckpointError, match="is not a table of variants: its columns are not group, name"):
        read_results(path)


def test_every_variant_can_be_built_and_is_measured_where_it_says():
    members = Table3().members([], 1)
    assert len(members) == sum(len(variant.seeds) for variant in VARIANTS.values())
    assert all(member.preset.train.steps == 1 for member in members)


def test_a_task_of_a_minute_is_measured_at_every_distance(checkpoints: Path):
    assert train_family(Minute(), Minute().members(["recall-window"], 1)[:1], to_the_end, quiet)
    rows = read_minute(checkpoints / "minute.csv")
    assert [row.distance for row in rows] == [5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
    assert {(row.task, row.name, row.seed, row.n_pairs) for row in rows} == {("recall", "recall-window", 1, 100)}
    assert all(0 <= row.accuracy <= 1 and 0 <= row.generated <= 1 for row in rows)
    assert rows[0].differs == "mixing in self-attention window (not softmax)"
