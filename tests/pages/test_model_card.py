from tests.conftest import ROOT


def test_a_model_without_a_card_is_described_from_its_config(open_app):
    app = open_app().switch_page("pages/model_card.py").run()
    assert not app.exception
    assert app.title[0].value == "Model card"
    assert "2 + 3 layers of 4 heads, d_model 16, 7 steps on mine" in app.markdown[0].value
    assert "made here" in str(app.table[0].value)


def test_a_card_is_shown_without_its_title_which_the_sidebar_says(open_app, checkpoints):
    card = checkpoints / "sentences" / "README.md"
    card.write_text("# sentences\n\nTrained on nothing.\n", "utf-8")
    app = open_app().switch_page("pages/model_card.py").run()
    assert not app.exception
    assert app.markdown[0].value == "Trained on nothing."


def test_every_page_is_in_the_navigation():
    pages = {path.name for path in (ROOT / "pages").glob("*.py")} - {"__init__.py"}
    listed = (ROOT / "app.py").read_text("utf-8")
    assert all(f'"pages/{page}"' in listed for page in pages)
