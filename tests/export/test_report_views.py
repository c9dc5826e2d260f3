"""A report of any pictures and tables: whole, escaped, self-contained, and with what it is of inside."""

import json
import re

import pytest

from tests import hostile
from tests.analysis.hand_made import ABOUT, asymmetric
from tests.export.test_report import ELEMENTS, EVALUATION, Page, made
from transformer import __version__
from transformer.export.report_parts import MOST_ROWS, POLICY
from transformer.export.report_views import views_report
from transformer.export.svg_head import head_svg

ROWS = [{"token": "ja", "log_prob": -0.5}, {"token": "nein", "log_prob": -1.25, "given": True}]


def report(text: str = "a sentence", rows=ROWS, **options) -> Page:
    picture = head_svg(asymmetric(), 0, 1, ABOUT)
    facts = {**ABOUT.facts(), "sentence": text}
    return Page(
        views_report(
            made(asymmetric(), text), ABOUT, facts, text, {text: picture, "again": picture}, {text: rows}, **options
        )
    )


def test_it_holds_sentence_pictures_and_tables():
    page = report(evaluation=EVALUATION, config={"step": 7})
    assert page.texts["text source"] == ["a sentence"]
    assert page.texts["figcaption"] == ["A sentence", "Again"]
    assert page.texts["th"][:3] == ["token", "log_prob", "given"]
    assert page.texts["td"][:6] == ["ja", "-0.5", "", "nein", "-1.25", "yes"]
    assert {"Pictures", "Numbers", "Scores", "Configuration"} <= set(page.texts["h2"])
    about = json.loads(page.meta("roundtable"))
    assert (about["model"], about["step"], about["version"]) == ("model", 1200, __version__)


def test_no_two_elements_have_one_name():
    page = report()
    names = [value for _, name, value in page.attributes if name == "id"]
    assert len(set(names)) == len(names) == 4
    used = {value for _, _, value in page.attributes if value.startswith("url(")}
    assert used == {f"url(#{name})" for name in names}


def test_of_very_many_rows_the_first_are_shown():
    page = report(rows=[{"n": at} for at in range(MOST_ROWS + 5)])
    assert len(page.texts["td"]) == MOST_ROWS
    assert any("The first 300 of 305 rows" in text for text in page.texts["note"])


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_is_text_and_nothing_else(text):
    page = report(text, [{text: text, "n": 1.0}])
    assert set(page.elements) <= ELEMENTS
    assert ("meta", "content", POLICY) in page.attributes
    for tag, name, value in page.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "srcset", "action", "data", "formaction", "xlink:href")
        assert name != "href" or re.fullmatch(r"data:image/png;base64,[A-Za-z0-9+/=]+", value), tag
    assert json.loads(page.meta("roundtable"))["sentence"] == text
