"""Training: every view with runs in every state, what their buttons do, and what is never put on one axis."""

import json
import os

import numpy as np
import pytest

from pages.runs.translations import probe_html, stretches
from tests import hostile
from tests.pages.made_runs import add_tokenizer, make_loadable, make_run, no_processes
from tests.ui.test_film import PROBE, many_heads, read
from transformer.training import locks, runs
from transformer.training.probes import Probe, save_probes
from transformer.training.status import LOCK_FILE, STOP_FILE
from ui.film import NEWEST
from ui.markdown import plain
from ui.run_text import duration

PAGE = "pages/training.py"
CURVES, PATTERNS, TRANSLATIONS, ALL = "Curves", "Patterns over training", "Translations", "All runs"


@pytest.fixture
def folder(open_app, tmp_path, monkeypatch):
    """Where runs are; there is no other checkpoint."""
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("transformer.folders.SHIPPED", tmp_path / "nothing")
    return tmp_path


@pytest.fixture
def open_page(open_app, folder):
    def start(tab: str = CURVES, **parameters):
        app = open_app(training_tab=tab, **parameters)
        app.switch_page(PAGE).run()
        assert not app.exception
        return app

    return start


def charts(app) -> dict[str, dict]:
    """Every ECharts option by its title."""
    options = [json.loads(chart.proto.spec) for chart in app.get("echarts_chart")]
    return {option["title"]["text"]: option for option in options}


def text(app) -> str:
    return " ".join(element.proto.body for element in app.main.get("html"))


def held(path):
    """The lock of a run, as its process would hold it."""
    descriptor = locks.take(path / LOCK_FILE)
    assert descriptor is not None
    return descriptor


def test_without_a_run_it_says_how_to_start_one(open_page):
    app = open_page()
    assert app.title[0].value == "Training"
    assert [info.value for info in app.main.info] == [
        "There is no run yet: open “Train a model” in the sidebar and press “Train”."
    ]


def test_it_opens_on_the_newest_run_with_all_its_curves(open_page, folder):
    make_run(folder, "older", created=1.0)
    make_run(folder, "newer", created=2.0)
    app = open_page()
    assert app.multiselect(key="runs").value == ["newer"]
    drawn = charts(app)
    assert set(drawn) == {
        "Loss", "Perplexity", "Objective, with label smoothing", "Learning rate", "Gradient norm", "Speed",
    }  # fmt: skip
    training, validation = drawn["Loss"]["series"]
    assert training["data"] == [[5, 2.0], [10, 1.0]]
    assert validation["data"] == [[5, 1.0]]
    assert drawn["Perplexity"]["series"][0]["data"] == [[5, pytest.approx(np.e**2)], [10, pytest.approx(np.e)]]
    assert drawn["Objective, with label smoothing"]["series"][0]["data"] == [[5, 2.5], [10, 1.5]]
    assert drawn["Learning rate"]["series"][0]["data"] == [[5, 0.001], [10, 0.002]]
    assert drawn["Gradient norm"]["series"][0]["data"] == [[5, 1.5], [10, 1.0]]
    assert drawn["Speed"]["series"][0]["data"] == [[5, 100.0], [10, 90.0]]


def test_it_opens_on_the_run_that_trains(open_page, folder):
    path = make_run(folder, "live", state="running", created=1.0)
    make_run(folder, "newer", created=2.0)
    descriptor = held(path)
    app = open_page()
    os.close(descriptor)
    assert app.multiselect(key="runs").value == ["live"]


def test_smoothing_leaves_the_curve_itself_behind_the_smooth_one(open_page, folder):
    make_run(folder, "one")
    app = open_page(smoothing="0.5")
    faint, smooth, validation = charts(app)["Loss"]["series"]
    assert faint["data"] == [[5, 2.0], [10, 1.0]]
    assert smooth["data"] == [[5, 2.0], [10, pytest.approx(4 / 3)]]  # (¼·2 + ½·1) / ¾
    assert validation["data"] == [[5, 1.0]]
    assert len(charts(app)["Learning rate"]["series"]) == 1


def test_runs_with_one_tokenizer_share_axes(open_page, folder):
    for name in ("one", "two"):
        add_tokenizer(make_run(folder, name))
    app = open_page()
    app.multiselect(key="runs").set_value(["one", "two"]).run()
    assert {"Loss", "Perplexity"} <= set(charts(app))
    names = [each["name"] for each in charts(app)["Loss"]["series"]]
    assert names == ["one, training", "one, validation", "two, training", "two, validation"]
    colours = [each["color"] for each in charts(app)["Speed"]["series"]]
    assert len(set(colours)) == 2


