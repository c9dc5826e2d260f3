"""Links to pages of few controls; Head maps, Translation and Ablations have theirs beside their own tests."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT


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
