"""The page Ablations: with no table, with a broken one, with ours, and two models beside each other."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.ablations.results import result
from tests.conftest import ROOT
from transformer.ablations import rows
from transformer.ablations.results import MINUTE_TABLE, TABLE, MinuteResult, write_results
from transformer.checkpoint import load_checkpoint
from transformer.weights import named_weights, save_weights

BASE = [result("base", 10.0, 20.0, 1), result("base", 10.2, 20.4, 2), result("base", 10.1, 20.2, 3)]
SIDE = "Side by side"


@pytest.fixture
def open_page(checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens the page at a tab on copies of the two small checkpoints."""
    for name in ("sentences", "letters"):
        shutil.copytree(checkpoints / name, tmp_path / name)
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("transformer.folders.SHIPPED", tmp_path / "nothing")
    monkeypatch.setattr("transformer.ablations.rows.SHIPPED", tmp_path / "nothing")
    monkeypatch.setattr("pages.ablating.choice.SHIPPED", tmp_path / "nothing")

    def start(tab: str = "Table 3", **parameters: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.query_params.update({"model": "sentences", "ablation": tab, **parameters})
        app.run()
        app.switch_page("pages/ablations.py").run()
        assert not app.exception
        assert app.title[0].value == "Ablations"
        return app

    return start


def said(app: AppTest) -> str:
    return " ".join(element.value for kind in (app.markdown, app.info, app.caption, app.warning) for element in kind)


def charts(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def test_without_a_table_it_says_what_makes_one(open_page):
    assert "`roundtable ablate table3-small` trains a base and its variants" in said(open_page())
    assert "`roundtable ablate minute` trains these small models" in said(open_page("In a minute"))


@pytest.mark.parametrize(("tab", "table"), [("Table 3", TABLE), ("In a minute", MINUTE_TABLE)])
def test_a_broken_table_is_one_sentence(open_page, tmp_path: Path, tab: str, table: str):
    (tmp_path / table).write_text("a,b\n<b>1</b>,2\n")
    app = open_page(tab)
    assert len(app.warning) == 1
    assert "its columns are not" in app.warning[0].value


def test_a_table_without_a_base_compares_nothing(open_page, tmp_path: Path):
    write_results([result("A-h1", 10.0)], tmp_path / TABLE)
    assert "The table has no base yet" in said(open_page())


def test_what_holds_is_counted_and_what_turns_round_is_named(open_page, tmp_path: Path):
    variants = [result("A-h1", 11.0, 19.0), result("B-dk8", 9.0, 20.3), result("E-learned", 10.1), result("pre", None)]
    write_results([*BASE, *variants], tmp_path / TABLE)
    app = open_page()
    text = said(app)
    assert "Of 3 findings of the paper, by perplexity: **1** hold here, **1** do not, **1** cannot be told." in text
    assert "By perplexity these turn round: `B-dk8`." in text
    assert "3.0 million target tokens" in text
    assert "The base has 3 seeds" in text
    assert "Not trained yet: A-h2, A-h8" in text
    frame = app.dataframe[0].value
    by_row = {row["row"]: row for _, row in frame.iterrows()}
    assert by_row["A-h1"]["by perplexity"] == "holds"
    assert by_row["A-h1"]["Δ ours"] == pytest.approx(0.9)
    assert by_row["A-h1"]["Δ paper"] == pytest.approx(0.37)
    assert by_row["pre"]["by perplexity"] == "diverged"
    assert np.isnan(by_row["pre"]["perplexity"])
    (figure,) = charts(app)
    assert figure["layout"]["yaxis"]["ticktext"] == ["A-h1", "B-dk8", "E-learned", "pre"]


def test_curves_are_read_where_the_models_lie(open_page, tmp_path: Path):
    write_results([*BASE, result("A-h1", None)], tmp_path / TABLE)
    folder = tmp_path / "table3" / "A-h1-1"
    folder.mkdir(parents=True)
    lines = [{"step": step, "validation_nll": 5 - step / 1000} for step in (500, 1000)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    app = open_page(look="Curves")
    (figure,) = charts(app)
    assert [trace["name"] for trace in figure["data"]] == ["A-h1, seed 1"], "a diverged model has its curve"
    assert "There is no curve here of base, seed 1" in said(app)


def test_cost_shows_every_model_that_was_measured(open_page, tmp_path: Path):
    write_results([*BASE, result("A-h1", 10.5), result("pre", None)], tmp_path / TABLE)
    by_parameters, by_speed = charts(open_page(look="Cost"))
    for figure in (by_parameters, by_speed):
        assert [(trace["name"], len(trace["text"])) for trace in figure["data"]] == [("base", 3), ("A", 1)]


def minute_row(name: str, distance: int | None, generated: float | None, seed: int = 1) -> MinuteResult:
    task = name.rpartition("-")[0]
    return MinuteResult(
        task=task, name=name, seed=seed, differs="", checkpoint="", distance=distance, n_pairs=100, nll=0.1,
        accuracy=0.9, generated=generated, parameters=1, tokens_per_second=1.0, device="cpu, 1 thread",
        diverged_at=None, steps=600, target_tokens=1, version="0", command="",
    )  # fmt: skip


def test_tasks_of_a_minute_are_means_over_seeds(open_page, tmp_path: Path):
    made = [minute_row("recall-full", far, 1.0) for far in (5, 50)]
    made += [minute_row("recall-window", far, share, seed) for seed in (1, 2) for far, share in ((5, 1.0), (50, 0.1))]
    made += [minute_row("reverse-masked", None, 0.5, 1), minute_row("reverse-masked", None, 1.0, 2)]
    rows.write_rows(made, MinuteResult, tmp_path / MINUTE_TABLE)
    app = open_page("In a minute")
    assert "From 50 places away: full attention: 100%, window of 7: 10%." in said(app)
    (figure,) = charts(app)
    assert [trace["name"] for trace in figure["data"]] == ["full attention", "window of 7"]
    frame = app.dataframe[0].value
    assert frame["model"].tolist() == ["with the causal mask"]
    assert frame["whole answers right, alone"].tolist() == [0.75]
    assert (frame["worst seed"][0], frame["best seed"][0]) == (0.5, 1.0)


def test_a_copy_is_as_far_apart_as_nothing(open_page, tmp_path: Path):
    shutil.copytree(tmp_path / "sentences", tmp_path / "twin")
    app = open_page(SIDE, sentence="The animal was tired.")
    app.selectbox(key="beside").set_value("twin").run()
    assert not app.exception
    assert "**What changed in twin**: nothing in the configuration." in said(app)
    apart = charts(app)[-1]["data"][0]
    assert apart["zmax"] == pytest.approx(np.log(2))
    assert "matched by what they attend to, their sum is 0.00; taken by place, 0.00" in said(app)
    assert "once the base has its second one" in said(app)


def test_a_head_that_moved_is_found_where_it_went(open_page, tmp_path: Path):
    """Heads 0 and 3 of the first encoder layer change places: rows of W_Q, W_K, W_V and columns of W_O."""
    folder = tmp_path / "moved"
    shutil.copytree(tmp_path / "sentences", folder)
    model = load_checkpoint(folder).model
    order = [3, 1, 2, 0]
    with torch.no_grad():
        attention = model.encoder[0].attention
        for linear in (attention.query, attention.key, attention.value):
            linear.weight.copy_(linear.weight.unflatten(0, (4, 4))[order].flatten(0, 1))
            linear.bias.copy_(linear.bias.unflatten(0, (4, 4))[order].flatten())
        attention.output.weight.copy_(attention.output.weight.unflatten(1, (4, 4))[:, order].flatten(1))
    save_weights(named_weights(model), folder / "model.safetensors")
    app = open_page(SIDE, sentence="The animal was tired.")
    app.selectbox(key="beside").set_value("moved").run()
    assert not app.exception
    assert "**sentences · Encoder self-attention L0·H0**" in said(app)
    assert "**moved · Encoder self-attention L0·H3**" in said(app)
    app.segmented_control(key="match").set_value("same place").run()
    assert "**moved · Encoder self-attention L0·H0**" in said(app)


def test_letters_and_sentences_do_not_compare(open_page):
    app = open_page(SIDE)
    app.selectbox(key="beside").set_value("letters").run()
    assert [warning.value for warning in app.warning] == [
        "letters reads letters and sentences sentences: choose two of the same kind."
    ]


def test_with_one_model_there_is_nothing_to_compare(open_page, tmp_path: Path):
    shutil.rmtree(tmp_path / "letters")
    assert "There is one model here" in said(open_page(SIDE))


def test_variants_of_the_family_can_be_chosen(open_page, tmp_path: Path):
    shutil.copytree(tmp_path / "sentences", tmp_path / "table3" / "uniform-1")
    app = open_page(SIDE, sentence="The animal was tired.")
    box = app.selectbox(key="beside")
    assert "uniform-1" in box.options
    app.selectbox(key="beside").set_value(str(tmp_path / "table3" / "uniform-1")).run()
    assert not app.exception
    assert "What changed in uniform" in said(app)