def test_perplexities_of_different_tokenizers_are_on_axes_of_their_own(open_page, folder):
    for name, size in (("one", 310), ("two", 310), ("three", 320)):
        add_tokenizer(make_run(folder, name), size)
    app = open_page()
    app.multiselect(key="runs").set_value(["one", "three", "two"]).run()
    assert not app.exception
    drawn = charts(app)
    for what in ("Loss", "Perplexity"):
        assert {each["name"].split(",")[0] for each in drawn[f"{what} of one, two"]["series"]} == {"one", "two"}
        assert len(drawn[f"{what} of three"]["series"]) == 2
        assert what not in drawn
    assert "cannot be compared" in app.main.caption[0].value
    assert len(drawn["Learning rate"]["series"]) == 3


def test_a_run_that_has_logged_nothing_says_so(open_page, folder):
    (make_run(folder, "one", state="queued") / "metrics.jsonl").unlink()
    app = open_page()
    assert "Nothing is logged yet" in app.main.info[0].value


def test_a_torn_and_a_senseless_line_are_left_out(open_page, folder):
    path = make_run(folder, "one")
    with (path / "metrics.jsonl").open("a") as file:
        file.write('[]\n{"step": "x"}\n{"step": 15, "nll": NaN}\n{"step": 20, "nll": 0.')
    app = open_page()
    assert charts(app)["Loss"]["series"][0]["data"] == [[5, 2.0], [10, 1.0], [15, None]]


@pytest.mark.parametrize(
    ("state", "buttons"),
    [
        ("finished", {"more"}),
        ("stopped", {"resume", "more"}),
        ("failed", {"resume", "more"}),
        ("running", {"resume", "more"}),  # without its lock it is lost
    ],
)
def test_a_run_without_a_process_has_the_buttons_that_make_sense(open_page, folder, state, buttons):
    make_run(folder, "one", state=state, step=4, message="Why.")
    app = open_page()
    keys = {button.key for button in app.main.button}
    assert ("resume_one" in keys) == ("resume" in buttons)
    assert {"rename_one", "delete_one"} <= keys
    assert not {"page_stop_one", "open_one"} & keys
    assert "<strong>one</strong>" in text(app)
    assert ("lost · step 0 of 10" if state == "running" else f"{state} · step 4 of 10") in text(app)


def test_a_live_run_can_be_stopped_from_page_and_sidebar_alone(open_page, folder, monkeypatch):
    monkeypatch.setattr(runs, "_see_to_end", lambda lock, grace: None)
    path = make_run(folder, "one", state="running", step=4, seconds_left=75.0, tokens_per_second=1234.0)
    descriptor = held(path)
    app = open_page()
    assert {"page_stop_one"} == {button.key for button in app.main.button}
    assert "1 min 15 s left" in text(app)
    assert "1,234 target tokens/s" in text(app)
    app.sidebar.button(key="stop_one").click().run()
    assert (path / STOP_FILE).exists()
    assert not app.exception
    assert app.sidebar.button(key="stop_one").disabled
    assert app.button(key="page_stop_one").disabled
    os.close(descriptor)
    app.run()
    assert "stopped" in text(app)
    assert app.button(key="resume_one")
    assert "stop_one" not in {button.key for button in app.sidebar.button}


def test_queued_runs_are_counted_in_the_sidebar(open_page, folder):
    descriptors = [held(make_run(folder, name, state=state)) for name, state in
                   (("a", "running"), ("b", "queued"), ("c", "queued"))]  # fmt: skip
    app = open_page()
    assert [button.key for button in app.sidebar.button if str(button.key).startswith("stop_")] == ["stop_a"]
    assert "2 wait for the device." in [caption.value for caption in app.sidebar.caption]
    for descriptor in descriptors:
        os.close(descriptor)


def test_resume_starts_a_process_and_says_why_it_cannot(open_page, folder, monkeypatch):
    started = no_processes(monkeypatch)
    make_run(folder, "one", state="stopped", step=4)
    app = open_page()
    app.button(key="resume_one").click().run()
    assert started == ["one"]
    assert not app.exception
    app = open_page()
    descriptor = held(folder / "one")
    app.button(key="resume_one").click().run()
    os.close(descriptor)
    assert not app.exception
    assert started == ["one"]


