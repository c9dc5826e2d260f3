"""Positional encodings: every view of every tab, with the models there are and without those there are not."""

import csv
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.encodings import beside, inside, waves
from tests.ablations.rows import row
from tests.conftest import ROOT
from tests.pages.five import make_five
from transformer.ablations.position_parts import ENCODINGS
from transformer.ablations.table import TABLE, Row, write_rows
from transformer.analysis.encodings import sinusoidal

TABS = ("Waves", "Learned beside fixed", "In the model")
RELATIVE, LENGTHS = beside.VIEWS[-1], inside.VIEWS[-1]


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_five(tmp_path_factory.mktemp("five"))


@pytest.fixture
def open_page(five: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens the page at a tab, with these query parameters, on some of the five checkpoints; by default on all."""

    def start(tab: str, *names: str, rows: list[Row] | None = None, **parameters: str) -> AppTest:
        for name in () if names == ("nothing",) else names or ENCODINGS:
            shutil.copytree(five / name, tmp_path / name)
        if rows is not None:
            write_rows(rows, tmp_path / TABLE)
        monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
        monkeypatch.setattr("transformer.folders.SHIPPED", tmp_path / "nothing")
        monkeypatch.setattr("transformer.ablations.rows.SHIPPED", tmp_path / "nothing")
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.query_params.update({"tab": tab, **parameters})
        app.switch_page("pages/positional_encodings.py").run()
        return app

    return start


def charts(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def said(app: AppTest) -> str:
    return " ".join(element.value for kind in (app.markdown, app.info, app.caption) for element in kind)


def sentences(app: AppTest) -> str:
    """The sentence as it was and as it was shuffled, as HTML."""
    return next(element.proto.body for element in app.get("html") if "shuffled" in element.proto.body)


def assert_plain(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize("view", waves.VIEWS)
def test_waves(open_page, view: str):
    app = open_page("Waves", "sinusoidal", waves=view)
    assert_plain(app)
    assert app.title[0].value == "Positional encodings"
    assert charts(app)


@pytest.mark.parametrize("view", waves.VIEWS)
@pytest.mark.parametrize("d_model", [2, 512])
@pytest.mark.parametrize("positions", [1, 2000])
def test_waves_at_their_ends(open_page, view: str, d_model: int, positions: int):
    app = open_page("Waves", "sinusoidal", waves=view, d_model=str(d_model), positions=str(positions), base="10")
    assert_plain(app)
    assert charts(app)


def test_waves_work_without_any_model(open_page):
    app = open_page("Waves", "nothing")
    assert_plain(app)
    assert charts(app)
    assert "Within your sentence" not in said(app)


def test_waves_mark_the_sentence_and_say_how_much_of_them_it_sees(open_page):
    app = open_page("Waves", "sinusoidal", sentence="The animal was tired.", d_model="128")
    assert "of 64 pairs turn by less than a quarter" in said(app)
    figure = charts(app)[0]
    assert any(shape["x0"] == -0.5 for shape in figure["layout"]["shapes"])


def test_positions_has_no_slider_where_it_would_move_nothing(open_page):
    app = open_page("Waves", "sinusoidal", waves="Wavelengths")
    assert [slider.key for slider in app.select_slider] == ["d_model", "base"]
    app = app.button_group(key="waves").set_value("Distance").run()
    assert [slider.key for slider in app.select_slider] == ["d_model", "base", "positions"]


def test_one_position_is_position_0_and_its_similarity_is_drawn(open_page):
    app = open_page("Waves", "sinusoidal", waves="Rotation", positions="1", d_model="2")
    assert "PE(0)" in json.dumps(charts(app))
    app = app.button_group(key="waves").set_value("Distance").run()
    assert charts(app)[1]["data"][1]["mode"] == "markers"


def test_the_one_wavelength_of_two_dimensions_grows_into_nothing(open_page):
    app = open_page("Waves", "sinusoidal", waves="Wavelengths", d_model="2")
    assert "**2π ≈ 6.28 positions**, in the one pair that there is" in said(app)


def test_a_link_holds_the_dimensions_drawn(open_page):
    app = open_page("Waves", "sinusoidal", d_model="64", pairs_64="10", waves="Rotation", position="7")
    assert_plain(app)
    assert app.multiselect(key="pairs_64").value == ["10"]
    assert app.slider(key="position").value == 7
    assert not any("left out" in element.proto.body for element in app.get("html"))


def test_moving_a_slider_draws_anew(open_page):
    app = open_page("Waves", "sinusoidal", waves="Rotation")
    before = charts(app)[0]
    app.slider(key="k").set_value(-5).run()
    assert_plain(app)
    assert charts(app)[0] != before
    assert "exact but for rounding" in said(app)


def test_waves_need_no_torch():
    """It takes seconds to import; the first tab is there before."""
    code = """
import sys
from pages.encodings import beside, inside, waves
from transformer.analysis.encodings import distance_profile, shift_error, shift_matrix, similarity, sinusoidal
from ui.encoding_figures import profile_figure, similarity_figure
from ui.table_figures import table_figure
from ui.wave_figures import rotation_figure, wave_figure, wavelength_figure
table = sinusoidal(9, 8)
shift_error(table, shift_matrix(1, 8), 1)
profile_figure({"sinusoidal": distance_profile(similarity(table))})
similarity_figure(similarity(table)), table_figure(table), wave_figure(9, 8, 1e4, [0]), wavelength_figure(8, 1e4)
rotation_figure(1, 2, 8, 1e4, [0, 1])
print("torch" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.stdout.strip() == "False", result.stderr


@pytest.mark.parametrize("view", beside.VIEWS)
@pytest.mark.parametrize("when", ["after training", "at the start"])
def test_learned_beside_fixed(open_page, view: str, when: str):
    app = open_page(TABS[1], "learned", beside_view=view, when=when)
    assert_plain(app)
    assert len(charts(app)) == {"Similarity": 3, "Norms": 1, "Best linear map": 1}.get(view, 2)


def test_norms_show_both_tables_and_ask_for_neither(open_page):
    app = open_page(TABS[1], "learned", beside_view="Norms")
    assert "when" not in [group.key for group in app.button_group]
    app = app.button_group(key="beside_view").set_value("Similarity").run()
    assert "when" in [group.key for group in app.button_group]


def test_rows_hardly_visited_are_shaded_and_left_out_of_fits(open_page):
    app = open_page(TABS[1], "learned")
    assert "Rows from 12 on (hatched) were visited by less than 1 %" in said(app)
    veil = charts(app)[1]["data"][-1]
    assert min(y for y in veil["y"]) == 11.5
    app = app.button_group(key="beside_view").set_value("Spectrum").run()
    assert "the 12 that at least 1 % of training's texts reach" in said(app)


def test_without_a_learned_model_the_page_says_how_to_train_one(open_page):
    app = open_page(TABS[1], "rope")
    assert_plain(app)
    assert [info.value for info in app.info] == [beside.HOW_TO_TRAIN]
    app.button_group(key="beside_view").set_value(RELATIVE).run()
    assert_plain(app)
    assert len(charts(app)) == 2, "RoPE and ALiBi need no model"


@pytest.mark.parametrize("view", inside.VIEWS)
@pytest.mark.parametrize("model", ENCODINGS)
def test_in_every_model(open_page, view: str, model: str):
    """The link's model and sentence are those that are shown."""
    app = open_page(TABS[2], inside=view, model=model, sentence="The animal was tired.", target="Das Tier war müde.")
    assert_plain(app)
    assert charts(app) or app.info
    assert app.selectbox(key="model").value == model
    assert app.text_area(key="sentence").value == "The animal was tired."


@pytest.mark.parametrize("model", ENCODINGS)
def test_parts_of_the_decoders_scores(open_page, model: str):
    app = open_page(TABS[2], model, inside="Position or content", side="decoder", model=model, target="Das Tier")
    assert_plain(app)
    n_parts = {"sinusoidal": 4, "learned": 4, "rope": 2, "alibi": 2, "none": 1}[model]
    shares, maps = charts(app)
    assert len(shares["data"]) == n_parts
    assert len(maps["data"]) == n_parts + 1


def test_no_band_beside_a_sentence_too_short_for_it(open_page):
    app = open_page(TABS[2], "sinusoidal", inside=inside.VIEWS[0], sentence="Hi", k="9")
    assert_plain(app)
    assert "none of them has another 9 places away" in app.info[0].value
    assert "nan" not in said(app)
    assert not charts(app)


def test_a_peak_at_0_is_no_head_that_goes_by_position(open_page):
    app = open_page(TABS[2], "sinusoidal", inside="By distance")
    peak = next(text.value for text in app.markdown if "Here H" in text.value)
    assert "to the token at +0" not in peak


def test_without_positions_outputs_shuffle_along(open_page):
    app = open_page(TABS[2], "sinusoidal", inside="Order matters", sentence="The animal was tired.")
    assert "**Without positions the outputs shuffle along**" in said(app)
    shuffled = sentences(app)
    app.button(key="shuffle_again").click().run()
    assert_plain(app)
    assert sentences(app) != shuffled


@pytest.mark.parametrize("view", inside.VIEWS[:-1])
@pytest.mark.parametrize("sentence", ["", "Hi", "word " * 70, "<b>&amp;</b> </s> $x^2$", "🇩🇪 שלום"])
def test_unusual_sentences_give_a_picture_or_a_sentence(open_page, view: str, sentence: str):
    app = open_page(TABS[2], "sinusoidal", inside=view, sentence=sentence, target="Das Tier")
    assert not app.exception
    assert not app.error
    assert charts(app) or app.info or app.warning


def test_a_link_with_nonsense_in_it_shows_the_first_view(open_page):
    app = open_page("Nothing", "sinusoidal", waves="?", d_model="17", base="x", positions="-1")
    assert_plain(app)
    assert charts(app)


def test_before_anything_is_measured_the_page_says_how_to(open_page):
    app = open_page(TABS[2], "sinusoidal", inside=LENGTHS)
    assert_plain(app)
    assert "`roundtable ablate positions`" in app.info[0].value


def test_the_length_plot_answers_whether_sinusoids_extrapolate(open_page):
    rows = [row("sinusoidal", 1, 20, 0.98, seed) for seed in (1, 2)]
    rows += [row("sinusoidal", 21, 60, accuracy, seed) for seed, accuracy in ((1, 0.2), (2, 0.3))]
    rows += [row("learned", 1, 20, 0.97), row("learned", 21, 60, None)]
    app = open_page(TABS[2], "sinusoidal", rows=rows, inside=LENGTHS)
    assert_plain(app)
    assert "Copy letters: **no (0 of 2 seeds)**; reverse letters: **not measured**" in said(app)
    assert "Sinusoids **do not reach on**: trained on up to 20 letters, they get 98% of letters right there" in said(
        app
    )
    assert "25% (20% to 30%) beyond; a model keeps 26% of what it gets right." in said(app)
    assert "| sinusoidal | 98% | 25% (20% to 30%) | 26% | no (0 of 2 seeds) | 2 |" in said(app)
    assert "| learned | 97% | cannot be read | – | they stop | 1 |" in said(app), "each encoding has its own seeds"
    assert "what is longer cannot be read at all" in said(app)
    assert "1–20: 10, 21–60: 10" in said(app)
    assert any("ends here" in note["text"] for note in charts(app)[0]["layout"]["annotations"])


def test_sinusoids_that_do_extrapolate_are_said_to(open_page):
    rows = [row("sinusoidal", 1, 20, 0.98), row("sinusoidal", 21, 60, 0.97)]
    app = open_page(TABS[2], "sinusoidal", rows=rows, inside=LENGTHS)
    assert "Sinusoids **do reach on**" in said(app)
    assert "**yes (1 of 1 seed)**" in said(app)


def test_real_text_stands_beside_what_models_keep_that_were_trained_on_all_lengths(open_page):
    shares = [("tatoeba", 54, 1, 0.5, 0.45), *(("short", 8, seed, 0.5, 0.3 + seed / 100) for seed in (1, 2, 3))]
    rows = [
        replace(row("sinusoidal", low, high, share, seed), part=part, unit="words", trained_to=trained_to)
        for part, trained_to, seed, *both in shares
        for (low, high), share in zip(((1, 8), (9, 30)), both, strict=True)
    ]
    app = open_page(TABS[2], "sinusoidal", rows=rows, inside=LENGTHS, task="translate, ≤ 8 words")
    assert_plain(app)
    kept = "a model keeps 64% of what it gets right, where one trained on all lengths keeps 90%"
    assert f"{kept}; chance alone makes up to 9.9%." in said(app)
    assert "| sinusoidal | 50% | 32% (31% to 33%) | 64% (90%) | no (0 of 3 seeds) | 3 |" in said(app)


def test_a_task_not_measured_yet_says_how_to_and_what_it_could_say(open_page):
    app = open_page(TABS[2], "sinusoidal", rows=[row("sinusoidal", 1, 20, 0.9)], inside=LENGTHS, task="reverse letters")
    assert_plain(app)
    assert "`roundtable ablate positions --parts reverse`" in app.info[0].value
    assert "no position into cross-attention" in app.info[0].value
    assert "unfair to them" in app.info[0].value
    assert not charts(app)


def test_what_a_link_says_of_the_length_test_is_taken_and_not_called_left_out(open_page):
    rows = [replace(row("sinusoidal", low, high, 0.9), part="shift-3") for low, high in ((1, 20), (21, 60))]
    app = open_page(TABS[2], "sinusoidal", rows=rows, inside=LENGTHS, task="letter 3 back", measured_by="perplexity")
    assert_plain(app)
    assert "perplexity" in charts(app)[0]["layout"]["yaxis"]["title"]["text"]
    assert not any("left out" in element.proto.body for element in app.get("html"))


def test_perplexity_has_round_numbers_on_its_axis(open_page):
    rows = [row("sinusoidal", 1, 20, 0.9), row("sinusoidal", 21, 60, 0.5)]
    app = open_page(TABS[2], "sinusoidal", rows=rows, inside=LENGTHS, measured_by="perplexity")
    ticks = charts(app)[0]["layout"]["yaxis"]["tickvals"]
    assert [tick for tick in ticks if 1 <= tick <= 50] == [1, 2, 5, 10, 20, 50]


def test_where_every_length_was_trained_on_nothing_is_said_of_beyond(open_page):
    app = open_page(
        TABS[2], "sinusoidal", rows=[row("sinusoidal", 1, 20, 0.9), row("learned", 1, 20, 0.8)], inside=LENGTHS
    )
    assert "Trained on every length, up to 20 letters" in said(app)
    assert "| learned | 80% | – | – | – | 1 |" in said(app)
    assert "reach on**" not in said(app)


def test_a_broken_table_gets_one_plain_sentence(open_page, tmp_path: Path):
    (tmp_path / TABLE).write_text("nonsense")
    app = open_page(TABS[2], "sinusoidal", inside=LENGTHS)
    assert not app.exception
    assert "is not a table of scores by length" in app.warning[0].value


Files = dict[str, Callable[[], bytes]]


@pytest.fixture
def files(open_page, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Files, str]]:
    """Opens a view and "Take it with you": what its buttons make, by the files' names, and the Python that it gives."""

    def take(tab: str, *names: str, **parameters) -> tuple[Files, str]:
        made: Files = {}

        def button(kind: str, make: Callable[[], bytes], name: str, key: str) -> None:
            made[f"{name}.{kind.lower()}"] = make

        monkeypatch.setattr("ui.take.file_button", button)
        app = open_page(tab, *names, **parameters)
        app.session_state["take"] = True
        app.run()
        assert_plain(app)
        return made, app.code[0].value

    return take


VIEWS = (
    *(("Waves", "waves", view) for view in waves.VIEWS),
    *((TABS[1], "beside_view", view) for view in beside.VIEWS),
    *((TABS[2], "inside", view) for view in inside.VIEWS),
)


@pytest.mark.parametrize(("tab", "key", "view"), VIEWS)
def test_every_view_gives_its_numbers_as_files_and_as_code(files, five, view: str, tab: str, key: str):
    rows = [row("sinusoidal", 1, 20, 0.9), row("sinusoidal", 21, 60, 0.5)]
    made, code = files(
        tab, "sinusoidal", "learned", rows=rows, model="sinusoidal", sentence="The animal was tired.",
        target="Das Tier war müde.", **{key: view},
    )  # fmt: skip
    assert any(name.endswith(".csv") for name in made)
    for name, make in made.items():
        content = make()
        if name.endswith(".csv"):
            table = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
            assert table
            assert json.loads(table[0]["about"])["program"] == "Roundtable"
            assert all(value != "" for one in table for column, value in one.items() if column != "about")
        elif name.endswith(".json"):
            written = json.loads(content)
            assert written["about"]["program"] == "Roundtable"
            assert written["rows"]
        else:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                assert len(stored.files) > 1
    scope: dict = {}
    if "[...]" not in code:
        exec(code, scope)


def test_the_encodings_in_the_file_are_those_shown(files):
    made, code = files("Waves", "sinusoidal", waves="Heat map", d_model="4", positions="10", base="100")
    table = list(csv.DictReader(io.StringIO(made["sinusoidal-10x4-encodings.csv"]().decode())))
    assert [one["position"] for one in table] == [str(at) for at in range(10)]
    assert float(table[3]["d2"]) == pytest.approx(np.sin(3 / 100**0.5))
    assert eval(code.splitlines()[-1], {"sinusoidal": sinusoidal}).shape == (10, 4)


def test_where_nothing_is_shown_nothing_is_given(open_page):
    app = open_page(TABS[2], "sinusoidal", inside=LENGTHS)
    app.session_state["take"] = True
    app.run()
    assert "There is nothing here to take" in said(app)
    assert not app.get("download_button")
