"""The journey: open, type, click a head, see its words; and what mouse, keyboard and address bar do on the way."""

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

from tests.e2e.browser import Server, screenshot, wait_idle

pytestmark = pytest.mark.e2e
expect.set_options(timeout=60_000)


def open_heads(page: Page, server: Server, query: str = "") -> None:
    page.set_default_timeout(90_000)
    page.goto(f"{server.url}/{query}")
    settle(page)


def settle(page: Page) -> None:
    """Wait until the grid and the opened head are drawn, for the width that the page has."""
    page.locator(".grid[data-painted]").first.wait_for()
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


def filters(page: Page) -> None:
    page.get_by_role("button", name="Filters").click()
    page.get_by_test_id("stPopoverBody").wait_for()


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
    page.get_by_role("radio", name="untrained").click()
    filters(page)
    page.get_by_text("Hide special tokens", exact=True).click()
    page.get_by_role("radio", name="words").click()
    page.get_by_role("spinbutton", name="Largest weights of a row").fill("3")
    page.keyboard.press("Enter")
    wait_idle(page)
    page.get_by_role("slider", name="Smallest weight shown").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="3", exact=True).click()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="1", exact=True).last.click()
    wait_idle(page)
    page.keyboard.press("Escape")
    settle(page)
    click_head(page, 1, 1)
    expect(page.locator(".opened").first).to_contain_text("L1·H3")
    settle(page)
    assert parameters(page) == {
        "kind": "cross", "weights": "untrained", "hide_special": "true", "tokens": "words", "top_k": "3",
        "threshold": "0.01", "heads": "3", "layer": "1", "head": "3",
    }  # fmt: skip
    assert page.url.count("heads=") == 2
    other = new_page()
    other.set_default_timeout(90_000)
    other.goto(page.url)
    settle(other)
    expect(other.locator(".opened").first).to_contain_text("L1·H3 Encoder–decoder attention, untrained")
    assert other.locator(".shown").text_content() == page.locator(".shown").text_content()
    assert axis_labels(other, "x") == axis_labels(page, "x")
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


def save(page: Page, name: str) -> tuple[str, bytes]:
    """Press a button of "Take it with you"; the name of the file and what is in it."""
    with page.expect_download(timeout=90_000) as saved:
        page.get_by_role("button", name=name, exact=True).click()
    return saved.value.suggested_filename, Path(saved.value.path()).read_bytes()


def test_the_view_can_be_taken_away_in_every_format(server, page):
    open_heads(page, server, "?sentence=The+cat+sees+the+dog.&kind=cross&hide_special=true&layer=1&head=2")
    page.get_by_role("button", name="Take it with you").click()
    page.get_by_role("button", name="SVG").wait_for()
    wait_idle(page)
    files = {}
    for label in ("SVG", "PNG", "CSV", "NPZ", "JSON", "HTML"):
        name, files[label] = save(page, label)
        assert name == f"everyday-en-de-cross.{label.lower()}"
    root = ElementTree.fromstring(files["SVG"])
    assert files["PNG"].startswith(b"\x89PNG\r\n\x1a\n")
    across, down = struct.unpack(">II", files["PNG"][16:24])
    assert (across, down) == (2 * int(root.attrib["width"]), 2 * int(root.attrib["height"]))
    assert files["CSV"].decode().startswith("kind,layer,head,query_position,query,key_position,key,weight,may_attend")
    with np.load(io.BytesIO(files["NPZ"]), allow_pickle=False) as stored:
        about, pattern = json.loads(str(stored["about"])), stored["pattern"]
        assert list(stored["keys"]) == axis_labels(page, "x")
    assert about["view"] == "without special tokens, rows summing to less than 1"
    assert about["sentence"] == "The cat sees the dog."
    content = json.loads(files["JSON"])
    assert content["about"] == about
    assert np.allclose(content["attention"]["pattern"], pattern, atol=1e-5)
    assert b"without special tokens" in files["HTML"]
    assert b"L1\xc2\xb7H2" in files["HTML"]
    page.get_by_role("radio", name="opened head").click()
    expect(page.get_by_text("everyday-en-de-cross-L1-H2")).to_be_visible()
    wait_idle(page)
    name, svg = save(page, "SVG")
    assert name == "everyday-en-de-cross-L1-H2.svg"
    assert b"L1\xc2\xb7H2" in svg
    assert save(page, "PNG")[0] == "everyday-en-de-cross-L1-H2.png"
    screenshot(page, "take-it-with-you")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bertviz_is_drawn_when_its_tab_is_opened_and_not_before(server, new_page, scheme):
    page = new_page(color_scheme=scheme)
    open_heads(page, server, "?kind=cross")
    assert page.locator("iframe").count() == 0
    page.get_by_role("tab", name="BertViz").click()
    frame = page.frame_locator("iframe").frame_locator("iframe")
    expect(frame.locator("#vis svg line").first).to_be_attached()
    body = frame.locator("body")
    expect(body).to_have_css("background-color", {"light": "rgb(255, 255, 255)", "dark": "rgb(14, 17, 22)"}[scheme])
    page.get_by_role("radio", name="model view").click()
    wait_idle(page)
    expect(frame.locator("body")).to_contain_text("Each picture is a head")
    assert parameters(page) == {"kind": "cross", "shown": "BertViz", "bertviz": "model view"}
    screenshot(page, f"bertviz-tab-{scheme}")


