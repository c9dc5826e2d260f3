import pytest

from tests.pages.pictures import assert_plain, figure, grid, text
from ui.markdown import plain

AWKWARD = {
    "one word": "Hi",
    "one letter": "x",
    "repeated words": "the the the the the",
    "like HTML": "<b>bold</b> <script>alert(1)</script> </s> &amp; <img src=x onerror=alert(1)>",
    "like Markdown": "**bold** $x^2$ :red[red] `code` # heading",
    "emoji": "I 💚 👩‍👩‍👧 🇩🇪",
    "right to left": "שלום עולם مرحبا",
    "Chinese": "我爱你，世界。",
    "combining marks": "Z͑ͫ̓ͪ̂ͫ a̐é",
    "numbers like dates": "2024-01-01 12:30 1e5 007",
    "control characters": "a\x00b\x1bc\u202ed\u200be",
    "only punctuation": "?!… — ,,,",
    "line breaks": "one\ntwo\r\n\tthree",
    "a very long word": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
}


def test_it_opens_on_every_head_of_a_sentence(open_app):
    app = open_app()
    assert_plain(app)
    assert app.title[0].value == "Head maps"
    assert app.text_area(key="sentence").value.startswith("The animal didn't cross")
    assert grid(app)["kind"] == "Encoder self-attention"
    assert (len(grid(app)["layers"]), len(grid(app)["heads"])) == (2, 4)
    assert grid(app)["queries"][-1] == "</s>"
    assert "sentences writes" in text(app)
    assert not app.warning


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("sentence", AWKWARD.values(), ids=AWKWARD.keys())
def test_awkward_sentences_give_a_picture(open_app, sentence, kind):
    app = open_app(sentence=sentence, kind=kind)
    assert_plain(app)
    assert not app.warning
    assert len(figure(app)["data"]) == 2
    assert all(grid(app)["keys"])


def test_what_was_typed_is_never_markup(open_app):
    app = open_app(sentence="x", target="<img src=x onerror=alert(1)> & <b>bold</b>")
    assert "<img" not in text(app)
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; &lt;b&gt;bold&lt;/b&gt;" in text(app)


@pytest.mark.parametrize("sentence", ["", "   ", "\n"])
def test_an_empty_sentence_gets_one_plain_sentence(open_app, sentence):
    app = open_app()
    app.text_area(key="sentence").set_value(sentence).run()
    assert_plain(app)
    assert [plain("The sentence is empty; type at least one word.")] == [warning.value for warning in app.warning]
    assert not app.get("plotly_chart")
    assert app.button_group(key="kind").value == "encoder", "the controls stay, and with them the view"


def test_500_words_give_a_picture(open_app):
    app = open_app(sentence=" ".join(["The animal", "is wide"] * 125), target="Das Tier")
    assert_plain(app)
    assert len(grid(app)["queries"]) > 500
    assert max(grid(app)["shape"]) <= 32


def test_what_is_too_long_gets_one_plain_sentence(open_app):
    app = open_app(sentence="long " * 1000)
    assert_plain(app)
    assert len(app.warning) == 1
    assert plain("maps of 12 heads take 1,154: shorten it.") in app.warning[0].value


def test_a_target_that_is_too_long_leaves_the_encoder(open_app):
    app = open_app(target="long " * 1000)
    assert_plain(app)
    assert len(app.warning) == 1
    assert "The target has" in app.warning[0].value
    assert app.get("plotly_chart")


def test_a_typed_target_is_what_the_decoder_writes(open_app):
    app = open_app(kind="cross", target="Das Tier")
    assert "".join(grid(app)["queries"]) == "DasTier</s>"
    assert "typed target" in text(app)


def test_the_address_holds_the_view(open_app):
    view = {"kind": "decoder", "layer": "2", "head": "3", "tokens": "words", "hide_special": "true"}
    app = open_app(sentence="A street", target="Eine Straße", **view)
    assert grid(app)["kind"] == "Decoder self-attention"
    assert grid(app)["selected"] == [2, 3]
    assert [word.lstrip("␣") for word in grid(app)["queries"]] == ["Eine", "Straße"]
    assert "L2·H3" in text(app)
    assert view.items() <= app.query_params.items()


def test_nonsense_in_the_address_is_left_out(open_app):
    app = open_app(kind="nonsense", layer="99", head="-1", tokens="<b>", summary="perhaps")
    assert_plain(app)
    assert grid(app)["selected"] == [0, 0]
    assert app.get("plotly_chart")


def test_a_layer_that_another_kind_does_not_have_falls_back(open_app):
    app = open_app(kind="decoder", layer="2")
    app.button_group(key="kind").set_value("encoder").run()
    assert_plain(app)
    assert grid(app)["selected"] == [0, 0]


def test_mean_shows_one_map_a_layer_and_says_over_how_many(open_app):
    app = open_app(summary="mean", head="3")
    assert grid(app)["heads"] == ["mean"]
    assert "mean of 4 heads" in text(app)
    assert app.selectbox(key="head").disabled
    assert app.selectbox(key="head").value == "3", "it is kept for later"


def test_where_only_special_tokens_would_be_left_it_says_so(open_app):
    assert_plain(app := open_app(sentence="A", target="</s>", kind="decoder", hide_special="true"))
    assert app.get("plotly_chart") or "Nothing is here but special tokens" in app.info[0].value


def test_the_untouched_example_follows_the_model(open_app):
    app = open_app()
    app.selectbox(key="model").set_value("letters").run()
    assert_plain(app)
    assert app.text_area(key="sentence").value == "a b c d e f g h"
    app.text_area(key="sentence").set_value("my own").run()
    app.selectbox(key="model").set_value("sentences").run()
    assert app.text_area(key="sentence").value == "my own"


def test_with_no_model_it_says_how_to_make_one(open_app, monkeypatch):
    monkeypatch.setattr("ui.sidebar.list_checkpoints", list)
    app = open_app()
    assert_plain(app)
    assert "roundtable train" in app.info[0].value


def test_a_broken_checkpoint_gets_one_plain_sentence(open_app, checkpoints, tmp_path, monkeypatch):
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in (checkpoints / "sentences").iterdir():
        (broken / file.name).write_bytes(file.read_bytes() if file.suffix != ".safetensors" else b"nothing")
    app = open_app()
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    app.run()
    app.selectbox(key="model").set_value("broken").run()
    assert_plain(app)
    assert len(app.warning) == 1
    assert plain("model.safetensors") in app.warning[0].value
