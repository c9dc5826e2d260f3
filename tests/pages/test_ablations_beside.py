"""Side by side on the page Ablations: two to four models, one head open in all, and what another seed alone makes."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.compared import charts, made, moved, open_page, said
from transformer.text.tokenizer import Tokenizer
from ui.markdown import plain

__all__ = ["open_page"]
SIDE = "Side by side"
SENTENCE = "The animal was tired."


def opened(app: AppTest) -> list[str]:
    """Which head each grid says is open, in their order."""
    found = [str(element.proto.body) for element in app.get("html") if 'class="opened' in str(element.proto.body)]
    return [text.split(">", 1)[1].split(" <")[0] + " " + text.split('"note">')[1].split("<")[0] for text in found]


def beside(app: AppTest, *names: str) -> AppTest:
    app.multiselect(key="beside").set_value(list(names)).run()
    assert not app.exception
    return app


def test_a_copy_is_as_far_apart_as_nothing(open_page, tmp_path: Path):
    made(tmp_path / "twin", tmp_path / "sentences")
    app = beside(open_page(SIDE, sentence=SENTENCE), "twin")
    html = " ".join(str(element.proto.body) for element in app.get("html"))
    assert "what changed: nothing in the configuration" in html
    heads, apart = charts(app)
    assert [note["text"] for note in heads["layout"]["annotations"]][:1] == ["<b>sentences</b><br>L0·H0"]
    assert apart["layout"]["coloraxis"]["cmax"] == pytest.approx(np.log(2))
    assert "mean 0.000 nats" in apart["layout"]["annotations"][0]["text"]
    assert "No model here differs from sentences in its seed alone" in said(app)


def test_a_head_that_moved_is_found_where_it_went(open_page, tmp_path: Path):
    moved(tmp_path / "moved", tmp_path / "sentences")
    app = beside(open_page(SIDE, sentence=SENTENCE), "moved")
    assert opened(app) == ["sentences L0·H0", "moved L0·H3"]
    app.segmented_control(key="match").set_value("same place").run()
    assert opened(app) == ["sentences L0·H0", "moved L0·H0"]


def test_four_models_open_one_head_and_each_is_matched_to_the_first(open_page, tmp_path: Path):
    moved(tmp_path / "moved", tmp_path / "sentences")
    made(tmp_path / "twin", tmp_path / "sentences")
    made(tmp_path / "few", tmp_path / "sentences", n_heads=2, n_encoder_layers=1)
    app = beside(open_page(SIDE, sentence=SENTENCE), "moved", "twin", "few")
    app.selectbox(key="opened_in").set_value("moved").run()
    app.selectbox(key="head").set_value("3").run()
    assert opened(app)[:3] == ["sentences L0·H0", "moved L0·H3", "twin L0·H0"]
    app.segmented_control(key="match").set_value("same place").run()
    assert opened(app) == ["sentences L0·H3", "moved L0·H3", "twin L0·H3", "few not here"]
    heads, apart = charts(app)
    assert "few has no L0·H3." in " ".join(note["text"].replace("<br>", " ") for note in heads["layout"]["annotations"])
    assert len([trace for trace in apart["data"] if trace["type"] == "scatter"]) == 3


def test_another_seed_is_the_noise_floor_whatever_it_is_called(open_page, tmp_path: Path):
    made(tmp_path / "few", tmp_path / "sentences", n_heads=2)
    made(tmp_path / "mine again", tmp_path / "sentences", seed=9)
    shutil.move(tmp_path / "mine again", tmp_path / "again")
    app = beside(open_page(SIDE, sentence=SENTENCE), "few")
    heads, apart = charts(app)
    assert "<b>noise floor: another seed</b>" in heads["layout"]["annotations"][2]["text"]
    assert "nats · again" in heads["layout"]["annotations"][2]["text"]
    assert apart["layout"]["annotations"][-1]["text"].startswith("<b>noise floor: again</b>")
    assert "sentences and again differ in their seed alone" in said(app)


def test_letters_and_sentences_do_not_compare(open_page):
    app = beside(open_page(SIDE), "letters")
    assert [warning.value for warning in app.warning] == [
        plain("letters is left out: it reads letters, and sentences sentences.")
    ]


def test_a_model_that_cannot_be_read_is_left_out_and_the_others_stay(open_page, tmp_path: Path):
    made(tmp_path / "twin", tmp_path / "sentences")
    made(tmp_path / "broken", tmp_path / "sentences")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"nothing")
    app = beside(open_page(SIDE, sentence=SENTENCE), "broken", "twin")
    (warning,) = app.warning
    assert warning.value.startswith(plain("broken is left out: "))
    assert opened(app) == ["sentences L0·H0", "twin L0·H0"]


def test_with_one_model_there_is_nothing_to_compare(open_page, tmp_path: Path):
    shutil.rmtree(tmp_path / "letters")
    assert "There is one model here" in said(open_page(SIDE))
    made(tmp_path / "twin", tmp_path / "sentences")
    assert "Choose one to three models" in said(beside(open_page(SIDE)))


def test_variants_of_a_family_are_called_by_their_folders(open_page, tmp_path: Path):
    made(tmp_path / "table3" / "uniform-1", tmp_path / "sentences")
    app = beside(open_page(SIDE, sentence=SENTENCE), "table3/uniform-1")
    assert opened(app) == ["sentences L0·H0", "table3/uniform-1 L0·H0"]


def test_tokenizers_that_differ_are_compared_on_words(open_page, tmp_path: Path):
    """The other's tokenizer has learned no word of the sentence, and cuts it into letters."""
    tokenizer = Tokenizer.train(["Müde war es.", "Breit ist sie."] * 4, 301)
    made(tmp_path / "cut", tmp_path / "sentences", vocab_size=len(tokenizer))
    tokenizer.save(tmp_path / "cut" / "tokenizer.model")
    app = beside(open_page(SIDE, sentence=SENTENCE), "cut")
    assert "words are compared" in said(app)
    assert charts(app)[0]["layout"]["yaxis"]["ticktext"] == ["The", "animal", "was", "tired", ".", "&lt;/s&gt;"]


