"""The views of the opened head on Head maps beside the map: lines, neurons, the equation."""

import json
import re
import shutil
import struct
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from pages.heads.equation import pick
from pages.heads.lines import toggle
from pages.heads.pair import strongest_key, strongest_query
from pages.heads.take_head import line_arrays, line_rows
from tests import hostile
from tests.analysis.hand_made import asymmetric
from tests.pages.five import make_five
from tests.ui.samples import tokens
from transformer import load_checkpoint
from transformer.analysis.filters import Filters
from transformer.export.equation import Cell
from transformer.weights import named_weights, save_weights
from ui.lines import Lines
from ui.markdown import plain

VIEWS = ("Lines", "Neurons", "Equation")
HOSTILE = (
    *("script end and image", "script", "quotes and handler", "svg with handler", "title end", "entities"),
    *("special pieces as text", "markdown", "latex", "plotly tags", "json", "nul", "hebrew", "right-to-left override"),
    *("emoji joined", "repeated words", "numbers like dates"),
)
"""Those that a page could fall for; tests/ui puts all of them through every figure and text."""
SENTENCE, TARGET = "The animal was tired.", "Das Tier war müde."


def components(app) -> list:
    return [element.proto for element in app.get("bidi_component")]


def strip(app) -> tuple[dict, list[np.ndarray]]:
    """What the equation strip was sent: its header, and its matrices in order."""
    data = next(proto.bytes for proto in components(app) if b'"matrices"' in proto.bytes)
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    numbers, found = np.frombuffer(data[4 + length :], "<f4"), []
    for matrix in header["matrices"]:
        rows, columns = matrix["shape"]
        found.append(numbers[: rows * columns].reshape(rows, columns))
        numbers = numbers[rows * columns :]
    assert not len(numbers)
    return header, found


def picture(app) -> dict:
    """What the lines were sent."""
    return next(json.loads(proto.json) for proto in components(app) if '"svg"' in proto.json)


def text(app) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def downloads(app) -> list[str]:
    return [element.proto.label for element in app.get("download_button")]


def value_said(app) -> float:
    """What the arithmetic comes to."""
    last = re.findall("<dd>(.*?)</dd>", text(app))[-1].replace("−", "-")
    mantissa, _, power = last.partition(" · 10")
    exponent = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(mantissa) * 10 ** int(exponent or 0)


def charts(app) -> list[dict]:
    return [json.loads(element.proto.spec) for element in app.get("plotly_chart")]


def assert_plain(app) -> None:
    assert not app.exception
    assert not app.error
    assert not app.warning


def opened(open_app, view: str, **parameters):
    app = open_app(opened_view=view, **({"sentence": SENTENCE, "target": TARGET} | parameters))
    assert_plain(app)
    return app


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_strip_holds_the_opened_head(open_app, kind):
    app = opened(open_app, "Equation", kind=kind, layer="1", head="2")
    header, (q, k, scores, mask, pattern, v, z) = strip(app)
    assert header["head"] == "L1·H2"
    assert [matrix["name"] for matrix in header["matrices"]] == ["Q", "K", "scores", "mask", "softmax", "V", "z"]
    assert np.allclose(scores, q @ k.T / 2, atol=1e-4), "d_k is 4"
    weights = np.where(mask, np.exp(scores), 0)
    assert np.allclose(pattern, weights / weights.sum(1, keepdims=True), atol=1e-4)
    assert np.allclose(z, pattern @ v, atol=1e-4)
    assert bool((mask == 0).any()) == (kind == "decoder")
    assert len(header["queries"]) == len(q)
    assert len(header["keys"]) == len(k)


def test_the_chosen_cell_has_its_arithmetic_and_our_source_below_it(open_app):
    app = opened(open_app, "Equation", layer="1", head="2", matrix="scores", query="3 an", key="5 al")
    header, (_, _, scores, *_) = strip(app)
    assert header["selected"] == [2, 3, 5]
    assert "scores[3, 5] =" in text(app)
    assert "query 3 “\u2068an\u2069”, key 5 “\u2068al\u2069”" in text(app)
    assert value_said(app) == pytest.approx(scores[3, 5], abs=0.001)
    assert "return (q * self.scale) @ k.transpose(-2, -1)" in [code.value for code in app.code]
    assert any("transformer/model/scores.py, line" in caption.value for caption in app.caption)


