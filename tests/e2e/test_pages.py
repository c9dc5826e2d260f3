"""Every page, as the very first visit to a server nobody has used, and in both themes."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import ROOT
from tests.e2e.browser import screenshot, wait_idle

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py") if path.stem != "__init__")

pytestmark = pytest.mark.e2e
expect.set_options(timeout=20_000)


def title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def expect_page(page: Page, name: str) -> None:
    wait_idle(page)
    expect(page.get_by_role("heading", name=title(name), exact=True)).to_be_visible()
    for other in {name, "head_maps", "model_card"}:
        expect(page.get_by_test_id("stSidebarNavLink").filter(has_text=title(other))).to_be_visible()
    expect(page.get_by_role("textbox", name="Sentence")).to_be_visible()


@pytest.mark.parametrize("name", PAGES)
def test_the_first_visit_to_a_server_may_be_a_link_to_any_page(fresh_server, page, name):
    page.goto(f"{fresh_server().url}/{name}")
    expect_page(page, name)
    page.reload()
    expect_page(page, name)


def test_the_first_visit_may_be_a_link_to_a_view(fresh_server, page):
    page.goto(f"{fresh_server().url}/head_maps?sentence=Two+words&layer=1&head=2&tokens=words")
    wait_idle(page)
    expect(page.get_by_role("textbox", name="Sentence")).to_have_value("Two words")
    expect(page.locator(".opened")).to_contain_text("L1·H2")
    page.get_by_role("button", name="Filters").click()
    expect(page.get_by_role("radio", name="words")).to_be_checked()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_in_both_themes(server, new_page, name, scheme):
    page = new_page(color_scheme=scheme)
    page.goto(f"{server.url}/{name}")
    expect_page(page, name)
    background = page.get_by_test_id("stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", background)[:3])) / 3
    assert (brightness > 128) == (scheme == "light")
    screenshot(page, f"{name}-{scheme}")
