"""Translation: every tab, its numbers against the model's, links, prefixes with their undo, and texts of all kinds."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.translating import as_code, comparing, decoding, export, forced, panels
from pages.translating.aligned import Alignment, aligned, alignment_arrays, alignment_svg, link_rows
from pages.translating.alignment import gold_scores, said_scores
from pages.translating.layers import AlignBy
from pages.translating.state import target_trace
from pages.translating.take import origin_of
from pages.translating.view import View
from tests import hostile
from tests.analysis.hand_made import ABOUT, SVG, assert_only_ours
from tests.export.test_report import Page
from tests.ui.test_translation_figures import search
from transformer import __version__, load_checkpoint
from transformer.analysis.alignment import word_links, word_weights
from transformer.decoding.record import record_search
from transformer.decoding.score import score_target
from transformer.export.svg_document import framed
from transformer.export.tables import arrays_npz, table_csv, table_json
from ui.markdown import plain
from ui.sidebar import Request
from ui.taken import report
from ui.translation_tree import tree_svg

TABS = ("Decoding", "Alignment", "Without a word", "Compare")
SHIPPED = "everyday-en-de"
ALLOWED = {
    "b", "code", "div", "i", "li", "span", "style", "table", "tbody", "td", "th", "thead", "tr", "ul",
    "svg", "g", "line", "path", "rect", "text", "title",
}  # fmt: skip


@pytest.fixture
def open_page(open_app: Callable[..., AppTest]) -> Callable[..., AppTest]:
    """Opens the page at a tab, with these query parameters, on a short sentence of the shipped model."""

    def start(tab: str = TABS[0], **parameters: str) -> AppTest:
        wanted = {"model": SHIPPED, "sentence": "The dog sees her.", "translation_tab": tab, **parameters}
        return arrive(open_app, **wanted)

    return start


def arrive(open_app: Callable[..., AppTest], **wanted: str) -> AppTest:
    """As a link does it; AppTest starts on the first page and goes on from there."""
    app = open_app(**{name: wanted[name] for name in ("model", "sentence", "target") if name in wanted})
    del app.session_state["asked"]
    app.query_params.update(wanted)
    return app.switch_page("pages/translation.py").run()


def assert_plain(app: AppTest) -> None:
    assert not app.exception, app.exception
    assert not app.error


def html(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def components(app: AppTest) -> dict[str, dict]:
    """What each component was sent, by its key."""
    found = {}
    for element in app.get("bidi_component"):
        if element.proto.WhichOneof("data") == "json":
            found[element.proto.id.rpartition("-")[2]] = json.loads(element.proto.json)
    return found


def tokens(app: AppTest) -> list[dict]:
    return components(app)["translation_tokens"]["tokens"]


def run_code(app: AppTest):
    """What the last line of the code under "As code" gives."""
    *lines, last = app.code[0].value.strip().split("\n")
    names: dict = {}
    exec("\n".join(lines), names)
    return eval(last, names)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def assert_only_our_markup(app: AppTest) -> None:
    reader = Tags()
    reader.feed(html(app) + "".join(data.get("svg", "") for data in components(app).values()))
    assert reader.tags <= ALLOWED
    assert not any(name.startswith("on") or name in ("href", "src") for name in reader.attributes)


def test_it_opens_on_the_token_at_which_the_model_was_least_sure(open_page):
    app = open_page()
    assert_plain(app)
    assert not app.warning
    assert app.title[0].value == "Translation"
    cards = tokens(app)
    assert cards[-1]["label"] == "</s>"
    surest = max(range(len(cards)), key=lambda place: cards[place]["entropy"])
    assert components(app)["translation_tokens"]["position"] == surest
    assert app.slider(key="translation_step").value == surest + 1
    assert "decoding_step" not in app.query_params


def test_what_is_shown_is_what_the_search_found(open_page):
    app = open_page(beam="3", alpha="1.0")
    checkpoint = load_checkpoint(SHIPPED)
    record = record_search(checkpoint.model, checkpoint.tokenizer.encode("The dog sees her."), beam=3, alpha=1.0)
    shown = html(app)
    for found in record.found:
        for value in (found.log_prob, found.score):
            assert f"{value:.3f}".replace("-", "−") in shown
    assert [card["log_prob"] for card in tokens(app)] == pytest.approx(record.found[0].token_log_probs, abs=1e-4)
    assert app.query_params["beam"] == "3"
    assert [(text, log_prob) for text, log_prob, _ in run_code(app)] == [
        (checkpoint.tokenizer.decode(found.tokens), pytest.approx(found.log_prob, abs=1e-4)) for found in record.found
    ]


def test_greedy_finds_one_hypothesis(open_page):
    app = open_page(beam="1")
    assert_plain(app)
    assert app.selectbox(key="hypothesis").options == ["1"]


def test_the_slider_replays_decoding(open_page):
    app = open_page()
    app.slider(key="translation_step").set_value(1).run()
    assert_plain(app)
    sent = components(app)
    assert sent["translation_tokens"]["position"] == 0
    assert app.query_params["decoding_step"] == "1"
    assert "0 positions kept, 1 computed" in sent["cache"]["svg"]
    app.slider(key="translation_step").set_value(3).run()
    assert "2 positions kept, 1 computed" in components(app)["cache"]["svg"]


def test_a_prefix_is_decoded_from_and_undone(open_page):
    checkpoint = load_checkpoint(SHIPPED)
    begun = checkpoint.tokenizer.encode("Die Katze")
    app = open_page(prefix="-".join(map(str, begun)), decoding_step="1")
    assert_plain(app)
    cards = tokens(app)
    assert [card["given"] for card in cards][: len(begun) + 1] == [True] * len(begun) + [False]
    assert "Die Katze" in html(app)
    assert any("given by you" in caption.value for caption in app.caption)
    assert f"prefix={begun}" in app.code[0].value
    assert run_code(app)[0][0].startswith("Die Katze")
    app.button(key="undo").click().run()
    assert not any(card["given"] for card in tokens(app))
    assert "prefix" not in app.query_params
    assert app.button(key="undo").disabled


def test_another_sentence_drops_the_prefix_and_the_step(open_page):
    app = open_page(prefix="456", decoding_step="2")
    app.text_area(key="sentence").set_value("It is cold.").run()
    assert_plain(app)
    assert not {"prefix", "decoding_step"} & set(app.query_params)
    assert not any(card["given"] for card in tokens(app))


def test_nonsense_in_the_address_is_left_out(open_page):
    numbers = {"beam": "99", "alpha": "much", "hypothesis": "x", "decoding_step": "999", "prefix": "12-x"}
    app = open_page(**numbers, cross_layer="L77", mean="true")
    assert_plain(app)
    assert len(tokens(app)) > 1
    refused = "beam=99, alpha=much, hypothesis=x, cross_layer=L77, prefix=12-x, decoding_step=999, mean=true"
    assert f"this was left out: {refused}.</div>" in html(app)
    app.run()
    assert "left out" not in html(app)


def test_a_whole_link_says_nothing_of_nonsense(open_page):
    app = open_page(beam="2", alpha="1.5", hypothesis="2", decoding_step="2", prefix="456", cross_layer="L1")
    assert_plain(app)
    assert "left out" not in html(app)
    assert tokens(app)[0]["given"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [("", ()), ("17", (17,)), ("17-4-9", (17, 4, 9)), ("3", ()), ("17--4", ()), ("10", ()), ("-1", ()),
     ("17-18-19-20", ()), ("１７", ()), ("1" * 5000, ()), ("4.5", ())],
)  # fmt: skip
def test_a_prefix_in_a_link_is_ids_of_pieces(text, ids):
    assert forced.parse(text, 10 if text == "10" else 100, 3) == ids


def test_alignment_is_that_of_the_attention_and_says_how_good_it_is(open_page):
    app = open_page("Alignment", align_layer="L2", align_rows="written", align_by="both")
    assert_plain(app)
    trace = load_checkpoint(SHIPPED).trace("The dog sees her.")
    weights = word_weights(trace.cross, "written")[2].mean(0)
    links = word_links(weights, "intersection")
    assert run_code(app) == sorted(links)
    svg = components(app)["alignment_lines"]["svg"]
    assert all(f'data-line="{target},{source}"' in svg for source, target in links)
    assert svg.count("data-line") == len(links)
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert figure["layout"]["xaxis"]["title"]["text"].startswith("key")
    said = html(app)
    assert "for the diagonal, which needs no model" in said
    assert "Measured, not tuned on these sentences." in said


def test_a_threshold_links_every_weight_from_it_on(open_page):
    app = open_page("Alignment", align_by="threshold", align_threshold="0.35")
    assert_plain(app)
    cross = load_checkpoint(SHIPPED).trace("The dog sees her.").cross
    rows, layer = app.button_group(key="align_rows").value, int(app.selectbox(key="align_layer").value[1:])
    weights = word_weights(cross, rows)[layer].mean(0)
    assert run_code(app) == sorted(zip(*np.nonzero(weights.T >= 0.35), strict=True))
    assert f"{len(run_code(app))} links" in " ".join(caption.value for caption in app.caption)


def test_without_gold_it_says_how_to_measure(open_app):
    app = arrive(open_app, translation_tab="Alignment", sentence="a", beam="1")
    assert_plain(app)
    assert "No alignment error rate was measured for sentences" in html(app)


def test_deleting_says_where_attention_looks_elsewhere(open_page):
    app = open_page("Without a word", cross_layer="L0")
    assert_plain(app)
    said = html(app)
    assert "disagreements" in said or "On all " in said
    weights, drops = (json.loads(chart.proto.spec)["data"][0] for chart in app.get("plotly_chart"))
    assert (drops["zmid"], drops["zmin"]) == (0, -drops["zmax"])
    assert (weights["zmin"], weights["zmax"]) == (0, 1)
    reproduced = run_code(app)
    assert drops["zmax"] == pytest.approx(np.abs(reproduced).max(), abs=1e-3)


def test_targets_are_compared_token_by_token(open_page):
    app = open_page("Compare", target="Der Hund sieht sie.", second_target="Katzen")
    assert_plain(app)
    said = " ".join(element.value for element in app.markdown)
    assert len(re.findall("times as likely as|and .* equally likely", said)) == 3
    log_prob, mean, each = run_code(app)
    assert mean == pytest.approx(log_prob / len(each))
    assert f"{log_prob:.2f}".replace("-", "−") in html(app)
    alone = open_page("Compare")
    assert "Type a second translation" in " ".join(element.value for element in alone.markdown)


def test_a_typed_target_is_what_alignment_and_deletion_are_about(open_page):
    app = open_page("Alignment", target="Ja Nein")
    assert "Nein" in components(app)["alignment_lines"]["svg"]
    assert ", 'Ja Nein')" in app.code[0].value


def test_hypotheses_that_were_cut_off_are_shown_too(open_app):
    """An untrained model does not end; here it is given a source of one letter."""
    for tab in TABS:
        app = arrive(open_app, sentence="a", beam="2", hypothesis="2", translation_tab=tab)
        assert_plain(app)
        assert not app.warning
        run_code(app)


@pytest.mark.parametrize("sentence", ["", "   "])
def test_an_empty_sentence_gets_one_plain_sentence(open_page, sentence):
    app = open_page()
    app.text_area(key="sentence").set_value(sentence).run()
    assert_plain(app)
    assert [plain("The sentence is empty; type at least one word.")] == [warning.value for warning in app.warning]


def test_what_is_too_long_gets_one_plain_sentence(open_page):
    app = open_page(target="zu lang " * 2000, translation_tab="Compare")
    assert_plain(app)
    assert len(app.warning) == 1
    assert "The target has" in app.warning[0].value


def test_with_no_model_it_says_how_to_make_one(open_page, monkeypatch):
    monkeypatch.setattr("ui.sidebar.list_checkpoints", list)
    app = open_page()
    assert_plain(app)
    assert "roundtable train" in app.info[0].value


@pytest.fixture(scope="module")
def opened_tabs() -> dict[str, AppTest]:
    """Pages that are opened once and then given one text after the other, by tab."""
    return {}


@pytest.mark.parametrize(("place", "text"), list(enumerate(hostile.TEXTS.values())), ids=list(hostile.TEXTS))
def test_texts_of_all_kinds_are_shown_as_they_are(open_page, opened_tabs, place, text):
    tab = TABS[place % 4]
    if tab not in opened_tabs:
        opened_tabs[tab] = open_page(tab, target="Der Hund", beam="1")
    app = opened_tabs[tab]
    boxes = [box for box in app.text_area if box.key in ("sentence", "target", "second_target")]
    assert len(boxes) == (3 if tab == "Compare" else 2)
    for box in boxes:
        box.set_value(text)
    app.run()
    assert_plain(app)
    assert_only_our_markup(app)


@pytest.mark.parametrize("tab", TABS)
def test_markup_stays_text_on_every_tab(open_page, tab):
    app = open_page(tab, sentence=hostile.SCRIPT, target=hostile.SCRIPT, second_target=hostile.SCRIPT, beam="2")
    assert_plain(app)
    assert_only_our_markup(app)
    assert not app.warning


@pytest.mark.parametrize("place_and_rank", [(99, 0), (0, 99)])
def test_a_pick_that_the_page_does_not_offer_is_ignored(place_and_rank, monkeypatch):
    view = a_view(beam=1)
    scored = score_target(load_checkpoint(SHIPPED).model, view.record.source, view.hypothesis.tokens)
    monkeypatch.setattr(forced, "go_on_from", lambda prefix: pytest.fail("it went on"))
    decoding._pick(view, scored, *place_and_rank)
    end = scored.alternatives[-1].index(3)
    decoding._pick(view, scored, len(scored.tokens) - 1, end)


def test_of_very_many_tokens_those_around_the_step_and_with_the_largest_weights_are_drawn():
    weights = np.zeros(200)
    weights[[5, 150, 7]] = 0.5, 0.3, 0.2
    targets, sources = panels.drawn_tokens(weights, 100, 120)
    assert (len(targets), len(sources)) == (panels.FEW, panels.FEW)
    assert 100 in targets
    assert {5, 7, 150} <= set(sources)
    assert sources == sorted(sources)
    assert panels.drawn_tokens(weights[:9], 2, 4) == ([0, 1, 2, 3], list(range(9)))


def a_view(sentence: str = "The dog sees her.", target: str | None = None, **options) -> View:
    checkpoint = load_checkpoint(SHIPPED)
    record = record_search(checkpoint.model, checkpoint.tokenizer.encode(sentence), **options)
    typed = None if target is None else (*checkpoint.tokenizer.encode(target), 3)
    return View(Request(SHIPPED, sentence, target), record, 0, typed)


def trace_of(view: View):
    return target_trace(view.model, view.sentence, view.read, view.typed is None)


def test_tables_and_arrays_hold_what_was_found():
    view = a_view(beam=2)
    about = export.about_of(view, trace_of(view))
    facts = export.facts_of(view, about)
    assert (about.view, facts["beam"], facts["hypothesis"]) == ("beam 2, α 0.6, the model's translation", 2, 1)
    assert (facts["model"], facts["step"], facts["sentence"]) == (SHIPPED, 5200, view.sentence)
    for rows in (export.token_rows(view), export.hypothesis_rows(view), export.step_rows(view)):
        read = list(csv.DictReader(io.StringIO(table_csv(rows, facts).decode("utf-8"))))
        assert [set(row) - {"about"} for row in read] == [set(row) for row in rows]
        assert json.loads(read[0]["about"]) == facts
        assert json.loads(table_json("a table", rows, facts))["rows"] == json.loads(json.dumps(rows))
    assert sum(row["log_prob"] for row in export.token_rows(view)) == pytest.approx(view.hypothesis.log_prob, abs=1e-3)
    with np.load(io.BytesIO(arrays_npz(export.search_arrays(view), facts)), allow_pickle=False) as stored:
        assert tuple(stored["ids"]) == view.hypothesis.tokens
        assert stored["log_probs"].sum() == pytest.approx(view.hypothesis.log_prob, abs=1e-3)
        assert stored["hypothesis_scores"].tolist() == [found.score for found in view.record.found]


def test_a_typed_target_is_said_to_be_typed():
    view = a_view(target="Ja Nein", beam=1)
    assert export.about_of(view, trace_of(view)).view == "typed target"
    assert export.about_of(view, trace_of(view)).target == "Ja Nein"


def aligned_view(rows: str = "written") -> tuple[Alignment, AlignBy]:
    """Two target words, three source words, no two weights alike; ja – no and nein – yes are linked."""
    weights = np.array([[0.1, 0.2, 0.6], [0.5, 0.3, 0.05]])
    links = frozenset({(2, 0), (0, 1)})
    return Alignment(("ja", "nein"), ("yes", "x", "no"), weights, links), AlignBy(rows, 0, None, "target", None)


def test_an_alignment_is_transposed_in_no_file():
    shown, _ = aligned_view()
    assert [(row["target"], row["source"], row["weight"]) for row in link_rows(shown)] == [
        ("ja", "no", 0.6), ("nein", "yes", 0.5),
    ]  # fmt: skip
    arrays = alignment_arrays(shown)
    assert arrays["weights"][0, 2] == 0.6
    assert (arrays["link_targets"].tolist(), arrays["link_sources"].tolist()) == ([0, 1], [2, 0])
    svg = alignment_svg(shown)
    assert 'data-line="0,2"' in svg
    assert 'data-line="1,0"' in svg


OFFERED = {
    "Decoding": (["search tree", "token probabilities", "cache", "cross-attention at this step"],
                 ["tokens", "hypotheses", "steps"]),
    "Alignment": (["alignment matrix", "alignment lines"], ["links", "weights"]),
    "Without a word": (["cross-attention", "deletions"], ["deletions"]),
    "Compare": (["tokens of its own translation", "tokens of the second target"], ["scores"]),
}  # fmt: skip


@pytest.mark.parametrize(("tab", "offered"), OFFERED.items())
def test_every_view_can_be_taken_in_every_format(open_page, tab, offered):
    app = open_page(tab, second_target="Katzen")
    assert not app.get("download_button")
    app.session_state.take = True
    app.run()
    assert_plain(app)
    assert not app.warning
    pictures, tables = offered
    said = [element.value for element in app.markdown]
    start = said.index("**The pictures**") + 1
    assert said[start : start + len(pictures)] == pictures
    start = said.index("**The numbers**") + 1
    assert said[start : start + len(tables) + 1] == [*tables, "arrays"]
    kinds = [button.proto.label for button in app.get("download_button")]
    assert kinds == ["SVG"] * len(pictures) + ["CSV", "JSON"] * len(tables) + ["NPZ", "HTML"]


def test_pictures_and_report_of_a_search_say_where_they_come_from():
    view = a_view(beam=3)
    trace = trace_of(view)
    scored = score_target(load_checkpoint(SHIPPED).model, view.record.source, view.hypothesis.tokens)
    taken = decoding.taken(view, trace, scored, None, 1)
    origin = origin_of(view, taken)
    about, facts = origin.about, origin.facts
    for draw in taken.pictures.values():
        root = assert_only_ours(draw(about, facts))
        assert json.loads(root.findtext(f"{SVG}metadata")) == facts
        assert f"{SHIPPED} · step 5,200 · Roundtable {__version__}" in "".join(root.itertext())
    page = Page(report(taken, origin).decode("utf-8"))
    assert page.elements.count("figure") == 4
    assert json.loads(page.meta("roundtable")) == facts
    assert {"d_model", "hypotheses"} <= {text for found in page.texts.values() for text in found}


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_pictures_of_any_text_are_ours_alone(text):
    """The drawing functions alone, which are quick; the page's own way through them is above."""
    shown = Alignment((text, "b"), ("a", text), np.array([[0.1, 0.9], [0.8, 0.2]]), frozenset({(1, 0), (0, 1)}))
    facts = {**ABOUT.facts(), "sentence": text}
    for svg in (alignment_svg(shown), tree_svg(search(), [1, 0], 1, lambda piece: text, 600)):
        root = assert_only_ours(framed(svg, text, ABOUT, facts, [text]))
        assert json.loads(root.findtext(f"{SVG}metadata"))["sentence"] == text