def test_with_targets_of_their_own_other_rows_are_not_compared(open_page, tmp_path: Path):
    made(tmp_path / "other", tmp_path / "sentences", seed=11)
    app = beside(open_page(SIDE, sentence=SENTENCE, kind="cross"), "other")
    assert len(charts(app)) == 2
    app.segmented_control(key="target_of").set_value("each its own").run()
    assert not app.exception
    assert "choose one target for all" in said(app)


def test_a_link_holds_the_view_and_says_what_it_left_out(open_page, tmp_path: Path):
    made(tmp_path / "twin", tmp_path / "sentences")
    link = {"sentence": SENTENCE, "beside": "twin", "kind": "decoder", "layer": "2", "head": "1", "match": "nonsense"}
    app = open_page(SIDE, **link)
    assert opened(app) == ["sentences L2·H1", "twin L2·H1"]
    html = " ".join(str(element.proto.body) for element in app.get("html"))
    assert "match=nonsense" in html


def test_the_model_of_the_sidebar_stands_not_beside_itself(open_page, tmp_path: Path):
    """Nor is a head open in a model that is no longer there."""
    for name in ("twin", "third"):
        made(tmp_path / name, tmp_path / "sentences")
    app = beside(open_page(SIDE, sentence=SENTENCE), "twin", "third")
    app.selectbox(key="opened_in").set_value("twin").run()
    beside(app, "third")
    assert app.selectbox(key="opened_in").value == "sentences"
    app.selectbox(key="model").set_value("third").run()
    assert not app.exception
    assert app.multiselect(key="beside").value == []
    assert "Choose one to three models" in said(app)


def test_files_of_the_comparison_are_offered_when_they_are_asked_for(open_page, tmp_path: Path):
    made(tmp_path / "few", tmp_path / "sentences", n_heads=2)
    app = beside(open_page(SIDE, sentence=SENTENCE, kind="cross"), "few")
    assert not app.code
    app.session_state.take_comparison = True
    app.run()
    assert not app.exception
    assert "ranked(apart)" in app.code[0].value
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["SVG", "CSV", "NPZ", "JSON", "CSV of divergences", "HTML"]
