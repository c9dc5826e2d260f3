"""The command that scores word alignment and keeps the error rates in evaluation.json."""

import json
from dataclasses import replace

import pytest

from tests.conftest import ROOT
from transformer.analysis.alignment_error import alignment_error_rate
from transformer.analysis.gold import read_gold
from transformer.cli import main
from transformer.commands.align import Align, measure

LINES = (
    "id\tsource\ttarget\tsure\tpossible",
    "1\tThe animal was tired .\tDas Tier war müde .\t0-0 1-1 2-2 3-3 4-4\t",
    "2\tA street is wide\tEine Straße ist breit\t0-0 1-1 2-2\t3-3",
)


@pytest.fixture
def gold(tmp_path):
    (tmp_path / "mine.tsv").write_text("\n".join(LINES) + "\n", "utf-8")
    return tmp_path


def test_what_is_kept_are_the_error_rates_and_what_the_diagonal_has(checkpoint, gold):
    pairs = read_gold(gold / "mine.tsv")
    result = measure(checkpoint, pairs)
    scores = alignment_error_rate(checkpoint, pairs)
    assert result["n_sentences"] == 2
    assert result["n_sure_links"] == 8
    assert result["diagonal_aer"] == 0, "both targets follow their sources word by word"
    assert result["best_layer"]["aer"] == round(scores[scores.best_layer].error_rate, 4)
    assert result["best_layer"]["aer"] == min(min(layers) for layers in result["layers"].values())
    assert "not tuned on these sentences" in result["note"]


def test_it_prints_and_saves_beside_what_was_there(checkpoint, gold, monkeypatch, capsys, tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "evaluation.json").write_text('{"other": {"bleu": 1}}', "utf-8")
    monkeypatch.setattr("transformer.checkpoint.load_checkpoint", lambda name: replace(checkpoint, folder=folder))
    assert Align("anything", gold).run() == 0
    printed = json.loads(capsys.readouterr().out)
    assert json.loads((folder / "evaluation.json").read_text("utf-8")) == {"other": {"bleu": 1}}, "nothing was saved"
    Align("anything", gold, save=True).run()
    assert json.loads((folder / "evaluation.json").read_text("utf-8")) == {"other": {"bleu": 1}, **printed}
    assert set(printed) == {"alignment mine"}


def test_without_gold_it_says_so_and_leaves_with_2(tmp_path, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["align", "--gold", str(tmp_path)])
    assert leaving.value.code == 2
    assert "has no gold alignments" in capsys.readouterr().err


def test_the_card_says_what_evaluation_json_says():
    folder = ROOT / "checkpoints" / "everyday-en-de"
    kept = json.loads((folder / "evaluation.json").read_text("utf-8"))["alignment gold_en-de_bicici100"]
    card = (folder / "README.md").read_text("utf-8")
    assert f"**{kept['diagonal_aer']:.2f} for the diagonal**" in card
    assert (
        f"(layer {kept['best_layer']['layer']}, heads averaged, rows that {kept['best_layer']['rows']} a word)" in card
    )