def test_deleting_asks_first(open_page, folder):
    make_run(folder, "one")
    app = open_page()
    app.button(key="delete_one").click().run()
    assert (folder / "one").exists()
    assert "This cannot be undone." in " ".join(markdown.value for markdown in app.markdown)
    app.button(key="delete_not").click().run()
    assert (folder / "one").exists()
    app.button(key="delete_one").click().run()
    app.button(key="delete_now").click().run()
    assert not (folder / "one").exists()
    assert not app.exception


def test_a_renamed_run_stays_in_view(open_page, folder):
    make_run(folder, "one")
    make_run(folder, "two", created=5.0)
    app = open_page(runs="one")
    assert app.multiselect(key="runs").value == ["one"]
    app.button(key="rename_one").click().run()
    app.text_input(key="new_name_one").set_value("../x")
    app.button(key="rename_now").click().run()
    assert [path.name for path in sorted(folder.iterdir())] == ["one", "two"]
    app.button(key="rename_one").click().run()
    assert "cannot name a checkpoint" in app.warning[0].value.replace("\\", "")
    app.text_input(key="new_name_one").set_value("new")
    app.button(key="rename_now").click().run()
    assert (folder / "new").exists()
    assert app.multiselect(key="runs").value == ["new"]


def test_what_was_typed_for_one_run_is_not_offered_for_another(open_page, folder):
    """A dialog that is closed by its cross keeps its widgets."""
    make_run(folder, "one")
    make_run(folder, "two", created=5.0)
    app = open_page(runs=["one", "two"])
    app.button(key="rename_one").click().run()
    app.text_input(key="new_name_one").set_value("typed").run()
    app.button(key="rename_two").click().run()
    assert app.text_input(key="new_name_two").value == "two"


def test_a_run_that_vanished_leaves_the_choice(open_page, folder):
    make_run(folder, "one", created=1.0)
    path = make_run(folder, "two", created=2.0)
    app = open_page()
    app.multiselect(key="runs").set_value(["one", "two"]).run()
    for file in path.iterdir():
        file.unlink()
    path.rmdir()
    app.run()
    assert not app.exception
    assert app.multiselect(key="runs").value == ["one"]


def test_where_no_chosen_run_is_left_the_newest_is_shown(open_page, folder):
    make_run(folder, "one", created=1.0)
    make_run(folder, "two", created=2.0)
    app = open_page()
    app.button(key="delete_two").click().run()
    app.button(key="delete_now").click().run()
    assert app.multiselect(key="runs").value == ["one"]
    app.multiselect(key="runs").set_value([]).run()
    assert app.main.info[0].value == "Choose at least one run.", "what somebody emptied stays empty"


def test_a_saved_run_opens_on_head_maps_with_its_probe(open_page, folder):
    make_loadable(make_run(folder, "one"), "a b c\tc b a")
    app = open_page()
    app.button(key="open_one").click().run()
    assert app.title[0].value == "Head maps"
    assert app.selectbox(key="model").value == "one"
    assert (app.text_area(key="sentence").value, app.text_area(key="target").value) == ("a b c", "c b a")


def test_patterns_are_a_film_with_entropies(open_page, folder):
    save_probes(make_run(folder, "one"), [PROBE])
    app = open_page(PATTERNS, kind="cross")
    assert len(app.get("bidi_component")) == 1
    (entropy,) = charts(app).values()
    assert [each["name"] for each in entropy["series"]] == ["L0·H0"]
    assert entropy["series"][0]["data"] == [[0, 0.0], [7, 1.0]]


@pytest.mark.parametrize("asked", ["0", "7", "3", "-1", "x", "99999999999", "٠"])
def test_a_link_keeps_the_step_of_a_film_unless_it_is_the_newest_or_none(open_page, folder, asked):
    save_probes(make_run(folder, "one"), [PROBE])
    app = open_page(PATTERNS, training_step=asked)
    assert not app.exception
    assert app.query_params.get("training_step") == ("0" if asked == "0" else None)
    header, _ = read(app.get("bidi_component")[0].proto.bytes)
    assert header["step"] == (0 if asked == "0" else NEWEST)


@pytest.mark.parametrize(
    ("asked", "opened", "held"),
    [
        (("0", "1"), [0, 1], ("0", "1")),
        (("1", "0"), [1, 0], None),
        (("2", "1"), [1, 1], ("1", "1")),
        (("x", "-1"), [1, 0], None),
    ],
)
def test_a_link_opens_a_head_of_a_film(open_page, folder, asked, opened, held):
    """The last layer's first head needs no link."""
    save_probes(make_run(folder, "one"), [many_heads()])
    app = open_page(PATTERNS, training_layer=asked[0], training_head=asked[1])
    assert not app.exception
    header, _ = read(app.get("bidi_component")[0].proto.bytes)
    assert header["selected"] == opened
    found = tuple(app.query_params.get(name) for name in ("training_layer", "training_head"))
    assert found == (held or (None, None))