@pytest.mark.parametrize("matrix", ["Q", "K", "scores", "mask", "softmax", "V", "z"])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_every_matrix_explains_its_cell(open_app, kind, matrix):
    app = opened(open_app, "Equation", kind=kind, matrix=matrix)
    header, values = strip(app)
    number, row, column = header["selected"]
    assert header["matrices"][number]["name"] == matrix
    assert f"{matrix}[{row}, {column}]" in text(app)
    if matrix != "mask":
        assert value_said(app) == pytest.approx(values[number][row, column], abs=0.001)
    assert app.code


def test_the_strongest_pair_is_one_of_words_where_there_is_one():
    sides = {"queries": tokens("a", "b", "</s>"), "keys": tokens("<s>", "c", "d")}
    pattern = np.array([[1, 0, 0], [0.5, 0.2, 0.3], [0, 0, 1]])
    parts = SimpleNamespace(pattern=pattern, **sides)
    assert strongest_query(parts) == 1
    assert [strongest_key(parts, query) for query in range(3)] == [0, 2, 2]
    parts = SimpleNamespace(pattern=np.array([[1.0]]), queries=tokens("</s>"), keys=tokens("<s>"))
    assert (strongest_query(parts), strongest_key(parts, 0)) == (0, 0)


class State(dict):
    """Stands for st.session_state."""

    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__


def test_a_click_into_the_strip_moves_the_controls(open_app, monkeypatch):
    state = State()
    with monkeypatch.context() as patch:
        patch.setattr("streamlit.session_state", state)
        parts = SimpleNamespace(queries=tokens("the", "the"), keys=tokens("a", "b", "c"))
        pick(parts, Cell("z", 1, 3))
        assert state == {"matrix": "z", "query": "1 the", "dimension": "3"}
        pick(parts, Cell("K", 2, 0))
        assert state == {"matrix": "K", "query": "1 the", "key": "2 c", "dimension": "0"}
        pick(parts, Cell("softmax", 0, 1))
        assert state == {"matrix": "softmax", "query": "0 the", "key": "1 b", "dimension": "0"}
    app = opened(open_app, "Equation")
    for name, value in {"matrix": "z", "query": "1 he", "dimension": "3"}.items():
        app.session_state[name] = value
    app.run()
    assert_plain(app)
    assert strip(app)[0]["selected"] == [6, 1, 3]


def test_a_click_on_a_word_chooses_it_and_another_click_no_longer(monkeypatch):
    state = State()
    monkeypatch.setattr("streamlit.session_state", state)
    for option, expected in (("2 it", ["2 it"]), ("0 it", ["2 it", "0 it"]), ("2 it", ["0 it"])):
        toggle(option)
        assert state["line_queries"] == expected


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_never_markup(open_app, view, name):
    sentence = hostile.TEXTS[name]
    app = open_app(opened_view=view, kind="cross", sentence=sentence, target=sentence)
    assert_plain(app)
    said = text(app)
    assert "<img" not in said
    assert "<script" not in said
    if app.info:
        assert "tokens" in app.info[0].value, "more than 64 of them"
        return
    if view == "Lines":
        assert "<script" not in picture(app)["svg"]
        assert "<img" not in picture(app)["svg"]
    if view == "Neurons":
        for chart in charts(app):
            ticks = [
                tick for name, axis in chart["layout"].items() if "axis" in name for tick in axis.get("ticktext", [])
            ]
            assert not any("<" in tick.removeprefix("<b>").removesuffix("</b>") for tick in ticks)
    if view == "Equation":
        assert all(strip(app)[0]["keys"])


@pytest.mark.parametrize("view", ["Neurons", "Equation"])
def test_filters_and_summaries_do_not_act_there_and_the_view_says_so(open_app, view):
    app = opened(open_app, view, summary="mean", hide_special="true", tokens="words", head="2", layer="1")
    assert "L1·H2 alone, piece by piece as the model computes it; filters do not act here." in text(app)
    assert "filters do not act" not in text(opened(open_app, view))


def test_lines_follow_filters(open_app):
    app = opened(open_app, "Lines", hide_special="true", tokens="words")
    assert picture(app)["queries"] == ["The", "animal", "was", "tired", "."]
    assert picture(app)["chosen"] is None


