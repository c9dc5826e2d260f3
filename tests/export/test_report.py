"""The report: one file, no script, no address, every text escaped, and all that a trace has to say."""

import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from tests import hostile
from tests.analysis.hand_made import asymmetric, long, tokens
from transformer import __version__
from transformer.analysis.attention import Attention
from transformer.analysis.trace import KINDS, Trace, Translation
from transformer.export.markup import visible
from transformer.export.report import decided_head, report_html
from transformer.export.report_parts import POLICY

ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "footer", "section", "div", "h1", "h2", "h3"),
    *("p", "dl", "dt", "dd", "bdi", "ol", "li", "b", "i", "span", "figure", "figcaption", "table", "tbody", "tr", "th"),
    *("td", "code", "svg", "desc", "metadata", "g", "defs", "pattern", "lineargradient", "stop", "rect", "line"),
    *("circle", "image", "text"),
}
EVALUATION = {
    "corpus test": {
        "n_sentences": 1543,
        "perplexity": 5.12345,
        "bleu": {"score": 41.52, "signature": "nrefs:1|case:mixed"},
        "parts": {"long": 0.25},
        "complete": True,
        "note": "<b>bold</b>",
        "nothing": None,
    }
}


class Page(HTMLParser):
    """Elements, attributes, and what is read, with the text of one element by its class."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.elements, self.attributes = [], [], []
        self.texts: dict[str, list[str]] = {}
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag != "meta":
            self.open.append((tag, dict(attrs).get("class", "")))
            self.texts.setdefault(self.open[-1][1] or tag, []).append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open:
            tag, name = self.open[-1]
            self.texts[name or tag][-1] += data

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def handle_pi(self, data):
        raise AssertionError(f"a processing instruction: {data}")

    def meta(self, name: str) -> str:
        index = next(i for i, (_, key, value) in enumerate(self.attributes) if (key, value) == ("name", name))
        return self.attributes[index + 1][2]


def made(pattern: Attention, text: str = "a sentence") -> Trace:
    """A trace whose three kinds hold the same numbers."""
    kinds = {
        kind: Attention(kind, pattern.pattern, None, pattern.mask, pattern.queries, pattern.keys) for kind in KINDS
    }
    log_probs = tuple(-0.5 * place for place in range(len(pattern.queries)))
    return Trace("model", 1200, text, Translation("ein Satz", True, log_probs, -1.5), **kinds)


@pytest.fixture(scope="module")
def page(checkpoint) -> Page:
    trace = checkpoint.trace("The animal was tired.", "Das Tier war müde.")
    return Page(
        report_html(trace, {"cross": (1, 2)}, config={"model": {"d_model": 16}, "step": 7}, evaluation=EVALUATION)
    )


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_is_text_and_nothing_else(text, checkpoint):
    trace = checkpoint.trace(text, text)
    views = {kind: trace[kind].words() for kind in KINDS}
    named = {text: {text: text, "bleu": {"score": 1.0, "signature": text}}}
    html = report_html(trace, views=views, view=text, config=named, evaluation=named)
    page = Page(html)
    assert set(page.elements) <= ELEMENTS
    assert page.elements.count("style") == 1
    for tag, name, value in page.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "srcset", "action", "data", "formaction", "xlink:href")
        if name == "href":
            assert tag == "image"
            assert re.fullmatch(r"data:image/png;base64,[A-Za-z0-9+/=]+", value)
        if name == "style":
            assert re.fullmatch(r"image-rendering:pixelated|--p:[0-9.]+%|background:#[0-9a-f]{6}", value)
        if name in ("id", "fill"):
            assert re.fullmatch(r"[a-z0-9-]+|#[0-9a-f]{6}|currentColor|url\(#[a-z0-9-]+\)", value)
    size = " long" if len(text) > 160 else ""
    assert page.texts[f"text source{size}"] == page.texts[f"text target{size}"] == [visible(text)]
    assert page.texts["b"] == [visible(label) for label in trace.target.labels]
    about = json.loads(page.meta("roundtable"))
    assert (about["sentence"], about["target"], about["view"]) == (text, text, text)
    html.encode("utf-8")


def test_it_forbids_itself_everything(page):
    assert ("meta", "http-equiv", "Content-Security-Policy") in page.attributes
    assert ("meta", "content", POLICY) in page.attributes
    assert POLICY == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert "script" not in page.elements
    (style,) = page.texts["style"]
    assert not re.search(r"url\(|@import|@font-face|//", style)
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style


def test_it_says_where_it_comes_from(page):
    expected = {"model": "test", "step": 0, "version": __version__, "sentence": "The animal was tired."}
    assert expected.items() <= json.loads(page.meta("roundtable")).items()
    assert page.texts["bdi"][:2] == ["test", "0"]
    assert page.texts["bdi"][-1] == f"Roundtable {__version__}"


def test_it_shows_all_heads_and_one_head_of_each_kind(page):
    assert page.elements.count("figure") == page.elements.count("svg") == 6
    captions = page.texts["figcaption"]
    assert captions[5].startswith("L1·H2. The strongest weight is from query ")
    assert "the head whose queries most decidedly choose one token" in captions[1]
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(set(ids)) == len(ids)


def test_each_token_of_the_target_has_its_probability():
    trace = made(asymmetric())
    page = Page(report_html(trace))
    assert page.texts["b"] == ["q0", "q1", "q2"]
    spans = page.texts["span"]
    assert spans == ["100 %", "0 nats", "61 %", "−0.5 nats", "37 %", "−1.00 nats"]
    assert [value for _, name, value in page.attributes if value.startswith("--p")] == [
        "--p:100.0%",
        "--p:60.7%",
        "--p:36.8%",
    ]
    note = "The model wrote this: log-probability −1.50 nats over 3 tokens, end of sentence included; score −1.50."
    assert note in page.texts["note"]


@pytest.mark.parametrize(("log_prob", "said"), [(math.nan, "not a number"), (-math.inf, "−∞"), (-9.0, "< 1 %")])
def test_unusual_probabilities_are_said(log_prob, said):
    trace = made(asymmetric())
    trace = Trace(
        "m", 1, "s", Translation("t", False, (log_prob,) * 3, log_prob), trace.encoder, trace.decoder, trace.cross
    )
    html = report_html(trace)
    assert "This target was given" in html
    assert any(said in text for text in Page(html).texts["span"])


def test_scores_stand_beside_their_signatures_and_config_is_whole(page):
    rows = dict(zip(page.texts["th"], page.texts["td"], strict=True))
    assert rows["n_sentences"] == "1,543"
    assert rows["perplexity"] == "5.123"
    assert rows["bleu"] == "41.52 "
    assert page.texts["code"] == ["nrefs:1|case:mixed"]
    assert (rows["parts.long"], rows["complete"], rows["note"], rows["nothing"]) == (
        "0.25",
        "yes",
        "<b>bold</b>",
        "none",
    )
    assert (rows["d_model"], rows["step"]) == ("16", "7")
    assert {"Scores", "Configuration"} <= set(page.texts["h2"])


def test_without_scores_and_config_it_speaks_of_none():
    html = report_html(made(asymmetric()))
    assert "Scores" not in html
    assert "Configuration" not in html


def test_a_view_takes_the_place_of_the_pattern_and_is_named():
    trace = made(asymmetric())
    page = Page(report_html(trace, {"cross": (1, 0)}, views={"cross": trace.cross.mean()}, view="mean over heads"))
    assert page.texts["figcaption"][5].startswith("L1·mean. ")
    assert "mean over heads" in page.texts["bdi"]


def test_a_view_with_nothing_in_it_says_so():
    nothing = Attention("cross", np.zeros((1, 1, 0, 0), np.float32), None, np.zeros((0, 0), bool), tokens(), tokens())
    page = Page(report_html(made(asymmetric()), views={"cross": nothing}))
    assert "Nothing is left to show in this view." in page.texts["note"]
    assert page.elements.count("figure") == 4


def test_a_head_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"There is no head 9; a layer has heads 0 to 2\."):
        report_html(made(asymmetric()), {"cross": (0, 9)})
    with pytest.raises(ValueError, match=r"There is no layer -1; cross has layers 0 to 1\."):
        report_html(made(asymmetric()), {"cross": (-1, 0)})


def test_the_decided_head_looks_at_words_where_there_is_a_choice():
    pattern = np.full((2, 2, 3, 3), 1 / 3, np.float32)
    pattern[0, 1] = np.eye(3)[[2, 2, 2]]  # on </s>
    pattern[1, 0] = np.eye(3)[[0, 1, 1]]
    sides = tokens("a", "b", "</s>")
    assert decided_head(Attention("encoder", pattern, None, np.ones((3, 3), bool), sides, sides)) == (1, 0)
    pattern[...] = np.nan
    assert decided_head(Attention("encoder", pattern, None, np.ones((3, 3), bool), sides, sides)) == (0, 0)


def test_512_tokens_stay_small():
    assert len(report_html(made(long())).encode("utf-8")) < 3_000_000