def test_a_typed_target_among_those_compared_is_said_to_be_one():
    view = a_view(beam=2, target="Der Hund.")
    targets = {"its own translation": view.hypothesis.tokens, comparing.TYPED: view.typed}
    texts = dict.fromkeys(targets, "x")
    scores = {
        name: score_target(load_checkpoint(SHIPPED).model, view.record.source, ids) for name, ids in targets.items()
    }
    pictures = comparing.taken(view, targets, texts, scores).pictures
    about = export.about_of(view, trace_of(view))
    about = replace(about, view="beam 2, the model's translation")
    for draw, said in zip(pictures.values(), (about.view, "typed target"), strict=True):
        root = assert_only_ours(draw(about, export.facts_of(view, about)))
        assert json.loads(root.findtext(f"{SVG}metadata"))["view"] == said


def test_the_score_of_what_the_model_wrote_is_that_of_its_very_pieces():
    view = a_view(beam=2, prefix=[456])
    names: dict = {}
    *lines, last = as_code.score_code(view).strip().split("\n")
    exec("\n".join(lines), names)
    assert eval(last, names)[0] == pytest.approx(view.hypothesis.log_prob, abs=1e-4)


def test_code_of_what_no_plain_trace_gives_names_the_pieces():
    view = a_view(beam=2, prefix=[456])
    code = as_code.deletion_code(view)
    assert f"written = {list(view.hypothesis.tokens)}" in code
    names: dict = {}
    *lines, last = code.strip().split("\n")
    exec("\n".join(lines), names)
    assert eval(last, names).shape[0] == len(view.hypothesis.tokens)