def test_several_queries_and_heads_are_chosen_by_the_address(open_app):
    app = opened(open_app, "Lines", line_queries=["1 he", "0 T"], line_heads=["0", "3"])
    sent = picture(app)
    assert sent["chosen"] == [0, 1]
    assert sent["heads"] == {"0": "0", "3": "3"}
    app.multiselect(key="line_queries").set_value(["0 T"]).run()
    assert picture(app)["chosen"] == [0]


def test_a_summary_has_one_head_to_draw(open_app):
    app = opened(open_app, "Lines", summary="mean", layer="1")
    assert picture(app)["heads"] == {"0": "mean"}
    assert not any(group.key == "line_heads" for group in app.button_group)


def test_500_words_give_a_note_and_lines_once_queries_are_chosen(open_app):
    sentence = " ".join(["The animal", "is wide"] * 125)
    app = open_app(opened_view="Lines", sentence=sentence, target="Das Tier")
    assert_plain(app)
    said = "cannot be told apart: choose queries here, or see all weights in the Map and the grid."
    assert plain(said) in app.info[0].value
    app.multiselect(key="line_queries").set_value([app.multiselect(key="line_queries").options[3]]).run()
    assert_plain(app)
    assert len(picture(app)["queries"]) == 1
    assert len(picture(app)["keys"]) <= 64
    assert "the 1 chosen are drawn" in text(app)


@pytest.mark.parametrize("view", ["Neurons", "Equation"])
def test_500_words_stay_usable(open_app, view):
    app = open_app(opened_view=view, sentence=" ".join(["The animal", "is wide"] * 125), target="Das Tier")
    assert_plain(app)
    if view == "Equation":
        assert "The matrices are drawn for up to 64 tokens" in app.info[0].value
        assert "scores[" in text(app)
    else:
        assert "the 40 of most weight are drawn" in text(app)


@pytest.mark.parametrize("view", VIEWS)
def test_one_word_is_enough(open_app, view):
    opened(open_app, view, sentence="x", target="y", kind="decoder")


@pytest.mark.parametrize("view", VIEWS)
def test_nonsense_in_the_address_is_left_out(open_app, view):
    nonsense = {
        "query": "99 x",
        "key": "-1",
        "matrix": "W",
        "dimension": "4000",
        "line_queries": "z",
        "line_heads": "9",
    }
    opened(open_app, view, **nonsense)


def test_the_untrained_twin_has_its_own_numbers_over_the_same_pieces(open_app):
    trained, untrained = (opened(open_app, "Equation", weights=weights) for weights in ("trained", "untrained"))
    (first, a), (second, b) = strip(trained), strip(untrained)
    assert first["keys"] == second["keys"]
    assert not np.allclose(a[0], b[0])


def test_the_pair_sums_to_its_score(open_app):
    app = opened(open_app, "Neurons", kind="cross", query="0 D", key="3 an")
    pair, row = charts(app)
    bars = [trace for trace in pair["data"] if trace["type"] == "bar"]
    assert len(pair["data"]) == 5
    assert bars
    assert row["data"]
    assert "softmax over the row makes it a weight of" in text(app)


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    return make_five(tmp_path_factory.mktemp("five"))


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("model", ["sinusoidal", "learned", "rope", "alibi", "none"])
def test_every_encoding_is_shown_as_it_acts(open_app, five, monkeypatch, model, kind):
    app = open_app(opened_view="Equation", model="sentences", sentence=SENTENCE, target=TARGET, kind=kind)
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(five))
    app.query_params["model"] = model
    app.run()
    app.selectbox(key="model").set_value(model).run()
    assert_plain(app)
    self_attention = kind != "cross"
    header, (q, k, scores, *_) = strip(app)
    assert ("turned by RoPE" in text(app)) == (model == "rope" and self_attention)
    assert ("ALiBi" in text(app)) == (model == "alibi" and self_attention)
    assert value_said(app) == pytest.approx(scores[*header["selected"][1:]], abs=0.001)
    if model == "alibi" and self_attention:
        assert not np.allclose(scores, q @ k.T / np.sqrt(8), atol=0.01), "the bias is part of the score"
    else:
        assert np.allclose(scores, q @ k.T / np.sqrt(8), atol=1e-4)
    app.button_group(key="opened_view").set_value("Neurons").run()
    assert_plain(app)
    assert ("RoPE has turned them" in text(app)) == (model == "rope" and self_attention)
    assert (" + bias " in text(app)) == (model == "alibi" and self_attention)
    assert ("bias" in charts(app)[0]["layout"]["xaxis"]["ticktext"]) == (model == "alibi" and self_attention)


