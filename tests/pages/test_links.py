"""Links to pages of few controls; Head maps, Translation and Ablations have theirs beside their own tests."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT
from tests.pages.made_runs import make_run
from tests.ui.test_film import PROBE
from transformer.training.probes import save_probes


@pytest.mark.parametrize("page", ["positional_encodings", "training", "model_card"])
def test_a_link_with_nonsense_in_it_says_what_was_left_out(checkpoints: Path, monkeypatch, page: str):
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(checkpoints))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params.update({"model": "nowhere", "k": "3", "smoothing": "0", "sentence": "A street", "<b>": "1"})
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    unknown = {"positional_encodings": ["smoothing=0"], "training": ["k=3"], "model_card": ["k=3", "smoothing=0"]}
    (note,) = [element.proto.body for element in app.get("html") if "left out" in element.proto.body]
    assert f"this was left out: {', '.join(['model=nowhere', *unknown[page], '&lt;b&gt;=1'])}.</div>" in note
    app.run()
    assert not [element for element in app.get("html") if "left out" in element.proto.body]


def test_what_has_no_control_yet_is_named_and_judged_when_it_has(open_app):
    """Streamlit keeps it for the control, which takes it or, without a word, does not."""
    app = open_app(sentence="A street", target="Eine", matrix="Q", dimension="4000")
    said = " ".join(element.proto.body for element in app.get("html"))
    assert "waits for its control: matrix=Q, dimension=4000.</div>" in said
    assert "left out" not in said
    app.segmented_control(key="opened_view").set_value("Equation").run()
    assert app.segmented_control(key="matrix").value == "Q"


@pytest.mark.parametrize(
    ("parameter", "asked", "said"),
    [
        *(("training_step", "3", True), ("training_step", "x", True), ("training_step", "0", False)),
        *(("training_step", "7", False), ("training_layer", "0", False), ("training_layer", "1", True)),
        *(("training_head", "0", False), ("training_head", "9", True)),
    ],
)
def test_what_a_film_has_not_recorded_is_said_to_be_left_out(tmp_path, monkeypatch, parameter, asked, said):
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("transformer.folders.SHIPPED", tmp_path / "nothing")
    save_probes(make_run(tmp_path, "one"), [PROBE])
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params.update({"training_tab": "Patterns over training", parameter: asked})
    app.switch_page("pages/training.py").run()
    assert not app.exception
    notes = " ".join(element.proto.body for element in app.get("html"))
    assert (f"left out: {parameter}={asked}.</div>" in notes) == said
    assert ("left out" in notes) == said
