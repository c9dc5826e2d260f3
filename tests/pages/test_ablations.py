"""The page Ablations: its tables, absent, broken, partly filled and whole. Side by side has a file of its own."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.ablations.results import result
from tests.pages.compared import charts, open_page, said
from transformer.ablations import rows
from transformer.ablations.results import MINUTE_TABLE, TABLE, MinuteResult, write_results
from transformer.ablations.verdicts import n_models

__all__ = ["open_page"]

BASE = [result("base", 10.0, 20.0, 1), result("base", 10.2, 20.4, 2), result("base", 10.1, 20.2, 3)]


def test_without_a_table_it_says_what_makes_one(open_page):
    assert "`roundtable ablate table3-small` trains a base and its variants" in said(open_page())
    assert "`roundtable ablate minute` trains these small models" in said(open_page("In a minute"))


@pytest.mark.parametrize(("tab", "table"), [("Table 3", TABLE), ("In a minute", MINUTE_TABLE)])
def test_a_broken_table_is_one_sentence(open_page, tmp_path: Path, tab: str, table: str):
    (tmp_path / table).write_text("a,b\n<b>1</b>,2\n")
    app = open_page(tab)
    assert len(app.warning) == 1
    assert "its columns are not" in app.warning[0].value


def test_a_table_without_a_base_compares_nothing_and_shows_what_there_is(open_page, tmp_path: Path):
    write_results([result("A-h1", 10.0)], tmp_path / TABLE)
    app = open_page()
    assert "The base is not measured yet" in said(app)
    assert f"**1 of {n_models()}** models are measured." in said(app)
    assert app.dataframe[0].value["perplexity"].tolist() == [10.0]
    assert app.dataframe[0].value["by perplexity"].tolist() == ["nothing to compare with yet"]


def test_with_the_base_alone_its_seeds_stand_there(open_page, tmp_path: Path):
    write_results(BASE[:2], tmp_path / TABLE)
    app = open_page()
    assert "The base is measured, and nothing else yet." in said(app)
    assert "missing: base, seed 3, base, seed 4, base, seed 5, A-h1, " in said(app)
    (row,) = app.dataframe[0].value.to_dict("records")
    assert row["perplexity"] == pytest.approx(10.1)
    assert row["differs from base"] == "mean of 2 seeds, perplexity 10.00 to 10.20"
    assert charts(app) == []


def test_with_one_seed_of_the_base_it_says_that_nothing_can_be_told(open_page, tmp_path: Path):
    write_results([BASE[0], result("A-h1", 99.0)], tmp_path / TABLE)
    assert "With one seed of the base nothing says how much is chance" in said(open_page())


def test_what_holds_is_counted_and_what_turns_round_is_named(open_page, tmp_path: Path):
    variants = [result("A-h1", 11.0, 19.0), result("B-dk8", 9.0, 20.3), result("E-learned", 10.1), result("pre", None)]
    write_results([*BASE, *variants], tmp_path / TABLE)
    app = open_page()
    text = said(app)
    assert "Of 3 findings of the paper, by perplexity: holds **1**, does not hold **1**, cannot tell **1**." in text
    assert "By perplexity these turn round: `B-dk8`." in text
    assert "3.0 million target tokens" in text
    assert "The base has 3 seeds, every other row one. The grey band, ±0.50 perplexity and ±1.0 BLEU" in text
    assert "Diverged: `pre`." in text
    assert f"**7 of {n_models()}** models are measured." in text
    assert "missing: base, seed 4, base, seed 5, A-h2, A-h8" in text
    frame = app.dataframe[0].value
    by_row = {row["row"]: row for _, row in frame.iterrows()}
    assert by_row["A-h1"]["by perplexity"] == "holds"
    assert by_row["A-h1"]["Δ ours"] == pytest.approx(0.9)
    assert by_row["A-h1"]["Δ paper"] == pytest.approx(0.37)
    assert by_row["pre"]["by perplexity"] == "diverged"
    assert np.isnan(by_row["pre"]["perplexity"])
    (figure,) = charts(app)
    assert figure["layout"]["yaxis"]["ticktext"] == ["A-h1", "B-dk8", "E-learned", "pre"]


def test_a_model_that_learned_nothing_is_called_failed_and_is_not_drawn_over_cost(open_page, tmp_path: Path):
    variants = [result("C-n6", 10094.6, 0.0), result("unscaled-dk32", 50.0, 0.99), result("uniform", 11.0, 1.0)]
    write_results([*BASE, *variants], tmp_path / TABLE)
    app = open_page()
    assert "without learning to translate (BLEU below 1): `C-n6`, `unscaled-dk32`." in said(app)
    verdicts = dict(zip(app.dataframe[0].value["row"], app.dataframe[0].value["by perplexity"], strict=True))
    assert verdicts["C-n6"] == "failed: cannot tell"
    assert verdicts["unscaled-dk32"] == "failed"
    app = open_page(look="Cost")
    assert "Diverged or failed, and so not drawn: C-n6, seed 1; unscaled-dk32, seed 1." in said(app)
    assert [trace["name"] for trace in charts(app)[0]["data"]] == ["base", "M"]
    first = open_page(look="Curves").multiselect(key="curves_of").value
    assert first == ["base, seed 1", "C-n6, seed 1", "unscaled-dk32, seed 1", "uniform, seed 1"]


def test_what_turns_round_but_not_at_another_rate_says_so(open_page, tmp_path: Path):
    variants = [
        result("D-drop0", 8.0),
        result("C-d256", 15.0),
        result("rate-half", 12.0),
        result("rate-half-d256", 9.0),
    ]
    write_results([*BASE, *variants], tmp_path / TABLE)
    assert "By perplexity these turn round: `D-drop0`, `C-d256` (not in `rate-half-d256`)." in said(open_page())


def test_curves_are_read_where_the_models_lie(open_page, tmp_path: Path):
    write_results([*BASE, result("A-h1", None)], tmp_path / TABLE)
    folder = tmp_path / "table3" / "A-h1-1"
    folder.mkdir(parents=True)
    lines = [{"step": step, "validation_nll": 5 - step / 1000} for step in (500, 1000)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    app = open_page(look="Curves")
    (figure,) = charts(app)
    assert figure["data"][0]["name"] == "A-h1, seed 1: diverged before step 1,200", "a diverged model has its curve"
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


def test_one_seed_that_learned_with_one_head_says_that_a_single_head_can(open_page, tmp_path: Path):
    of_one = [minute_row("two-places-h1", None, share, seed) for seed, share in ((1, 0.02), (2, 1.0), (3, None))]
    of_two = [minute_row("two-places-h2", None, share, seed) for seed, share in ((1, 1.0), (2, 0.989), (3, 0.99))]
    rows.write_rows([*of_one, *of_two], MinuteResult, tmp_path / MINUTE_TABLE)
    shown = said(open_page("In a minute"))
    assert "one head 1 of 3 seeds, two heads 2 of 3 seeds. **One head can do it**" in shown
    rows.write_rows(of_one[::2] + of_two, MinuteResult, tmp_path / MINUTE_TABLE)
    assert "one head 0 of 2 seeds, two heads 2 of 3 seeds. No seed has learned it with one head." in said(
        open_page("In a minute")
    )
