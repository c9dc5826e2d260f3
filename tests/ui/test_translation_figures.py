"""Pictures and tables of the page Translation, from searches, maps and alignments made by hand."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from tests import hostile
from transformer.config import ModelConfig
from transformer.decoding.hypothesis import Hypothesis
from transformer.decoding.record import Beam, Choice, Record, Step
from transformer.decoding.score import TargetScore
from transformer.export.svg_map import Map
from transformer.text.tokenizer import EOS
from ui.translation_cache import CacheStep, cache_step, cache_svg
from ui.translation_lines import Line, lines_svg
from ui.translation_maps import describe_map, map_figure
from ui.translation_scores import score_card, table, verdict
from ui.translation_tokens import MOST, _numbers, payload
from ui.translation_tree import MOST_STEPS, PALE, describe_tree, first_shown, tree_svg

A, B = 4, 5
NAMES = {A: "ja", B: "nein", EOS: "</s>"}
TITLES = "query: target", "key: source"


def search() -> Record:
    """ja is kept before nein, then both end: nein </s> is the better one."""
    first = Step(0, ((Choice(A, -0.5), Choice(B, -0.9)),), (Beam((A,), (-0.5,), 0), Beam((B,), (-0.9,), 0)), 1)
    ended = Beam((B, EOS), (-0.9, -0.1), 1), Beam((A, EOS), (-0.5, -1.0), 0)
    second = Step(1, ((Choice(EOS, -1.0),), (Choice(EOS, -0.1),)), ended, 2)
    found = tuple(Hypothesis(beam.tokens, beam.token_log_probs, beam.log_prob) for beam in ended)
    return Record((7,), 2, 0.0, (), (first, second), found)


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def shown(element: ElementTree.Element) -> str:
    return "".join([element.text or "", *(child.tail or "" for child in element)])


def boxes(svg: ElementTree.Element) -> list[ElementTree.Element]:
    return [group for group in svg.iter("g") if group.get("class") in ("open", "ended")]


def test_a_tree_has_a_box_for_each_hypothesis_kept_and_a_line_to_its_parent():
    record = search()
    svg = parse(tree_svg(record, record.path(record.found[0]), 1, NAMES.__getitem__, 600))
    assert [shown(box.find("text")) for box in boxes(svg)] == ["ja", "nein", "</s>", "</s>"]
    assert [box.get("class") for box in boxes(svg)] == ["open", "open", "ended", "ended"]
    strong = [box.find("rect").get("stroke-width") == "2" for box in boxes(svg)]
    assert strong == [False, True, True, False], "nein and its end are the path of the best hypothesis"
    lines = [path.get("d") for path in svg.iter("path")]
    assert len(lines) == 2
    starts, ends = zip(*((line.split("C")[0].split()[1], line.split()[-1]) for line in lines), strict=True)
    assert starts == ("71.0", "41.0"), "the best end comes from the second row, the other from the first"
    assert ends == ("41.0", "71.0")
    titles = [box.find("title").text for box in boxes(svg)]
    assert titles[2] == "nein </s>: log-probability -1.000 nats, ended with score -1.000"
    assert titles[0].endswith("goes on")
    assert "best one reads nein </s>" in describe_tree(record, NAMES.__getitem__)


def test_steps_that_are_still_to_come_are_pale():
    record = search()
    svg = parse(tree_svg(record, record.path(record.found[0]), 0, NAMES.__getitem__, 600))
    assert [float(box.get("opacity")) for box in boxes(svg)] == [1, 1, PALE, PALE]


def test_of_a_long_search_the_steps_around_the_current_one_are_drawn():
    steps = tuple(Step(at, (), (Beam((A,) * (at + 1), (-0.1,) * (at + 1), 0),), 1) for at in range(60))
    record = Record((7,), 1, 0.6, (), steps, (Hypothesis(steps[-1].beams[0].tokens, (-0.1,) * 60, -1.0),))
    assert [first_shown(record, at) for at in (0, 30, 59)] == [0, 30 - MOST_STEPS // 2, 60 - MOST_STEPS]
    svg = parse(tree_svg(record, record.path(record.found[0]), 30, NAMES.__getitem__, 1000))
    assert len(boxes(svg)) == MOST_STEPS


def scored(n: int = 2) -> TargetScore:
    """ja, nein, ja, … each the second choice, at a probability of a quarter."""
    tokens = tuple((A, B)[at % 2] for at in range(n))
    others = tuple((B if piece == A else A, piece, EOS) for piece in tokens)
    likely = (math.log(0.5), math.log(0.25), math.log(0.1))
    return TargetScore(tokens, (math.log(0.25),) * n, (1.25,) * n, others, (likely,) * n)


def test_cards_hold_probability_entropy_and_alternatives():
    data = payload(scored(), ("ja", "nein"), NAMES.__getitem__, 1, 1)
    first, second = data["tokens"]
    assert (first["label"], first["given"], second["given"]) == ("ja", True, False)
    assert first["probability"] == pytest.approx(0.25)
    assert first["entropy"] == 1.25
    assert [choice["label"] for choice in first["alternatives"]] == ["nein", "ja", "</s>"]
    assert [choice["written"] for choice in first["alternatives"]] == [False, True, False]
    assert [choice["ends"] for choice in first["alternatives"]] == [False, False, True]
    assert first["alternatives"][0]["probability"] == pytest.approx(0.5)
    assert data["position"] == 1
    assert not data["note"]


@pytest.mark.parametrize(("position", "first"), [(0, 0), (100, 80), (199, 160)])
def test_of_a_long_target_the_cards_around_the_step_are_drawn(position, first):
    data = payload(scored(200), ["x"] * 200, NAMES.__getitem__, position, 0)
    assert [token["position"] for token in data["tokens"]] == list(range(first, first + MOST))
    assert data["note"] == f"Tokens {first + 1} to {first + MOST} of 200, around the step."


@pytest.mark.parametrize("sent", [None, "1", [1], [1, 2, 3], [1.5, 0], ["1", 0], [-1, 0], {"a": 1}, [math.nan, 1]])
def test_what_a_browser_should_not_send_is_ignored(sent):
    assert _numbers(sent, 2) is None
    assert _numbers([1, 0.0], 2) == [1, 0]


def asymmetric(**options) -> Map:
    values = np.array([[0.7, 0.2, 0.1], [0.0, 0.05, 0.9]])
    return Map(values, ("ja", "<b>nein</b>"), ("yes", "no", "no"), *TITLES, "weight", **options)


def test_rows_are_targets_and_columns_sources_and_repeated_words_stay_apart():
    figure = map_figure(asymmetric(), 500)
    assert np.allclose(figure.data[0].z, [[0.7, 0.2, 0.1], [0.0, 0.05, 0.9]])
    assert figure.layout.yaxis.ticktext == ("ja", "&lt;b&gt;nein&lt;/b&gt;")
    assert figure.layout.xaxis.ticktext == ("yes", "no", "no")
    assert figure.layout.yaxis.range == (1.5, -0.5), "the first target stands at the top"
    assert figure.layout.yaxis.title.text.startswith("query")
    assert figure.layout.xaxis.title.text.startswith("key")
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    assert describe_map(asymmetric()).endswith("0.900: target <b>nein</b>, source no.")


def test_differences_diverge_around_0_and_frames_lie_where_they_should():
    shown = Map(np.array([[-2.0, 0.5]]), ("ja",), ("yes", "no"), *TITLES, "fall", True, {(0, 1)}, 0)
    figure = map_figure(shown, 500)
    assert (figure.data[0].zmin, figure.data[0].zmid, figure.data[0].zmax) == (-2, 0, 2)
    assert (figure.data[-1].x, figure.data[-1].y) == ((1,), (0,)), "x is the column, y the row"
    assert (figure.layout.shapes[0].y0, figure.layout.shapes[0].y1) == (-0.5, 0.5)


def test_maps_of_nothing_and_of_512_words_are_drawn():
    assert map_figure(Map(np.zeros((0, 0)), (), (), *TITLES, "weight"), 500).data
    assert describe_map(Map(np.full((1, 1), np.nan), ("a",), ("b",), *TITLES, "weight")).endswith("source tokens.")
    labels = ["word"] * 512
    figure = map_figure(Map(np.zeros((512, 512)), labels, labels, *TITLES, "weight"), 560)
    assert len(figure.layout.xaxis.tickvals) < 128
    assert figure.layout.width < 1400


def test_lines_run_from_target_to_source():
    lines = [Line(0, 2, 0.9, "ja → no"), Line(1, 0, 0.3, "nein → yes")]
    svg = parse(lines_svg(("ja", "nein"), ("yes", "x", "no"), lines, TITLES, current=0, pale=(1,), numbers="abc"))
    drawn = {line.get("data-line"): line for line in svg.iter("line")}
    assert set(drawn) == {"0,2", "1,0"}
    assert float(drawn["0,2"].get("x1")) < float(drawn["0,2"].get("x2"))
    assert float(drawn["0,2"].get("y1")) < float(drawn["0,2"].get("y2")), "the first target word, the last source word"
    assert float(drawn["1,0"].get("stroke-opacity")) == 0.3
    assert drawn["0,2"].find("title").text == "ja → no"
    texts = [shown(text).strip("\u2068\u2069") for text in svg.iter("text")]
    assert texts == ["query: target", "key: source", "ja", "nein", "yes", "a", "x", "b", "no", "c"]


CONFIG = ModelConfig(vocab_size=9, d_model=16, d_ff=8, n_heads=2, n_encoder_layers=1, n_decoder_layers=3)


def test_the_cache_in_numbers_by_hand():
    """3 layers, 2 heads, d_k = d_v = 8: a key and its value are 2 · 16 numbers a layer, 96 in all."""
    first = cache_step(CONFIG, n_source=5, n_given=0, position=0, n_target=4, rows=1)
    assert (first.kept, first.computed, first.to_come, first.source_computed) == (0, 1, 3, True)
    assert (first.numbers_kept, first.numbers_computed) == (0, 96 * (1 + 5))
    third = cache_step(CONFIG, n_source=5, n_given=0, position=2, n_target=4, rows=4)
    assert (third.kept, third.computed, third.to_come, third.source_computed) == (2, 1, 1, False)
    assert third.numbers_kept == 96 * (2 * 4 + 5)
    assert third.numbers_computed == 96 * 4
    assert third.numbers_without == 96 * (3 * 4 + 5)


def test_tokens_that_were_given_are_read_in_the_first_pass():
    first = cache_step(CONFIG, n_source=5, n_given=3, position=3, n_target=6, rows=1)
    assert (first.kept, first.computed, first.to_come, first.source_computed) == (0, 4, 2, True)
    after = cache_step(CONFIG, n_source=5, n_given=3, position=4, n_target=6, rows=2)
    assert (after.kept, after.computed, after.to_come) == (4, 1, 1)


@pytest.mark.parametrize("kept", [0, 2, 400])
def test_cells_are_kept_computed_or_to_come(kept):
    svg = parse(cache_svg(CacheStep(kept, 1, 3, 4, kept == 0, 1, 3, 2, 8, 8)))
    kinds = [cell.get("class") for cell in svg.iter("rect")][:-3]  # without the legend
    assert kinds.count("cell-new") == (5 if kept == 0 else 1)
    assert kinds.count("cell-empty") in (3, 2), "of very many cells those around the step are drawn"
    assert len(kinds) <= 60


def test_a_verdict_says_how_many_times_as_likely():
    likely = TargetScore((A,), (-1.0,), (0.0,), ((),), ((),))
    unlikely = TargetScore((A, B), (-1.0, -1.5), (0.0, 0.0), ((), ()), ((), ()))
    said = verdict("the first", "the second", unlikely, likely)
    assert said.startswith(
        f"The model finds the second {math.exp(1.5):.1f} times as likely as the first: 1.50 nats more."
    )
    assert "Per token, the second comes first: −1.000 against −1.250 nats." in said
    assert verdict("one", "two", likely, likely) == "The model finds one and two equally likely."
    far = TargetScore((A,), (-24.0,), (0.0,), ((),), ((),))
    assert "9.7 · 10⁹ times" in verdict("one", "two", likely, far)
    assert "times as likely" in verdict("one", "two", likely, TargetScore((A,), (-9e5,), (0.0,), ((),), ((),)))


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_texts_of_all_kinds_stay_texts(text):
    """Pictures parse as XML, and nothing in them is an element that we did not write."""
    record = search()
    tree = parse(tree_svg(record, record.path(record.found[0]), 1, lambda piece: text, 600))
    lines = parse(lines_svg((text,), (text, "x"), [Line(0, 0, 1.0, text)], TITLES, current=0, numbers=(text, text)))
    card = parse(score_card(text, text, (text,), TargetScore((A,), (-1.0,), (0.0,), ((),), ((),)), 0.6))
    allowed = {"svg", "g", "title", "rect", "text", "path", "line", "div", "table", "thead", "tbody", "tr", "th", "td"}
    for picture in (tree, lines, card):
        assert {element.tag for element in picture.iter()} <= allowed | {"span", "i"}
        assert not any(name.startswith("on") for element in picture.iter() for name in element.attrib)
    figure = map_figure(Map(np.ones((1, 1)), (text,), (text,), *TITLES, "weight"), 500)
    assert "<" not in figure.layout.xaxis.ticktext[0] + figure.layout.yaxis2.ticktext[0]
    assert payload(scored(), (text, text), lambda piece: text, 0, 0)["tokens"][0]["label"] == text


def test_a_table_marks_a_row_and_sets_numbers_right():
    html = parse(table(("word", "n"), [("a", "1"), ("b", "2")], marked=1))
    rows = html.findall("tbody/tr")
    assert [row.get("class") for row in rows] == [None, "marked"]
    assert [cell.get("class") for cell in rows[0]] == [None, "number"]
