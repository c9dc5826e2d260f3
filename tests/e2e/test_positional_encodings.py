"""Positional encodings in a browser: sliders move what they should, both sides follow, and a link shows the same."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.encodings import beside, inside, waves
from tests.e2e.browser import Server, screenshot, wait_idle
from tests.pages.five import make_five

pytestmark = pytest.mark.e2e
expect.set_options(timeout=20_000)
BESIDE, INSIDE = "Learned beside fixed", "In the model"


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app with a small model of each encoding."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUNDTABLE_CHECKPOINTS", str(make_five(tmp_path_factory.mktemp("five"))))
        server = Server.start("server-five-encodings")
    yield server
    server.stop()


def open_view(page: Page, server: Server, **parameters: str) -> None:
    query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in {"model": "learned", **parameters}.items())
    page.goto(f"{server.url}/positional_encodings?{query}")
    settle(page)


def settle(page: Page) -> None:
    """Wait until the script has run and nothing of an earlier view is left."""
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    wait_idle(page)
    expect(page.locator("[data-stale=true]")).to_have_count(0)


def plots(page: Page) -> Locator:
    return page.locator(".js-plotly-plot")


def press(page: Page, slider: str, key: str) -> None:
    """Move a slider as a keyboard does."""
    page.get_by_role("slider", name=slider).press(key)
    wait_idle(page)


def test_sliders_move_the_waves(five, page):
    open_view(page, five)
    expect(plots(page)).to_contain_text("64, 65")
    press(page, "Dimensions, d_model", "ArrowLeft")
    expect(plots(page)).to_contain_text("32, 33")
    expect(plots(page).filter(has_text="64, 65")).to_have_count(0)
    press(page, "Base", "ArrowRight")
    expect(page.get_by_text("within your sentence's", exact=False)).to_be_visible()
    query = parse_qs(urlsplit(page.url).query)
    assert (query["d_model"], query["base"]) == (["64"], ["100000"])


def test_moving_both_leaves_ropes_angle_and_moves_alibis_peak(five, page):
    open_view(page, five, tab=BESIDE, beside_view=beside.VIEWS[-1])
    expect(plots(page).first).to_contain_text("query at position 8")
    expect(plots(page).first).to_contain_text("172° apart")
    lines = plots(page).nth(1).locator(".scatterlayer .js-line").first
    before = lines.get_attribute("d")
    press(page, "Move both by", "ArrowRight")
    expect(plots(page).first).to_contain_text("query at position 9")
    expect(plots(page).first).to_contain_text("172° apart")
    expect(lines).not_to_have_attribute("d", before)


def test_one_slider_moves_sinusoidal_and_learned(five, page):
    open_view(page, five, tab=BESIDE)
    for plot in (plots(page).first, plots(page).nth(1)):
        expect(plot.locator(".ytick text").first).to_have_text("50")
    press(page, "Positions", "ArrowLeft")
    press(page, "Positions", "ArrowLeft")
    for plot in (plots(page).first, plots(page).nth(1)):
        expect(plot.locator(".ytick text").first).to_have_text("15")
    page.get_by_role("radio", name="at the start").click()
    expect(plots(page).nth(1)).to_contain_text("Learned, at the start")


def test_a_click_on_a_tab_and_a_view_is_kept_in_the_link(five, page):
    open_view(page, five)
    page.get_by_role("tab", name=INSIDE).click()
    page.get_by_role("radio", name="Order matters").click()
    expect(page.get_by_text("outputs shuffle along")).to_be_visible()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    settle(page)
    expect(page.get_by_text("outputs shuffle along")).to_be_visible()
    expect(page.get_by_role("tab", name=INSIDE)).to_have_attribute("aria-selected", "true")


def test_a_view_is_taken_along(five, page):
    open_view(page, five, waves="Heat map", d_model="4", positions="10")
    page.get_by_role("button", name="Take it with you").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    assert saved.value.suggested_filename == "sinusoidal-10x4-encodings.csv"
    assert len(saved.value.path().read_text().splitlines()) == 11
    page.keyboard.press("Escape")
    plots(page).first.hover()
    with page.expect_download() as saved:
        plots(page).first.locator(".modebar-btn[data-title^=Download]").click()
    assert saved.value.suggested_filename == "positional-encodings.svg"
    assert saved.value.path().read_text().startswith("<svg")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_draws_itself(five, new_page, scheme):
    page = new_page(color_scheme=scheme)
    tabs = {"Waves": waves.VIEWS, BESIDE: beside.VIEWS, INSIDE: inside.VIEWS[:-1]}
    for (tab, views), name in zip(tabs.items(), ("waves", "beside_view", "inside"), strict=True):
        open_view(page, five, tab=tab, sentence="The animal was tired.")
        for view in views:
            page.get_by_role("radio", name=view, exact=True).click()
            settle(page)
            expect(page.get_by_test_id("stAlert")).to_have_count(0)
            screenshot(page, f"positional-{name}-{re.sub(r'[^a-z]+', '-', view.lower())}-{scheme}")
