"""The form "Train a model": what it shows before one presses, what it refuses, and what pressing starts."""

import pytest

from tests.pages.made_runs import make_run, no_processes
from transformer.training import runs
from transformer.training.device import Device
from transformer.training.estimate import Estimate
from transformer.training.request import UPLOAD_FILE, read_request

TSV = b"one\teins\ntwo\tzwei\nthree\tdrei\n"


@pytest.fixture
def folder(open_app, tmp_path, monkeypatch):
    """Where runs go; there is no checkpoint anywhere."""
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("transformer.folders.SHIPPED", tmp_path / "nothing")
    return tmp_path


@pytest.fixture
def form(open_app, folder):
    """Opens the form, on a page that needs no model."""

    def start():
        app = open_app()
        app.session_state.train_form = True
        app.switch_page("pages/model_card.py").run()
        assert not app.exception
        return app

    return start


def warnings(app) -> list[str]:
    return [warning.value.replace("\\", "") for warning in app.sidebar.warning]


def captions(app) -> str:
    return " ".join(caption.value for caption in app.sidebar.caption).replace("\\", "")


def size(app) -> str:
    return next(text.value for text in app.sidebar.markdown if "parameters" in text.value)


def test_it_is_closed_at_first_and_then_costs_nothing(open_app, folder):
    app = open_app()
    assert not app.exception
    assert "train_corpus" not in app.session_state


def test_it_shows_size_memory_and_time_before_one_presses(form):
    app = form()
    assert "**185 k** parameters" in size(app)
    assert "MiB" in size(app)
    assert "about" in size(app)
    assert not warnings(app)
    assert not app.button(key="train").disabled


def test_pressing_starts_the_run_and_shows_it(form, folder, monkeypatch):
    started = no_processes(monkeypatch)
    app = form()
    app.button(key="train").click().run()
    assert not app.exception
    assert started == ["reverse-small"]
    assert app.title[0].value == "Training"
    assert app.multiselect(key="runs").value == ["reverse-small"]
    assert not app.session_state.train_form
    request = read_request(folder / "reverse-small")
    assert request is not None
    assert (request.corpus, request.steps, request.probes) == ("reverse-small", 500, ("a b c d e f g h",))


def test_every_answer_reaches_the_run(form, folder, monkeypatch):
    no_processes(monkeypatch)
    app = form()
    app.selectbox(key="train_corpus").set_value("copy").run()
    app.selectbox(key="train_preset_copy").set_value("small").run()
    app.selectbox(key="train_positions_small").set_value("learned").run()
    app.number_input(key="train_n_heads_small").set_value(2).run()
    app.number_input(key="train_d_k_small").set_value(16).run()
    app.number_input(key="train_label_smoothing_small").set_value(0.2).run()
    app.selectbox(key="train_unit_small").set_value("epochs").run()
    app.number_input(key="train_epochs_small").set_value(2.5).run()
    app.number_input(key="train_seed").set_value(9).run()
    app.text_input(key="train_name").set_value("mine").run()
    app.text_area(key="train_probes").set_value("a b\nc d\td c").run()
    assert "Changed: n_heads 2, d_k 16, label_smoothing 0.2, learned" in captions(app)
    app.button(key="train").click().run()
    request = read_request(folder / "mine")
    assert request is not None
    assert (request.model.positions, request.model.n_heads, request.model.d_k) == ("learned", 2, 16)
    assert (request.train.label_smoothing, request.train.seed, request.epochs) == (0.2, 9, 2.5)
    assert (request.corpus, request.probes, request.preset) == ("copy", ("a b", "c d\td c"), "small")


