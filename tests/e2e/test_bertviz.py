"""BertViz's views in a real browser that has no network: drawn, hovered, clicked, and safe from what tokens say."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from tests.e2e.browser import screenshot
from tests.ui.samples import asymmetric, attention, random, tokens
from transformer.analysis.attention import Attention
from ui.bertviz import bertviz_frame

pytestmark = pytest.mark.e2e

HOSTILE = "</script><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"


@pytest.fixture
def opened(browser: Browser, tmp_path) -> Iterator[Callable[..., tuple[Page, Frame]]]:
    """A function that opens a view as a file, offline; its page and the frame with BertViz in it.

    The test fails when the page asks for anything but that file, or reports an error.
    """
    asked, errors, contexts = [], [], []
    file = tmp_path / "view.html"

    def open_view(shown: Attention, view: str, *, dark: bool = False, width: int = 1000) -> tuple[Page, Frame]:
        file.write_text(bertviz_frame(shown, view, dark=dark), "utf-8")
        context = browser.new_context(offline=True, viewport={"width": width, "height": 800})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(file.as_uri())
        frame = page.frames[1]
        frame.locator("#vis svg").wait_for()
        return page, frame

    yield open_view
    for context in contexts:
        context.close()
    assert set(asked) <= {file.as_uri(), "about:srcdoc"}
    assert not errors


def lines(frame: Frame) -> list[tuple[str, ...]]:
    """Head, query, key and opacity of each line of the head view that is not transparent."""
    found = frame.locator("#attention line").evaluate_all(
        "lines => lines.map(line => [line.closest('.headAttention').getAttribute('head-index'),"
        " line.getAttribute('left-token-index'), line.getAttribute('right-token-index'),"
        " line.getAttribute('stroke-opacity')])"
    )
    return [tuple(line) for line in found if float(line[3]) > 0]


def test_head_view_draws_each_weight_between_its_query_and_its_key(opened):
    _, frame = opened(asymmetric(), "head")
    expect(frame.locator("#left text")).to_have_text(["ja", "nein"])
    expect(frame.locator("#right text")).to_have_text(["yes", "no", "</s>"])
    weights = [(0, 0, 0, 1), (0, 1, 1, 1), (1, 0, 0, 0.25), (1, 0, 1, 0.75), (1, 1, 0, 0.5), (1, 1, 1, 0.125)]
    expected = [*weights, (1, 1, 2, 0.375)]
    assert lines(frame) == [(str(h), str(q), str(k), f"{weight / 2:g}") for h, q, k, weight in expected]


def test_head_view_answers_hovering_and_clicking(opened):
    _, frame = opened(asymmetric(), "head")
    frame.locator("#left text").nth(1).hover()
    expect(frame.locator("#attention line[visibility=visible]")).to_have_count(6)
    boxes = frame.locator("#right .attentionBoxes g").nth(1).locator("rect")
    assert [box.evaluate("box => box.style.opacity") for box in boxes.all()] == ["0.5", "0.125", "0.375"]
    squares = frame.locator("#vis svg > g:last-child rect")
    before = squares.nth(0).get_attribute("fill")
    squares.nth(0).click()
    assert {line[0] for line in lines(frame)} == {"1"}
    assert squares.nth(0).get_attribute("fill") not in (None, before)
    squares.nth(0).dblclick()
    assert {line[0] for line in lines(frame)} == {"0"}


def test_head_view_changes_its_layer(opened):
    first, second = [[[0.9, 0.1]]], [[[0.2, 0.8]]]
    _, frame = opened(attention([first, second], tokens("a"), tokens("x", "y")), "head")
    assert [line[3] for line in lines(frame)] == ["0.9", "0.1"]
    frame.get_by_label("Layer").select_option("1")
    assert [line[3] for line in lines(frame)] == ["0.2", "0.8"]


def test_model_view_opens_the_head_that_is_clicked(opened):
    _, frame = opened(random(3, 4, 6, 5), "model")
    heads = frame.locator("#vis svg > g > rect:last-child")
    expect(heads).to_have_count(12)
    heads.nth(6).click()
    expect(frame.locator("text.detail")).to_have_text("Layer 1, Head 2")
    expect(frame.locator(".detail .token")).to_have_text([f"q{at}" for at in range(6)] + [f"k{at}" for at in range(5)])
    frame.locator(".detail .token").nth(2).hover()
    groups = frame.locator(".attn-line-group")
    assert groups.evaluate_all("all => all.map(group => group.style.opacity)") == ["0", "0", "1", "0", "0", "0"]
    heads.nth(6).click()
    expect(frame.locator("text.detail")).to_have_count(0)


@pytest.mark.parametrize("view", ["head", "model"])
def test_a_token_is_text_and_never_runs(opened, view):
    """Long tokens are cut short, so short ones stand beside them: one that ends a script, and one that is markup."""
    keys = tokens(HOSTILE, "</script>", "<b>x</b>", "&amp;")
    page, frame = opened(attention([[[[0.4, 0.3, 0.2, 0.1]]]], tokens(HOSTILE), keys), view)
    if view == "model":
        frame.locator("#vis svg > g > rect:last-child").click()
    shown = frame.locator("#vis text").all_text_contents()
    assert {"</script>", "<b>x</b>", "&amp;"} <= set(shown)
    assert sum(text.startswith("</script>") for text in shown) == 3
    page.wait_for_timeout(200)
    assert frame.title() != "run"
    assert page.locator("img, b").count() == frame.locator("img, b").count() == 0


def test_the_frame_has_no_rights_in_the_page_around_it(opened):
    _, frame = opened(asymmetric(), "head")
    assert frame.evaluate("origin") == "null"
    reach = "() => { try { return parent.document.title } catch (error) { return error.name } }"
    assert frame.evaluate(reach) == "SecurityError"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("view", ["head", "model"])
def test_both_themes(opened, view, dark):
    """Every text has the theme's ink, on the theme's paper; the pictures are for people to look at."""
    sample = replace(
        random(3, 4, 12, 14, kind="cross"), queries=tokens(*(f"Wort{at}" * (1 + at % 4) for at in range(12)))
    )
    page, frame = opened(sample, view, dark=dark)
    if view == "model":
        frame.locator("#vis svg > g > rect:last-child").nth(5).click()
    else:
        frame.locator("#left text").nth(3).hover()
    ink, paper = ("rgb(231, 230, 226)", "rgb(14, 17, 22)") if dark else ("rgb(20, 23, 27)", "rgb(255, 255, 255)")
    fills = frame.locator("#vis text").evaluate_all("all => all.map(text => getComputedStyle(text).fill)")
    assert set(fills) == {ink}
    assert frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == paper
    screenshot(page, f"bertviz-{view}-{'dark' if dark else 'light'}")


@pytest.mark.parametrize("width", [360, 700, 1300])
@pytest.mark.parametrize("view", ["head", "model"])
def test_nothing_is_cut_off_at_any_width(opened, view, width):
    _, frame = opened(random(3, 4, 12, 14), view, width=width)
    inside, outside = frame.evaluate(
        "[[document.documentElement.scrollWidth, document.documentElement.scrollHeight], [innerWidth, innerHeight]]"
    )
    assert inside[0] <= outside[0]
    assert inside[1] <= outside[1]


@pytest.mark.parametrize(("view", "size"), [("head", 64), ("model", 32)])
def test_the_largest_is_drawn(opened, view, size):
    layers = 1 if view == "head" else 6
    _, frame = opened(random(layers, 8, size, size), view)
    expect(frame.locator("#vis line")).to_have_count(layers * 8 * size * size, timeout=60_000)