def test_two_sentences_open_the_same_head(server, page):
    open_heads(page, server)
    page.get_by_role("tab", name="Two sentences").click()
    expect(page.locator(".grid[data-painted]")).to_have_count(2)
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    settle(page)
    second = page.locator(".grid").nth(1)
    second.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".opened", has_text="L1·H1")).to_have_count(2)
    expect(page.locator(".grid").first).to_have_attribute("data-selected", "1,1")
    screenshot(page, "two-sentences")


def test_a_link_with_nonsense_says_once_what_it_left_out(server, page):
    open_heads(page, server, "?model=nowhere&layer=99&kind=%3Cimg+src=x+onerror=alert(1)%3E&top_k=2")
    note = page.locator(".left-out")
    expect(note).to_contain_text("this was left out: model=nowhere, kind=<img src=x onerror=alert(1)>, layer=99.")
    click_head(page, 1, 1)
    settle(page)
    expect(note).to_have_count(1)
    type_sentence(page, "The dog.")
    expect(note).to_have_count(0)
    assert page.locator("img[src=x]").count() == 0


FOCUSED = """() => {
  let at = document.activeElement;
  while (at.shadowRoot) at = at.shadowRoot.activeElement;
  return at;
}"""
NAME = """element => {
  const labels = element.labels ? [...element.labels].map(label => label.textContent).join(' ') : '';
  const by = (element.getAttribute('aria-labelledby') ?? '').split(' ').filter(Boolean)
    .map(id => document.getElementById(id)?.textContent ?? '').join(' ');
  return (element.getAttribute('aria-label') || by || labels || element.textContent || element.title || '').trim();
}"""


def test_tab_reaches_every_control_and_each_has_a_name(server, page):
    open_heads(page, server)
    page.get_by_role("radio", name="encoder").focus()
    names = []
    for _ in range(40):
        focused = page.evaluate_handle(FOCUSED).as_element()
        if focused is None or focused.evaluate("at => at === document.body || !!at.closest('[data-testid=stSidebar]')"):
            break
        names.append(focused.evaluate(NAME))
        page.keyboard.press("Tab")
    assert all(names), names
    said = "|".join(names)
    for control in ("encoder", "trained", "Heads", "Filters", "Layer", "Head", "Take it with you", "Heads", "Encoder"):
        assert control in said
    assert any(name.startswith("Encoder self-attention: 3 layers with 4 heads each") for name in names)


def test_512_tokens_keep_grid_and_opened_head(server, page):
    words = "+".join(["the", "small", "animal", "is", "tired"] * 102)
    open_heads(page, server, f"?sentence={words}&target=Das+Tier")
    expect(page.locator(".legend")).to_contain_text("a pixel is the largest of")
    click_head(page, 2, 1)
    expect(page.locator(".opened").first).to_contain_text("L2·H1")
    settle(page)
    screenshot(page, "512-tokens")


# The colour of every text on the page as it is seen, through all opacities, and what lies behind it.
SEEN = """() => {
  const rgba = colour => {
    const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number);
    return colour.startsWith('color(') ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
  };
  const over = (top, below) => below.map((channel, i) => top[3] * top[i] + (1 - top[3]) * channel);
  const parent = at => at.parentElement ?? at.getRootNode().host;
  const behind = at => {
    const layers = [];
    for (; at; at = parent(at)) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const luminance = colour => colour.map(channel => channel / 255)
    .map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const found = [];
  const look = root => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) look(element.shadowRoot);
      const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join('').trim();
      const style = getComputedStyle(element), box = element.getBoundingClientRect();
      const hidden = !box.width || !box.height || style.visibility === 'hidden';
      if (!text || hidden || element.closest('.live, style, script')) continue;
      if (element.closest('[disabled], [aria-disabled=true], label:has([disabled])')) continue;
      let opacity = 1;
      for (let at = element; at; at = parent(at)) opacity *= Number(getComputedStyle(at).opacity);
      const below = behind(element), ink = rgba(element.closest('svg') ? style.fill : style.color);
      const seen = over([...ink.slice(0, 3), ink[3] * opacity], below);
      const [light, dark] = [luminance(seen), luminance(below)].sort((a, b) => b - a);
      found.push([text.slice(0, 40), (light + 0.05) / (dark + 0.05)]);
    }
  };
  look(document.querySelector('[data-testid=stMain]'));
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast_in_both_themes(server, new_page, scheme):
    page = new_page(color_scheme=scheme)
    open_heads(page, server, "?kind=decoder&layer=99&summary=max&tokens=words")
    seen = page.evaluate(SEEN)
    assert {"Head maps", "decoder", "masked", "max"} <= {text for text, _ in seen}
    assert [(text, round(contrast, 2)) for text, contrast in seen if contrast < 4.5] == []