def test_words_and_links_of_both_kinds_of_rows(monkeypatch):
    cross = load_checkpoint(SHIPPED).trace("The dog sees her.").cross
    written, read = (aligned(cross, AlignBy(rows, 0, 1, "target", None)) for rows in ("written", "read"))
    assert written.targets == read.targets
    assert written.weights.shape == (len(written.targets), len(written.sources))
    assert not np.allclose(written.weights, read.weights)
    assert {target for _, target in read.links} == set(range(len(read.targets)))


def test_error_rates_are_read_from_evaluation_json_and_nonsense_there_is_left_out():
    result = {"best_layer": {"rows": "read", "layer": 0, "aer": 0.6}, "diagonal_aer": 0.7, "n_sentences": 9,
              "layers": {"written": [0.8, 0.75], "read": [0.6, 0.9]}}  # fmt: skip
    markup = {"best_layer": {"rows": "read", "layer": "<img src=x>", "aer": 0.6}}
    nonsense = [3, {}, result | markup, result | {"n_sentences": "9"}, result | {"layers": {"read": []}}]
    wrong = {f"alignment {place}": each for place, each in enumerate(nonsense)}
    kept = gold_scores({"alignment <b>": result, "tatoeba test": {"bleu": 1}, **wrong})
    assert [name for name, _ in kept] == ["<b>"]
    said = said_scores(*kept[0], AlignBy("written", 1, None, "target", None))
    assert "&lt;b&gt;" in said
    assert "<b>0.60</b> for the best layer (L0, rows that read it), <b>0.70</b> for the diagonal" in said
    assert "The layer shown here: 0.75." in said
    assert "The layer shown here" not in said_scores(*kept[0], AlignBy("read", 0, None, "target", None))
