"""Translation in a browser: replay decoding, go on from an alternative and back, links, markup that stays text."""

import csv
import io
import json
import re
import struct
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests import hostile
from tests.e2e.browser import Server, screenshot, wait_idle

pytestmark = pytest.mark.e2e
expect.set_options(timeout=20_000)

SENTENCE = "The animal was tired."
DRAWN = {"Alignment": ".heatmaplayer image", "Without a word": ".heatmaplayer image", "Compare": ".score-card"}


def open_page(page: Page, server: Server, **parameters: str) -> None:
    wanted = {"sentence": SENTENCE, **parameters}
    query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in wanted.items())
    page.goto(f"{server.url}/translation?{query}")
    settle(page)


def settle(page: Page) -> None:
    """Wait until the script has run and nothing of an earlier view is left."""
    page.get_by_role("heading", name="Translation").wait_for()
    page.wait_for_timeout(400)
    wait_idle(page)
    expect(page.locator("[data-stale=true]")).to_have_count(0)


def parameters(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def words(page: Page) -> list[str]:
    page.locator(".tokens .word").first.wait_for()
    return page.locator(".tokens .word").all_inner_texts()


def test_the_first_visit_is_a_link_to_a_view_of_it(fresh_server, page):
    open_page(page, fresh_server(), beam="2", decoding_step="2")
    expect(page.locator(".tokens .current .word")).to_have_count(1)
    assert page.locator(".tokens .current").get_attribute("data-position") == "1"
    expect(page.get_by_text("The beam after step 2")).to_be_visible()


def test_the_slider_replays_decoding(server, page):
    open_page(page, server, decoding_step="1")
    expect(page.locator("svg.cache .cell-new").first).to_be_visible()
    expect(page.locator("svg.word-lines text[font-weight='700']")).to_have_text(re.compile(words(page)[0]))
    slider = page.get_by_role("slider", name="Step")
    slider.focus()
    for step in (2, 3):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text(f"The beam after step {step}")).to_be_visible()
    settle(page)
    assert page.locator(".tokens .current").get_attribute("data-position") == "2"
    expect(page.locator("svg.word-lines text[font-weight='700']")).to_have_text(re.compile(re.escape(words(page)[2])))
    assert parameters(page)["decoding_step"] == "3"
    page.locator(".tokens .head").first.click()
    expect(page.get_by_text("The beam after step 1")).to_be_visible()
    screenshot(page, "translation-replay")


def test_an_alternative_is_gone_on_from_and_undone(server, page, new_page):
    open_page(page, server)
    before, text = words(page), page.locator(".translation .text").first.inner_text()
    choice = page.locator(".token[data-position='1'] .alternative:not(:disabled)").first
    label = choice.locator("span").first.inner_text()
    choice.click()
    expect(page.get_by_text("You gave the first 2 tokens")).to_be_visible()
    settle(page)
    assert words(page)[:2] == [before[0], label]
    assert page.locator(".token.given").count() == 2
    assert page.locator(".translation .text").first.inner_text() != text
    assert re.fullmatch(r"\d+-\d+", parameters(page)["prefix"])
    screenshot(page, "translation-prefix")
    other = new_page()
    other.goto(page.url)
    settle(other)
    assert words(other) == words(page), "a link holds the prefix"
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".translation .text").first).to_have_text(text)
    settle(page)
    assert words(page) == before
    assert "prefix" not in parameters(page)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_two_picks_are_undone_one_by_one_and_survive_another_page(server, page):
    open_page(page, server)
    for place in (0, 2):
        page.locator(f".token[data-position='{place}'] .alternative:not(:disabled)").first.click()
        expect(page.get_by_text(f"You gave the first {place + 1} token")).to_be_visible()
        settle(page)
    chosen = words(page)
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Model card").click()
    page.get_by_role("heading", name="Model card").wait_for()
    wait_idle(page)
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Translation").click()
    settle(page)
    assert words(page) == chosen
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".token.given")).to_have_count(1)
    page.get_by_role("button", name="Start over").click()
    expect(page.locator(".token.given")).to_have_count(0)


