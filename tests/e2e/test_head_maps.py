"""The journey: open, type, click a head, see its words; and what mouse, keyboard and address bar do on the way."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import Server, screenshot, wait_idle

pytestmark = pytest.mark.e2e
expect.set_options(timeout=20_000)


def open_heads(page: Page, server: Server, query: str = "") -> None:
    page.goto(f"{server.url}/{query}")
    settle(page)


def settle(page: Page) -> None:
    """Wait until the grid and the opened head are drawn, for the width that the page has."""
    page.locator(".grid[data-painted]").wait_for()
    page.locator(".js-plotly-plot .heatmaplayer image").first.wait_for(state="attached")
    page.wait_for_timeout(600)
    wait_idle(page)


def type_sentence(page: Page, sentence: str) -> None:
    box = page.get_by_role("textbox", name="Sentence")
    box.fill(sentence)
    box.press("Control+Enter")


def centre(page: Page, layer: int, head: int) -> tuple[float, float]:
    """Where the middle of a head's map is on the canvas, by the labels of its row and column."""
    canvas = page.locator(".grid canvas").bounding_box()
    column = page.locator(f".labels [data-at=H{head}]").bounding_box()
    row = page.locator(f".labels [data-at=L{layer}]").bounding_box()
    return column["x"] + column["width"] / 2 - canvas["x"], row["y"] + row["height"] / 2 - canvas["y"]


def click_head(page: Page, layer: int, head: int) -> None:
    x, y = centre(page, layer, head)
    page.locator(".grid canvas").click(position={"x": x, "y": y})


def parameters(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def axis_labels(page: Page, axis: str) -> list[str]:
    return page.locator(f".js-plotly-plot .{axis}tick text").all_text_contents()


def test_open_type_click_read(server, page):
    open_heads(page, server)
    expect(page.locator(".opened")).to_contain_text("L0·H0")
    type_sentence(page, "The cat sees the dog.")
    expect(page.locator(".js-plotly-plot .ytick text").nth(1)).to_have_text("cat")
    settle(page)
    click_head(page, 1, 2)
    expect(page.locator(".opened")).to_contain_text("L1·H2")
    settle(page)
    labels = axis_labels(page, "x")
    assert labels == axis_labels(page, "y"), "the encoder's queries are its keys"
    assert "".join(labels) == "Thecatseesthedog.</s>"
    assert {"sentence": "The cat sees the dog.", "layer": "1", "head": "2"}.items() <= parameters(page).items()
    expect(page.locator(".translation .text")).to_be_visible()
    screenshot(page, "journey")


def test_the_address_reproduces_the_view(server, page, new_page):
    open_heads(page, server)
    page.get_by_role("radio", name="cross").click()
    page.get_by_text("Hide special tokens", exact=True).click()
    settle(page)
    click_head(page, 1, 3)
    expect(page.locator(".opened")).to_contain_text("L1·H3")
    settle(page)
    assert parameters(page) == {"kind": "cross", "hide_special": "true", "layer": "1", "head": "3"}
    other = new_page()
    other.goto(page.url)
    settle(other)
    expect(other.locator(".opened")).to_contain_text("L1·H3 Encoder–decoder attention")
    assert axis_labels(other, "y") == axis_labels(page, "y")
    assert "</s>" not in axis_labels(other, "y")


def test_arrow_keys_walk_and_open(server, page):
    open_heads(page, server)
    grid = page.locator(".grid")
    grid.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    expect(grid).to_have_attribute("data-selected", "1,2")
    expect(page.locator(".live")).to_have_text("layer 1, head 2")
    expect(page.locator(".opened")).to_contain_text("L1·H2")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.locator(".opened")).to_contain_text("L1·H0")
    page.keyboard.press("ArrowLeft")
    expect(grid).to_have_attribute("data-selected", "1,0"), "there is no head left of the first"
    wait_idle(page)
    expect(grid).to_be_focused()
    page.keyboard.press("Tab")
    expect(grid).not_to_be_focused()


def test_hovering_a_map_names_head_query_key_and_weight(server, page):
    open_heads(page, server, "?sentence=a+b")
    x, y = centre(page, 0, 1)
    page.locator(".grid canvas").hover(position={"x": x, "y": y})
    tip = page.locator(".tip")
    expect(tip).to_contain_text("L0·H1")
    expect(tip).to_contain_text(re.compile(r"query \S+ → key \S+"))
    expect(tip).to_contain_text(re.compile(r"[01]\.\d\d"))
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_hovering_the_opened_head_reads_query_attends_to_key(server, page):
    open_heads(page, server, "?kind=cross")
    plot = page.locator(".js-plotly-plot .nsewdrag").last.bounding_box()
    page.mouse.move(plot["x"] + 0.02 * plot["width"], plot["y"] + 0.02 * plot["height"])
    hover = page.locator(".js-plotly-plot .hoverlayer")
    first_query, first_key = axis_labels(page, "y")[0], axis_labels(page, "x")[0]
    expect(hover).to_contain_text(re.compile(r"attends to key .*: \d\.\d\d\d"))
    said = re.sub("[\u2068\u2069]", "", hover.text_content())
    assert said.startswith(f"query '{first_query}', having read '<s>',attends to key '{first_key}': ")


def test_markup_is_shown_and_never_run(server, page):
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    text = "<b>x</b> <img src=x onerror=alert(1)> </s> &amp;"
    open_heads(page, server, "?tokens=words")
    type_sentence(page, text)
    settle(page)
    page.get_by_role("textbox", name="Target").fill(text)
    page.get_by_role("textbox", name="Target").press("Control+Enter")
    settle(page)
    x, y = centre(page, 0, 0)
    page.locator(".grid canvas").hover(position={"x": x, "y": y})
    assert "<" in "".join(axis_labels(page, "x"))
    assert axis_labels(page, "x").count("</s>") >= 1
    expect(page.locator(".translation .text")).to_have_text(text)
    assert page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize(
    "sentence", ["שלום עולם", "I 💚 👩‍👩‍👧", "我爱你，世界。"], ids=["right-to-left", "emoji", "Chinese"]
)
def test_scripts_of_all_kinds_have_labels(server, page, sentence):
    open_heads(page, server)
    type_sentence(page, sentence)
    settle(page)
    assert all(label.strip() for label in axis_labels(page, "y"))
    screenshot(page, f"script-{sentence[:1].encode().hex()}")


def test_decoder_cells_that_are_masked_say_so(server, page):
    open_heads(page, server, "?kind=decoder&target=one+two+three")
    plot = page.locator(".js-plotly-plot .nsewdrag").last.bounding_box()
    page.mouse.move(plot["x"] + 0.9 * plot["width"], plot["y"] + 0.1 * plot["height"])
    expect(page.locator(".js-plotly-plot .hoverlayer")).to_contain_text("masked")
    x, y = centre(page, 0, 0)
    page.locator(".grid canvas").hover(position={"x": x + 8, "y": y - 8})
    expect(page.locator(".tip")).to_contain_text("masked")
    expect(page.locator(".legend")).to_contain_text("masked")


def test_switching_the_theme_keeps_the_picture_readable(server, page):
    open_heads(page, server)
    page.get_by_test_id("stMainMenu").click()
    page.get_by_text("Dark", exact=False).first.click()
    label = page.locator(".js-plotly-plot .ytick text").first
    expect(label).to_have_css("fill", "rgb(231, 230, 226)")
    screenshot(page, "switched-to-dark")