@pytest.mark.parametrize(("view", "last"), [("Equation", "head.pattern[1, 3]"), ("Neurons", "head.q[1] * head.k[3]")])
def test_files_and_code_of_the_view_are_made_when_they_are_asked_for(open_app, view, last):
    app = opened(open_app, view, matrix="softmax", query="1 he", key="3 an")
    assert not downloads(app)
    app.session_state.take_view = True
    app.run()
    assert_plain(app)
    code = next(code.value for code in app.code if "head_parts(" in code.value)
    assert code.splitlines()[-1].startswith(last)
    tables = ["matrices"] if view == "Equation" else ["dimensions", "keys"]
    assert downloads(app) == ["SVG", *["CSV", "JSON"] * len(tables), "NPZ", "HTML"]
    said = [element.value for element in app.markdown]
    assert said[said.index("**The numbers**") + 1 :][: len(tables) + 1] == [*tables, "arrays"]


def test_the_picture_of_lines_can_be_taken(open_app):
    app = opened(open_app, "Lines", line_heads=["1", "2"])
    app.session_state.take_view = True
    app.run()
    assert_plain(app)
    assert any("view.pattern[0, [1, 2]]" in code.value for code in app.code)
    assert downloads(app) == ["SVG", "CSV", "JSON", "NPZ", "HTML"]


@pytest.mark.parametrize(("view", "acts"), [("Lines", True), ("Neurons", False), ("Equation", False)])
def test_files_of_a_head_as_it_is_computed_name_no_filter(open_app, view, acts):
    app = opened(open_app, view, threshold="0.3")
    app.session_state.take_view = True
    app.run()
    assert_plain(app)
    picture = next(proto.bytes for proto in components(app) if b".png" in proto.bytes)
    assert (str(Filters(threshold=0.3)).encode() in picture) == acts


@pytest.mark.parametrize("queries", [None, (1,)])
def test_weights_of_lines_are_those_of_their_heads_and_queries(queries):
    attention = asymmetric()
    drawn = Lines(attention, 1, (2, 0), queries, (4, 5, 6), (7, 8, 9, 10))
    rows, arrays = line_rows(drawn), line_arrays(drawn)
    chosen = list(queries or range(3))
    assert arrays["pattern"].shape == (2, len(chosen), 4)
    assert arrays["query_positions"].tolist() == [4 + query for query in chosen]
    assert arrays["key_positions"].tolist() == [7, 8, 9, 10]
    assert arrays["pattern"][0, -1, 0] == attention.pattern[1, 2, chosen[-1], 0]
    assert len(rows) == 2 * attention.mask[chosen].sum()
    first = {"layer": "1", "head": "2", "query_position": 4 + chosen[0], "query": f"q{chosen[0]}"}
    assert rows[0] == {
        **first,
        "key_position": 7,
        "key": "k0",
        "weight": pytest.approx(attention.pattern[1, 2, chosen[0], 0]),
    }


@pytest.fixture(scope="module")
def broken(checkpoints, tmp_path_factory):
    """A folder with "broken", whose encoder has a number in layer 1 that is none."""
    folder = tmp_path_factory.mktemp("broken")
    shutil.copytree(checkpoints / "sentences", folder / "broken")
    model = load_checkpoint(folder / "broken").model
    with torch.no_grad():
        model.encoder[1].attention.query.weight[0, 0] = float("nan")
    save_weights(named_weights(model), folder / "broken" / "model.safetensors")
    return folder


@pytest.mark.parametrize("view", VIEWS)
def test_weights_that_are_no_numbers_are_said_to_be_none(open_app, broken, monkeypatch, view):
    app = opened(open_app, view, layer="1")
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(broken))
    app.run()
    app.selectbox(key="model").set_value("broken").run()
    assert not app.exception
    if view == "Lines":
        assert picture(app)["svg"].count("<line ") <= 2, "those of the legend"
        assert "are not numbers and have no line" in picture(app)["svg"]
    else:
        assert "not a number" in text(app)
