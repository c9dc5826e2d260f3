"""A family in miniature: trained, measured, interrupted, resumed, and left alone once it is finished."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from transformer.ablations import positions
from transformer.ablations.family import Member, train_family
from transformer.ablations.position_parts import ENCODINGS, PARTS, Part
from transformer.ablations.positions import Positions
from transformer.ablations.table import PARTS_IN_ORDER, TABLE, read_rows
from transformer.checkpoint import load_checkpoint
from transformer.cli import main
from transformer.config import ModelConfig, TrainConfig
from transformer.folders import CheckpointError, list_checkpoints
from transformer.presets import Preset
from transformer.text.corpora import Corpus
from transformer.training.trainer import Trainer

PAIRS = [(" ".join(x), " ".join(reversed(x))) for x in ("abc", "de", "f", "ghi", "jkl", "mno", "pqr", "st")]
LONG = ("a b c a b", "b a c b a")
PRESET = Preset(
    ModelConfig(d_model=8, d_ff=8, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, max_length=32),
    TrainConfig(steps=3, batch_tokens=12, vocab_size=301, warmup=2, save_every=1, log_every=1),
)


def small_part(seeds: tuple[int, ...], fitted_table: bool) -> Part:
    return replace(
        PARTS["copy"],
        name="small",
        preset=PRESET,
        corpus=lambda notify: Corpus(
            "small", "free", "us", 0, ("a", "b"), {"train": PAIRS, "validation": PAIRS[:4], "test": [*PAIRS[:4], LONG]}
        ),
        seeds=seeds,
        trained_to=3,
        edges=((1, 3), (4, 6)),
        judged=None,
        fitted_table=fitted_table,
    )


@pytest.fixture(autouse=True)
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    return tmp_path


def to_the_end(trainer: Trainer) -> bool:
    return trainer.run()


def small(monkeypatch: pytest.MonkeyPatch, seeds: tuple[int, ...], *, fitted_table: bool) -> list[Member]:
    """The models of a family of one small part."""
    monkeypatch.setattr(positions, "PARTS", {"small": small_part(seeds, fitted_table)})
    return Positions().members([], None)


def train(members: list[Member], how=to_the_end, notify=lambda text: None) -> bool:
    return train_family(Positions(), members, how, notify)


def test_length_families_are_measured_on_every_length(checkpoints: Path, monkeypatch: pytest.MonkeyPatch):
    assert train(small(monkeypatch, (1, 2), fitted_table=True))
    rows = read_rows(checkpoints / TABLE)
    assert [(row.encoding, row.seed) for row in rows[::2]] == [(name, seed) for seed in (1, 2) for name in ENCODINGS]
    assert {(row.trained_to, row.steps, row.unit) for row in rows} == {(3, 3, "letters")}
    assert all(row.target_tokens > 0 for row in rows)
    by_length = {(row.encoding, row.shortest): row for row in rows if row.seed == 1}
    assert by_length["sinusoidal", 4].n_pairs == 1
    assert by_length["learned", 4].n_pairs == 0
    assert by_length["learned", 4].n_too_long == 1
    assert by_length["learned", 1].n_pairs == 4
    assert "small-learned-1" not in list_checkpoints()
    assert load_checkpoint(checkpoints / "positions" / "small-learned-1").config.model.max_length == 4


def test_the_shipped_five_get_scores_visits_and_half_precision(checkpoints: Path, monkeypatch: pytest.MonkeyPatch):
    assert train(members := small(monkeypatch, (1,), fitted_table=False))
    assert {f"positions-{name}" for name in ENCODINGS} <= set(list_checkpoints())
    folder = checkpoints / "positions-learned"
    evaluation = json.loads((folder / "evaluation.json").read_text())
    assert evaluation["small test"]["perplexity"] > 1
    assert evaluation["position_visits"]["texts"][:5] == [16, 16, 14, 10, 0]
    weights = folder / "model.safetensors"
    assert {tensor.dtype for tensor in load_file(weights).values()} == {torch.float16}
    assert Positions().missing(members) == []
    weights.unlink()
    assert [str(member) for member in Positions().missing(members)] == ["small-learned, seed 1"]


def test_what_is_unfinished_is_resumed_and_what_is_finished_is_left_alone(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch
):
    members = small(monkeypatch, (1, 2), fitted_table=True)
    begun: list[tuple[str, int]] = []

    def interrupted(trainer: Trainer) -> bool:
        begun.append((trainer.folder.name, trainer.progress.step))
        stop_at = 2 if len(begun) == 3 else 99
        return trainer.run(should_stop=lambda: trainer.progress.step >= stop_at)

    assert not train(members, interrupted)
    assert len(begun) == 3
    assert len(read_rows(checkpoints / TABLE)) == 4
    assert train(members, interrupted)
    assert begun[2][0] == begun[3][0]
    assert [step for _, step in begun] == [0, 0, 0, 2, *[0] * 7]
    shutil.rmtree(checkpoints / "positions")  # the rows are the result
    said: list[str] = []
    assert train(members, interrupted, said.append)
    assert said == ["0 of 10 models are to be trained and measured."]
    assert len(begun) == 11


def test_another_number_of_steps_is_refused_in_a_sentence(checkpoints: Path, monkeypatch: pytest.MonkeyPatch):
    members = small(monkeypatch, (1, 2), fitted_table=True)
    assert not train(Positions().members([], 5), lambda trainer: False)
    with pytest.raises(CheckpointError, match="was begun with another configuration"):
        train(members)


def test_the_command_trains_measures_and_goes_on(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr(positions, "PARTS", {"copy": replace(small_part((1, 2), fitted_table=True), name="copy")})
    for _ in range(2):
        with pytest.raises(SystemExit) as leaving:
            main(["ablate", "positions", "--parts", "copy", "--steps", "2"])
        assert leaving.value.code == 0
    err = capsys.readouterr().err
    assert "10 of 10 models are to be trained and measured." in err
    assert err.count("0 of 10 models are to be trained and measured.") == 2
    assert f"The table is {checkpoints / TABLE}." in err
    assert err.count("It was whole already.") == 1, "the second time alone"
    assert {row.steps for row in read_rows(checkpoints / TABLE)} == {2}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["ablate"], "Missing"),
        (["ablate", "heads"], "heads"),
        (["ablate", "positions", "--parts", "klingon"], "klingon"),
        (["ablate", "positions", "--only", "A"], "--only is for table3-small and minute"),
        (["ablate", "table3-small", "--only", "Z"], "--only is 'Z'; allowed is a group, base | A | B | D"),
        (["ablate", "minute", "--only", "Z"], "--only is 'Z'; allowed is a task, reverse | two-places | recall"),
        (["ablate", "positions", "--steps", "0"], "--steps is 0; allowed is a whole number of at least 1."),
    ],
)
def test_bad_input_to_the_command_is_one_sentence(arguments: list[str], says: str, capsys: pytest.CaptureFixture):
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    out, err = capsys.readouterr()
    assert leaving.value.code == 2
    assert says in err
    assert "Traceback" not in err
    assert out == ""


def test_the_command_says_which_are_missing_and_trains_none(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr(positions, "PARTS", {"copy": replace(small_part((1, 2), fitted_table=True), name="copy")})
    with pytest.raises(SystemExit) as leaving:
        main(["ablate", "positions", "--parts", "copy", "--missing"])
    assert leaving.value.code == 0
    expected = [f"copy-{encoding}, seed {seed}" for seed in (1, 2) for encoding in ENCODINGS]
    assert capsys.readouterr().out.splitlines() == expected
    assert list(checkpoints.iterdir()) == []


def test_the_command_knows_every_part_in_order():
    assert tuple(PARTS) == PARTS_IN_ORDER
