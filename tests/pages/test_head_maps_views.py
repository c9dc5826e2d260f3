"""Head maps beyond its first look: filters, the twin, summaries, two sentences, the table, BertViz, links, files."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests import hostile
from tests.conftest import ROOT
from tests.pages.pictures import assert_plain, grid, grids, opened, pixels, text
from transformer import load_checkpoint
from transformer.analysis.filters import Filters
from ui.component import BROKEN, FULL
from ui.markdown import plain

SENTENCE, TARGET = "The animal was tired.", "Das Tier war müde."


@pytest.fixture(scope="module")
def trace(checkpoints):
    return load_checkpoint(checkpoints / "sentences").trace(SENTENCE, TARGET)


def open_pair(open_app, **parameters):
    app = open_app(sentence=SENTENCE, target=TARGET, **parameters)
    assert_plain(app)
    assert not app.warning
    return app


def code(app) -> str:
    return app.code[0].value


FILTERS = {
    "threshold": ({"threshold": "0.1"}, Filters(threshold=0.1)),
    "top-k": ({"top_k": "2"}, Filters(top_k=2)),
    "no special tokens": ({"hide_special": "true"}, Filters(hide_special=True)),
    "renormalised": (
        {"hide_special": "true", "renormalize": "true"}, Filters(hide_special=True, renormalize=True),
    ),
    "words": ({"tokens": "words"}, Filters(words=True)),
    "layers and heads": (
        {"layers": ["1"], "heads": ["1", "3"], "layer": "1", "head": "3"}, Filters(layers=("1",), heads=("1", "3")),
    ),
    "mean of two heads": ({"summary": "mean", "heads": ["0", "2"]}, Filters(summary="mean", heads=("0", "2"))),
    "max": ({"summary": "max"}, Filters(summary="max")),
    "rollout": ({"summary": "rollout"}, Filters(summary="rollout")),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize(("asked", "filters"), FILTERS.values(), ids=FILTERS.keys())
def test_grid_and_opened_head_follow_the_filters(open_app, trace, kind, asked, filters):
    app = open_pair(open_app, kind=kind, **asked)
    wanted = filters.apply(trace, kind)
    assert (grid(app)["layers"], grid(app)["heads"]) == (list(wanted.layers), list(wanted.heads))
    assert grid(app)["queries"] == list(wanted.queries.labels)
    assert grid(app)["keys"] == list(wanted.keys.labels)
    layer, head = grid(app)["selected"]
    shown = opened(app)
    assert np.array_equal(np.isnan(shown), ~wanted.mask)
    assert np.allclose(shown[wanted.mask], wanted.pattern[layer, head][wanted.mask], atol=1e-6)
    assert np.allclose(pixels(app)[..., wanted.mask] / FULL, wanted.pattern[..., wanted.mask].clip(0, 1), atol=0.003)
    assert str(filters) in text(app)


def test_weighing_by_norm_shows_shares_of_what_is_taken(open_app, trace, checkpoints):
    from transformer.analysis.value_norms import value_norms

    app = open_pair(open_app, kind="cross", weighting="norm", layer="2", head="1")
    norms = value_norms(load_checkpoint(checkpoints / "sentences"), trace.source, trace.decoder.keys)
    wanted = Filters(weighting="norm").apply(trace, "cross", norms)
    assert np.allclose(opened(app), wanted.pattern[2, 1], atol=1e-6)
    assert not np.allclose(opened(app), trace.cross.pattern[2, 1], atol=1e-3)
    assert "length of the value vectors" in text(app)


def test_a_layer_outside_the_chosen_ones_is_not_offered(open_app):
    app = open_pair(open_app, kind="decoder", layers=["1", "2"], layer="2")
    assert app.selectbox(key="layer").options == ["1", "2"]
    assert grid(app)["selected"] == [1, 0]
    assert "L2·H0" in text(app)


def test_the_twin_has_the_same_rows_and_other_heads(open_app):
    trained = open_pair(open_app, kind="cross")
    twin = open_pair(open_app, kind="cross", weights="untrained")
    assert grid(trained)["queries"] == grid(twin)["queries"]
    assert grid(trained)["keys"] == grid(twin)["keys"]
    assert "untrained" in text(twin)
    assert "typed target; its untrained twin reads it" in text(twin)


def test_the_twin_reads_the_translation_of_the_trained_model(open_app):
    trained, twin = open_app(kind="decoder"), open_app(kind="decoder", weights="untrained")
    assert_plain(twin)
    assert grid(trained)["queries"] == grid(twin)["queries"]
    assert "sentences writes, trained; its untrained twin reads it" in text(twin)


@pytest.mark.parametrize("summary", ["mean", "max", "rollout"])
def test_a_summary_says_what_it_means_and_what_not(open_app, summary):
    said = text(open_pair(open_app, summary=summary))
    assert {"mean": "It does not show", "max": "not which", "rollout": "not what was used"}[summary] in said


def test_attention_is_called_no_explanation_and_near_uniform_heads_are_named(open_app):
    app = open_pair(open_app)
    assert "not explanation" in text(app)
    assert "of 8 heads" in text(app)
    assert "near uniform" in text(app)


def test_two_sentences_stand_beside_each_other_under_the_same_controls(open_app):
    app = open_app(sentence="A street", shown="Two sentences", second="The animal", layer="1", head="2")
    assert_plain(app)
    assert len(grids(app)) == 2
    assert "".join(grid(app, 0)["queries"]).replace("␣", "") == "Astreet</s>"
    assert "".join(grid(app, 1)["queries"]).replace("␣", "") == "Theanimal</s>"
    assert grid(app, 0)["selected"] == grid(app, 1)["selected"] == [1, 2]
    assert text(app).count("L1·H2") == 2
    assert opened(app, 0).shape == (len(grid(app, 0)["queries"]),) * 2
    assert opened(app, 1).shape == (len(grid(app, 1)["queries"]),) * 2


@pytest.mark.parametrize("filters", [{}, {"hide_special": "true", "tokens": "words", "threshold": "0.02"}])
def test_two_sentences_are_taken_together(open_app, filters):
    asked = {"sentence": SENTENCE, "target": TARGET, "shown": "Two sentences", "second": "The animal", "kind": "cross"}
    app = open_app(**asked, **filters)
    app.session_state.take = True
    app.run()
    assert_plain(app)
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["SVG", "CSV", "NPZ", "JSON", "HTML, sentence 1", "HTML, sentence 2"]
    names: dict = {}
    *lines, last = code(app).splitlines()
    exec("\n".join(lines), names)
    for place, pattern in enumerate(eval(last, names)):
        shown = opened(app, place)
        drawn = ~np.isnan(shown)
        assert np.allclose(shown[drawn], pattern[drawn], atol=1e-6)
    app.text_input(key="second").set_value("").run()
    assert_plain(app)
    assert [plain("The sentence is empty; type at least one word.")] == [info.value for info in app.info]


def test_an_empty_second_sentence_leaves_the_first(open_app):
    app = open_app(sentence="A street", shown="Two sentences")
    app.text_input(key="second").set_value("").run()
    assert_plain(app)
    assert len(grids(app)) == 1
    assert [plain("The sentence is empty; type at least one word.")] == [warning.value for warning in app.warning]


def test_the_table_has_the_numbers_of_the_picture(open_app, trace):
    app = open_pair(open_app, kind="decoder", shown="Table", layer="1", head="3")
    frame = app.dataframe[0].value
    weights = frame.iloc[:, 1:].to_numpy()
    assert np.array_equal(np.isnan(weights), ~trace.decoder.mask)
    assert np.allclose(weights[trace.decoder.mask], trace.decoder.pattern[1, 3][trace.decoder.mask], atol=1e-6)
    assert list(frame.columns[1:]) == [f"{at} {label}" for at, label in enumerate(trace.decoder.keys.labels)]
    assert list(frame.iloc[:, 0]) == [f"{at} {label}" for at, label in enumerate(trace.decoder.queries.labels)]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("view", ["head view", "model view"])
def test_bertviz_draws_the_kind_that_is_chosen(open_app, kind, view):
    app = open_pair(open_app, kind=kind, shown="BertViz", bertviz=view, layers=["0", "1"])
    assert view in app.get("iframe")[0].proto.srcdoc
    assert "sandbox" in app.get("iframe")[0].proto.srcdoc
    assert not grids(app)


def test_what_is_too_long_for_bertviz_gets_one_plain_sentence(open_app):
    app = open_app(sentence="a street " * 60, target="Das", shown="BertViz")
    assert_plain(app)
    assert "BertViz's head view becomes unusable beyond" in app.info[0].value


def test_nothing_of_bertviz_is_loaded_before_its_tab_is_opened(checkpoints):
    script = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60)
app.query_params.update({"model": "sentences", "sentence": "A street", "target": "Das"})
app.run()
assert not app.exception
assert "bertviz" not in sys.modules and "IPython" not in sys.modules
"""
    environment = {"ROUNDTABLE_CHECKPOINTS": str(checkpoints), "PATH": "/usr/bin:/bin", "HOME": str(checkpoints)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_link_with_nonsense_says_what_it_left_out(open_app):
    app = open_app(
        model="nowhere", kind="cross", layer="99", threshold="much", top_k="-3", heads=["1", "77"],
        shown="<b>Table</b>", summary="best", hide_special="perhaps", sentence="A street",
    )  # fmt: skip
    assert_plain(app)
    said = text(app).split("this was left out: ")[1].split(".</div>")[0]
    assert said.split(", ") == [
        "model=nowhere", "summary=best", "hide_special=perhaps", "heads=77", "threshold=much", "top_k=-3", "layer=99",
        "shown=&lt;b&gt;Table&lt;/b&gt;",
    ]  # fmt: skip
    assert grid(app)["heads"] == ["1"]
    app.run()
    assert "left out" not in text(app), "the address bar holds it no longer"


def test_parameters_that_no_control_knows_are_named_and_leave_the_address(open_app):
    app = open_app(mean="true", beam="4", kind="cross", sentence="A street", **{"<i>": "1"})
    assert_plain(app)
    assert "this was left out: mean=true, beam=4, &lt;i&gt;=1.</div>" in text(app)
    assert set(app.query_params) == {"model", "kind", "sentence"}
    app.button_group(key="kind").set_value("decoder").run()
    app.run()
    assert "left out" not in text(app)


def test_a_whole_link_says_nothing_of_nonsense(open_app):
    app = open_pair(
        open_app, kind="cross", layer="1", head="2", threshold="0.05", top_k="3", heads=["1", "2"], tokens="words",
        hide_special="true", renormalize="true", weighting="norm", weights="untrained", opened_view="Map",
    )  # fmt: skip
    assert "left out" not in text(app)


CODES = {
    "as traced": {},
    "cross, filtered": {"kind": "cross", "hide_special": "true", "tokens": "words", "threshold": "0.1", "layer": "2"},
    "untrained": {"kind": "decoder", "weights": "untrained", "head": "3"},
    "by norm": {"kind": "cross", "weighting": "norm", "top_k": "2", "head": "1"},
    "by norm, untrained": {"kind": "encoder", "weighting": "norm", "weights": "untrained"},
    "rollout of two heads": {"kind": "cross", "summary": "rollout", "heads": ["0", "3"], "layer": "1"},
    "one layer": {"kind": "decoder", "layers": ["2"], "layer": "2", "head": "2"},
}


@pytest.mark.parametrize("asked", CODES.values(), ids=CODES.keys())
@pytest.mark.parametrize("target", [TARGET, ""])
def test_the_code_reproduces_the_numbers_of_the_page(open_app, asked, target):
    app = open_app(sentence=SENTENCE, target=target, **asked)
    app.session_state.take = True
    app.run()
    assert_plain(app)
    names: dict = {}
    lines = code(app).splitlines()
    exec("\n".join(lines[:-1]), names)
    assert sum(1 for line in lines if line and not line.startswith("from ")) == 4
    weights = eval(lines[-1], names)
    mask = names["view"].mask
    assert np.allclose(opened(app)[mask], weights[mask], atol=1e-5)
    assert len(grid(app)["heads"]) == names["view"].pattern.shape[1]


@pytest.fixture(scope="module")
def opened_pages() -> list[AppTest]:
    """Holds a page that is opened once and then given one text after the other."""
    return []


@pytest.mark.parametrize("words", hostile.PARAMETERS)
def test_hostile_text_goes_through_the_page_and_its_popover(open_app, opened_pages, words):
    if not opened_pages:
        opened_pages.append(open_app(kind="cross"))
        opened_pages[0].session_state.take = True
    (app,) = opened_pages
    for key in ("sentence", "target"):
        app.text_area(key=key).set_value(words)
    app.run()
    assert_plain(app)
    assert not app.warning
    assert grids(app)
    assert "<script" not in text(app)
    assert "<img" not in text(app)
    names: dict = {}
    exec(code(app), names)
    assert names["trace"].source_text == words
    assert names["trace"].target_text == words
    labels = {button.proto.label for button in app.get("download_button")}
    assert labels == {"SVG", "CSV", "NPZ", "JSON", "HTML"}


@pytest.mark.parametrize("words", hostile.BLANK.values(), ids=hostile.BLANK.keys())
def test_blank_text_is_refused_in_one_sentence(open_app, words):
    app = open_app()
    app.text_area(key="sentence").set_value(words).run()
    assert_plain(app)
    assert len(app.warning) == 1


def test_512_words_go_through_all_tabs(open_app):
    for shown in ("Heads", "Table", "BertViz"):
        app = open_app(sentence=hostile.LONG, target="Das Tier", shown=shown, kind="cross")
        assert_plain(app)
        assert not app.warning


def test_chosen_layers_that_another_kind_does_not_have_fall_away(open_app):
    app = open_pair(open_app, kind="decoder", layers=["2"], layer="2")
    app.button_group(key="kind").set_value("encoder").run()
    assert_plain(app)
    assert grid(app)["layers"] == ["0", "1"]
    assert grid(app)["selected"] == [0, 0]


def test_another_model_keeps_what_it_has_of_the_view(open_app):
    app = open_pair(open_app, kind="decoder", layers=["0", "2"], heads=["3"], layer="2", head="3", threshold="0.1")
    app.selectbox(key="model").set_value("letters").run()
    assert_plain(app)
    assert (grid(app)["layers"], grid(app)["heads"]) == (["0"], ["3"])
    assert "weights from 0.1 on" in text(app)


def test_making_rows_sum_to_1_waits_for_hiding(open_app):
    app = open_pair(open_app, hide_special="true", renormalize="true")
    assert "divided by what is left" in text(app)
    app.toggle(key="hide_special").set_value(False).run()
    assert_plain(app)
    assert "divided" not in text(app)
    assert app.toggle(key="renormalize").disabled


@pytest.fixture
def broken(checkpoints, tmp_path, monkeypatch):
    """A checkpoint whose last encoder layer has one weight that is no number, as after a run that diverged."""
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "broken"
    shutil.copytree(checkpoints / "sentences", folder)
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in sorted(weights) if name.startswith("encoder.1") and "query.weight" in name)
    weights[name][0, 0] = float("nan")  # of head 0
    save_file(weights, folder / "model.safetensors")
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))


@pytest.mark.parametrize("shown", ["Heads", "Table", "BertViz", "Two sentences"])
def test_weights_that_are_no_numbers_are_flagged_in_every_tab(open_app, broken, shown):
    app = open_app(model="broken", sentence=SENTENCE, target=TARGET, shown=shown, layer="1")
    assert_plain(app)
    said = text(app) + " ".join(info.value for info in app.info)
    assert "NaN" in said
    if shown == "Heads":
        assert grid(app)["broken"]
        marked = pixels(app) == BROKEN
        assert marked[1, 0].all()
        assert not marked[0].any()
    if shown == "Table":
        assert "not a number" in app.dataframe[0].value.to_numpy()


def test_a_model_that_cannot_translate_says_why_and_shows_its_encoder(open_app, broken):
    app = open_app(model="broken", sentence=SENTENCE)
    assert_plain(app)
    assert len(app.warning) == 1
    assert plain("its scores are not numbers (NaN)") in app.warning[0].value
    assert grid(app)["broken"]
