"""The opened head in a browser: lines from chosen words, a cell of the equation, a pair's neurons."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser import Server, screenshot, wait_idle

pytestmark = pytest.mark.e2e
expect.set_options(timeout=30_000)

SENTENCE = "sentence=The+cat+sees+the+dog."


def open_head(page: Page, server: Server, view: str, query: str = "") -> None:
    page.goto(f"{server.url}/?opened_view={view}&{SENTENCE}&{query}")
    ready = {
        "Lines": ".lines[data-painted]",
        "Equation": ".strip[data-painted]",
        "Neurons": ".js-plotly-plot .barlayer",
    }
    page.locator(ready[view]).first.wait_for(state="attached")
    page.wait_for_timeout(600)
    wait_idle(page)


def cell(page: Page, matrix: str, row: int, column: int) -> dict[str, float]:
    """Where the middle of a cell is on the canvas: the mark of the picked one, moved by whole cells."""
    picked, at = page.locator(".marks .picked"), page.locator(".strip").get_attribute("data-picked")
    assert at is not None
    name, at_row, at_column = at.split(",")
    assert name == matrix
    box, canvas = picked.bounding_box(), page.locator(".strip canvas").bounding_box()
    assert box is not None
    assert canvas is not None
    return {
        "x": box["x"] - canvas["x"] + box["width"] * (column - int(at_column) + 0.5),
        "y": box["y"] - canvas["y"] + box["height"] * (row - int(at_row) + 0.5),
    }  # fmt: skip


def line_ends(lines: Locator) -> set[tuple[str, str]]:
    """(head, query) of every line that is drawn."""
    found = lines.evaluate_all("nodes => nodes.map(node => node.dataset.line)")
    return {(head, query) for head, query, _ in (line.split(",") for line in found)}


def test_a_click_on_a_cell_shows_its_arithmetic_and_the_lines_that_compute_it(server, page):
    open_head(page, server, "Equation", "matrix=scores&query=1+cat&key=1+cat")
    canvas = page.locator(".strip canvas")
    canvas.hover(position=cell(page, "scores", 5, 2))
    tip = page.locator(".strip .tip")
    expect(tip).to_contain_text("query 5 dog")
    expect(tip).to_contain_text("key 2 se")
    value = tip.locator(".value").text_content()
    canvas.click(position=cell(page, "scores", 5, 2))
    expect(page.locator(".strip")).to_have_attribute("data-picked", "scores,5,2")
    arithmetic = page.locator(".arithmetic")
    expect(arithmetic.locator("dt").first).to_contain_text("scores[5, 2] =")
    expect(arithmetic.locator("dd").last).to_have_text(value)
    sum_of = arithmetic.locator("dd").nth(1).text_content()
    terms = re.findall(r"(\(?−?\d\.\d+\)?)·(\(?−?\d\.\d+\)?)", sum_of)
    assert len(terms) == 5
    others = float(re.search(r"others: (−?[\d.]+)", sum_of)[1].replace("−", "-"))
    plain = [[float(factor.strip("()").replace("−", "-")) for factor in pair] for pair in terms]
    total = (sum(q * k for q, k in plain) + others) / 8
    assert total == pytest.approx(float(value.replace("−", "-")), abs=0.02), "from factors with three decimals"
    expect(page.get_by_text("return (q * self.scale) @ k.transpose(-2, -1)")).to_be_visible()
    linked = page.locator(".marks .linked").evaluate_all("nodes => nodes.map(node => node.dataset.at)")
    assert linked == ["Q,5,0", "K,2,0", "scores,5,2", "mask,5,2", "softmax,5,2", "V,2,0", "z,5,0"]
    expect(page).to_have_url(re.compile(r"query=5\+dog.*key=2\+se|key=2\+se.*query=5\+dog"))
    screenshot(page, "equation")


def test_the_strip_is_walked_by_keyboard(server, page):
    open_head(page, server, "Equation", "kind=decoder&target=Die+Katze+sieht&matrix=scores&query=1+Katze&key=0+%3Cs%3E")
    strip = page.locator(".strip")
    expect(strip).to_have_attribute("data-picked", "scores,1,0")
    strip.focus()
    for key in ("PageDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(strip).to_have_attribute("data-picked", "mask,1,2")
    expect(page.locator(".strip .live")).to_contain_text("mask, query 1 Katze, key 2 Katze: masked")
    expect(page.locator(".arithmetic dt").first).to_contain_text("mask[1, 2] =")
    expect(page.locator(".arithmetic dd").last).to_have_text("masked")
    wait_idle(page)
    expect(strip).to_be_focused()
    page.keyboard.press("PageDown")
    expect(page.locator(".arithmetic")).to_contain_text("The key is masked for this query.")


def test_two_words_are_chosen_and_have_lines_of_every_chosen_head(server, page):
    open_head(page, server, "Lines", "layer=1")
    lines = page.locator("line[data-line]")
    assert {query for _, query in line_ends(lines)} == {str(at) for at in range(8)}, "all queries until some are chosen"
    words = page.locator(".lines [data-query]")
    words.nth(1).click()
    expect(words.nth(1)).to_have_attribute("aria-pressed", "true")
    wait_idle(page)
    words.nth(4).click()
    expect(words.nth(4)).to_have_attribute("aria-pressed", "true")
    wait_idle(page)
    assert line_ends(lines) == {("0", "1"), ("0", "4")}
    page.get_by_role("button", name="0", exact=True).click()
    page.get_by_role("button", name="2", exact=True).click()
    expect(page.locator('g line[data-line^="2,"]').first).to_be_attached()
    wait_idle(page)
    assert line_ends(lines) == {("0", "1"), ("0", "4"), ("2", "1"), ("2", "4")}
    assert page.url.count("line_queries=") == 2
    assert page.url.count("line_heads=") == 2
    words.nth(1).hover()
    expect(page.locator(".lines .tip")).to_contain_text("query cat attends to")
    screenshot(page, "lines")
    words.nth(1).focus()
    page.keyboard.press("Enter")
    expect(words.nth(1)).to_have_attribute("aria-pressed", "false")
    wait_idle(page)
    assert {query for _, query in line_ends(lines)} == {"4"}


def test_the_neurons_of_a_pair_stand_in_the_address(server, page):
    open_head(page, server, "Neurons", "kind=cross&target=Die+Katze&query=1+Katze&key=1+cat")
    expect(page.get_by_text("query 1 “\u2068Katze\u2069” and key 1 “\u2068cat\u2069”")).to_be_visible()
    assert page.locator(".js-plotly-plot").count() == 2
    screenshot(page, "neurons")


@pytest.mark.parametrize("view", ["Lines", "Neurons", "Equation"])
def test_markup_is_shown_and_never_run(server, page, view):
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    text = "%3Cimg+src%3Dx+onerror%3Dalert(1)%3E+%3C%2Fscript%3E+%3Csvg%2Fonload%3Dalert(2)%3E"
    page.goto(f"{server.url}/?opened_view={view}&sentence={text}&target={text}&kind=cross")
    page.locator(".lines[data-painted], .strip[data-painted], .js-plotly-plot .barlayer").first.wait_for(
        state="attached"
    )
    page.wait_for_timeout(1000)
    wait_idle(page)
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("svg[onload]").count() == 0


@pytest.mark.parametrize("view", ["Lines", "Neurons", "Equation"])
def test_the_dark_theme_shows_them_too(server, new_page, view):
    page = new_page(color_scheme="dark")
    open_head(page, server, view, "kind=cross")
    page.wait_for_timeout(500)
    screenshot(page, f"opened-{view.lower()}-dark")