def test_each_preset_begins_with_its_own_values(form):
    app = form()
    app.number_input(key="train_n_heads_reverse-small").set_value(2).run()
    assert "n_heads 2" in captions(app)
    app.selectbox(key="train_preset_reverse-small").set_value("tiny").run()
    assert "Changed" not in captions(app)
    app.selectbox(key="train_preset_reverse-small").set_value("reverse-small").run()
    assert "n_heads 2" in captions(app), "what was changed is kept"


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("train_n_heads_reverse-small", 3, "n_heads is 3; allowed is a divisor of d_model = 64"),
        ("train_d_model_reverse-small", 63, "d_model is 63; allowed is an even number"),
    ],
)
def test_a_shape_that_cannot_be_is_refused_at_once(form, key, value, sentence):
    app = form()
    app.number_input(key=key).set_value(value).run()
    assert len(warnings(app)) == 1
    assert warnings(app)[0].startswith(sentence)
    assert app.button(key="train").disabled


@pytest.mark.parametrize("name", ["../x", "💚", ".hidden", "a b", "*", "-rf"])
def test_a_name_that_is_none_is_refused(form, name):
    app = form()
    app.text_input(key="train_name").set_value(name).run()
    assert "cannot name a checkpoint" in warnings(app)[0]
    assert app.button(key="train").disabled


def test_a_name_in_use_is_refused(form, folder):
    make_run(folder, "mine")
    app = form()
    app.text_input(key="train_name").set_value("mine").run()
    assert warnings(app) == ["There is a checkpoint mine already; choose another name."]


def test_what_does_not_fit_into_memory_is_refused(form, monkeypatch):
    device = Device("cpu", "2 cores", 2**30)
    monkeypatch.setattr("ui.train_form.estimate", lambda request: Estimate(10**8, 2**32, 60.0, device))
    app = form()
    assert "It needs about 4.0 GiB of memory, and cpu has 1.0 GiB" in warnings(app)[0]
    assert "100.0 M" in size(app)
    assert app.button(key="train").disabled


def test_a_start_that_fails_says_why_and_stays(form, folder, monkeypatch):
    def fail(request, upload):
        raise ValueError("The folder cannot be made.")

    monkeypatch.setattr(runs, "start", fail)
    app = form()
    app.button(key="train").click().run()
    assert warnings(app) == ["The folder cannot be made."]
    assert app.title[0].value == "Model card"


def test_an_own_text_is_asked_for(form):
    app = form()
    app.selectbox(key="train_corpus").set_value("my own text").run()
    assert warnings(app) == ["There is no text yet: upload a TSV, or choose another corpus."]
    assert app.button(key="train").disabled


def test_an_own_text_is_copied_into_the_run(form, folder, monkeypatch):
    no_processes(monkeypatch)
    app = form()
    app.selectbox(key="train_corpus").set_value("my own text").run()
    app.file_uploader(key="train_file").set_value(("numbers.tsv", TSV, "text/tab-separated-values")).run()
    assert not warnings(app)
    app.button(key="train").click().run()
    request = read_request(folder / "numbers-small")
    assert request is not None
    assert (request.corpus, request.uploaded) == ("numbers.tsv", True)
    assert (folder / "numbers-small" / UPLOAD_FILE).read_bytes() == TSV


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"one\teins\ntwo zwei\n", "x.tsv, line 2: it has no tab; allowed is source, one tab, target."),
        (b"one\teins\n\tzwei\n", "x.tsv, line 2: the source is empty; allowed is a sentence on both sides."),
        (b"one\teins\nb\xff\tzwei\n", "x.tsv, line 2: byte 2 is not UTF-8; allowed is UTF-8 text."),
        (b"one\teins\n", "x.tsv has 1 different source sentences; allowed is at least 3"),
        (b"", "x.tsv is empty"),
    ],
)
def test_a_bad_line_of_an_own_text_is_named(form, content, sentence):
    app = form()
    app.selectbox(key="train_corpus").set_value("my own text").run()
    app.file_uploader(key="train_file").set_value(("x.tsv", content, "text/plain")).run()
    assert len(warnings(app)) == 1
    assert sentence in warnings(app)[0]
    assert app.button(key="train").disabled
