import json
import shutil

import pytest

from tests import hostile
from tests.conftest import ROOT


def test_a_model_without_a_card_is_described_from_its_config(open_app):
    app = open_app().switch_page("pages/model_card.py").run()
    assert not app.exception
    assert app.title[0].value == "Model card"
    assert "2 + 3 layers of 4 heads, d_model 16, 7 steps on mine" in app.markdown[0].value.replace("\\", "")
    assert "made here" in str(app.table[0].value)


def test_a_card_is_shown_without_its_title_which_the_sidebar_says(open_app, checkpoints):
    card = checkpoints / "sentences" / "README.md"
    card.write_text("# sentences\n\nTrained on nothing.\n", "utf-8")
    app = open_app().switch_page("pages/model_card.py").run()
    assert not app.exception
    assert app.markdown[0].value == "Trained on nothing."


def test_a_picture_in_a_card_is_a_link_and_bytes_that_are_no_text_are_shown_as_such(open_app, checkpoints):
    card = checkpoints / "sentences" / "README.md"
    card.write_bytes(b"A [![picture](https://example.org/a.png)](b) ![c][d] \xff.\n\n[d]: https://example.org/e.png\n")
    app = open_app().switch_page("pages/model_card.py").run()
    assert not app.exception
    assert app.markdown[0].value.startswith("A [[picture](https://example.org/a.png)](b) [c][d] \ufffd.")


@pytest.mark.parametrize("field", ["corpus", "format"])
def test_what_a_config_says_is_never_markdown(open_app, checkpoints, tmp_path, monkeypatch, field):
    """A checkpoint may come from anywhere, and an image in it would be fetched."""
    shutil.copytree(checkpoints / "letters", tmp_path / f"foreign-{field}")
    path = tmp_path / f"foreign-{field}" / "config.json"
    link = hostile.TEXTS["markdown"]
    told = {"corpus": dict.fromkeys(("name", "licence", "attribution"), link), "format": link}
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {field: told[field]}), "utf-8")
    app = open_app()
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    for page in ("head_maps", "translation", *(["model_card"] if field == "corpus" else [])):
        app.switch_page(f"pages/{page}.py").run()
        app.selectbox(key="model").set_value(f"foreign-{field}").run()
        assert not app.exception
        said = [each.value for kind in (app.markdown, app.caption, app.warning, app.info) for each in kind]
        said += [str(cell) for table in app.table for cell in table.value.to_numpy().flat]
        assert "example" in " ".join(said)
        assert not any("image](" in text for text in said)


def test_every_page_is_in_the_navigation():
    pages = {path.name for path in (ROOT / "pages").glob("*.py")} - {"__init__.py"}
    listed = (ROOT / "app.py").read_text("utf-8")
    assert all(f'"pages/{page}"' in listed for page in pages)