def test_alternatives_are_reached_and_pressed_by_keyboard(server, page):
    open_page(page, server)
    page.locator(".token[data-position='0'] .head").focus()
    page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.shadowRoot?.activeElement?.className")
    assert focused == "alternative", "the first alternative that is not the token itself"
    page.keyboard.press("Enter")
    expect(page.get_by_text("You gave the first 1 token")).to_be_visible()


def test_alignment_draws_lines_and_a_matrix_and_a_link_holds_them(server, page):
    open_page(page, server, translation_tab="Alignment", align_by="both", align_layer="L2", align_rows="written")
    lines = page.locator("svg.word-lines line")
    page.locator(".js-plotly-plot .heatmaplayer image").first.wait_for(state="attached")
    assert lines.count() >= 1
    expect(page.get_by_text("for the diagonal, which needs no model")).to_be_visible()
    rows = page.locator(".js-plotly-plot .ytick text").all_text_contents()
    assert rows[-1] == "."
    assert "align_by" in parameters(page)
    screenshot(page, "translation-alignment")


def test_markup_is_shown_and_never_run(server, page):
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    for tab in ("Decoding", "Alignment", "Without a word", "Compare"):
        open_page(page, server, translation_tab=tab)
        for box in ("Sentence", "Target"):
            page.get_by_role("textbox", name=box, exact=True).fill(hostile.SCRIPT)
            page.get_by_role("textbox", name=box, exact=True).press("Control+Enter")
            settle(page)
        assert page.locator("img[src=x]").count() == 0
    expect(page.locator(".score-card .text").nth(1)).to_contain_text(hostile.SCRIPT)


def save(page: Page, name: str) -> tuple[str, bytes]:
    """Press the first button of this name; the file's name and what is in it."""
    with page.expect_download(timeout=60_000) as waiting:
        page.get_by_role("button", name=name, exact=True).first.click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def test_the_search_is_taken_away_in_every_format(server, page):
    open_page(page, server)
    tokens = words(page)
    page.get_by_role("button", name="Take it with you").click()
    page.get_by_role("button", name="HTML", exact=True).wait_for()
    settle(page)
    files = {kind: save(page, kind) for kind in ("SVG", "PNG", "CSV", "JSON", "NPZ", "HTML")}
    assert [name for name, _ in files.values()] == [
        "everyday-en-de-search-tree.svg", "everyday-en-de-search-tree.png", "everyday-en-de-tokens.csv",
        "everyday-en-de-tokens.json", "everyday-en-de-arrays.npz", "everyday-en-de-report.html",
    ]  # fmt: skip
    across, down = struct.unpack(">II", files["PNG"][1][16:24])
    root = ElementTree.fromstring(files["SVG"][1])
    assert (across, down) == (2 * int(root.attrib["width"]), 2 * int(root.attrib["height"]))
    rows = list(csv.DictReader(io.StringIO(files["CSV"][1].decode("utf-8"), newline="")))
    assert [row["token"] for row in rows] == tokens
    content = json.loads(files["JSON"][1])
    assert json.loads(rows[0]["about"]) == content["about"]
    assert [row["token"] for row in content["rows"]] == tokens
    with np.load(io.BytesIO(files["NPZ"][1]), allow_pickle=False) as stored:
        assert list(stored["tokens"]) == tokens
    page.goto("about:blank")
    page.set_content(files["HTML"][1].decode("utf-8"))
    expect(page.locator("figure > svg")).to_have_count(4)
    screenshot(page, "translation-report")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_in_both_themes(server, new_page, scheme):
    page = new_page(color_scheme=scheme)
    for tab in ("Alignment", "Without a word", "Compare"):
        open_page(page, server, translation_tab=tab, target="Das Tier war müde.", second_target="Ein Tier schlief.")
        page.locator(DRAWN[tab]).first.wait_for(state="attached")
        settle(page)
        ink = page.locator("h1").evaluate("heading => getComputedStyle(heading).color")
        assert (sum(map(int, re.findall(r"\d+", ink)[:3])) > 384) == (scheme == "dark")
        screenshot(page, f"translation-{tab.replace(' ', '-').lower()}-{scheme}")