def test_one_of_several_probes_is_chosen_or_asked_for_by_a_link(open_page, folder):
    other = Probe("other", "x", PROBE.traces[:1], PROBE.translations[:1])
    save_probes(make_run(folder, "one"), [PROBE, other])
    app = open_page(PATTERNS, kind="cross")
    assert app.selectbox(key="probe").options == [f"0 {PROBE.source}", "1 other"]
    app.selectbox(key="probe").set_value("1 other").run()
    asked = open_page(PATTERNS, kind="cross", probe="1 other")
    for shown in (app, asked):
        assert not shown.exception
        (entropy,) = charts(shown).values()
        assert entropy["series"][0]["data"] == [[0, 0.0]]


def test_when_a_run_begins_to_record_its_probes_can_be_chosen(open_page, folder):
    path = make_run(folder, "one", state="running")
    descriptor = held(path)
    app = open_page(PATTERNS)
    assert "Nothing is recorded yet" in app.main.info[0].value
    save_probes(path, [PROBE, PROBE])
    app.run()
    os.close(descriptor)
    assert not app.exception
    assert app.selectbox(key="probe").options == ["0 a", "1 a"]


@pytest.mark.parametrize("tab", [PATTERNS, TRANSLATIONS])
def test_a_run_without_probes_says_so(open_page, folder, tab):
    make_run(folder, "one")
    app = open_page(tab)
    assert "was started without a probe sentence" in app.main.info[0].value


@pytest.mark.parametrize("tab", [PATTERNS, TRANSLATIONS])
def test_a_broken_file_of_probes_is_named(open_page, folder, tab):
    (make_run(folder, "one") / "probes.npz").write_bytes(b"PK nothing")
    app = open_page(tab)
    assert "is not a file of probes" in app.main.warning[0].value


def test_translations_stand_with_their_steps_newest_first(open_page, folder):
    save_probes(make_run(folder, "one"), [PROBE])
    shown = text(open_page(TRANSLATIONS))
    assert shown.index("(nothing)") < shown.index("<bdi>b</bdi>")


def test_steps_with_the_same_translation_are_one_stretch():
    first = PROBE.traces[0]
    same = Probe("a", "b", (first, PROBE.traces[1]), ("b", "b"))
    assert stretches(PROBE) == [(0, 0, "b"), (7, 7, "")]
    assert stretches(same) == [(0, 7, "b")]
    assert probe_html(same).count("✓") == 1
    assert "✓" not in probe_html(PROBE)


@pytest.mark.parametrize("hostile_text", hostile.PARAMETERS)
def test_no_probe_and_no_translation_is_markup(hostile_text):
    html = probe_html(Probe(hostile_text, hostile_text, PROBE.traces[:1], (hostile_text,)))
    for mark in ("<script", "<img", "<svg", "<b>", "<style", "<iframe"):
        assert mark not in html
    assert html.count("<bdi>") == 3


def test_all_runs_are_a_table_and_what_is_ticked_is_shown(open_page, folder):
    make_run(folder, "one", created=1.0, state="failed", message="The disk is full.")
    make_run(folder, "two", created=2.0)
    app = open_page(ALL)
    table = app.dataframe[0].value
    assert table["run"].tolist() == ["two", "one"]
    assert table["state"].tolist() == ["finished", "failed"]
    assert table["note"].tolist() == ["", "The disk is full."]
    assert table["progress"].tolist() == ["step 10 of 10"] * 2


def test_a_thousand_runs_are_listed(open_page, folder):
    for number in range(1000):
        make_run(folder, f"old-{number:04d}", created=float(number))
    app = open_page(ALL)
    assert len(app.dataframe[0].value) == 1000
    assert app.multiselect(key="runs").value == ["old-0999"]
    assert "1,000 runs" in app.main.caption[-1].value


def test_names_and_messages_are_no_markup(open_page, folder):
    make_run(folder, "__a__", state="failed", message="<img src=x onerror=alert(1)>", corpus="<b>")
    assert "&lt;img src=x" in text(open_page())
    assert plain("__a__ [x](y) $z$ :red[a]") == r"\_\_a\_\_ \[x\]\(y\) \$z\$ \:red\[a\]"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.6, "1 min"), (75, "1 min 15 s"), (3600, "1 h"), (5399, "1 h 29 min")]
)
def test_a_duration_is_in_the_two_largest_units(seconds, words):
    assert duration(seconds) == words
