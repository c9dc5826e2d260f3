"""The page Ablations in a browser: a head opened in one model opens in both, and a link shows the same again."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.ablations.results import result
from tests.e2e.browser import screenshot, wait_idle
from transformer.ablations.results import TABLE, write_results
from transformer.folders import SHIPPED

pytestmark = pytest.mark.e2e
expect.set_options(timeout=20_000)

SIDE = "/ablations?ablation=Side+by+side&sentence=The+animal+was+tired."


@pytest.fixture
def two_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoints folder with a copy of the shipped model, before a server is started."""
    shutil.copytree(SHIPPED / "everyday-en-de", tmp_path / "second")
    rows = [result("base", 10.0, 20.0, 1), result("base", 10.2, 20.4, 2), result("A-h1", 11.0, 19.0)]
    write_results(rows, tmp_path / TABLE)
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    return tmp_path


def test_our_table_stands_beside_the_papers(two_models: Path, fresh_server, page: Page):
    page.goto(f"{fresh_server().url}/ablations?ablation=Table+3")
    wait_idle(page)
    expect(page.get_by_text("Of 1 finding of the paper, by perplexity")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    page.get_by_test_id("stTab").filter(has_text="In a minute").click()
    expect(page.get_by_text("roundtable ablate minute")).to_be_visible()
    screenshot(page, "ablations")


def test_a_head_opened_in_one_opens_in_both_and_a_link_says_the_kind(two_models: Path, fresh_server, page: Page):
    url = fresh_server().url
    page.goto(f"{url}{SIDE}&model=everyday-en-de&kind=cross")
    wait_idle(page)
    expect(page.get_by_text("second · Encoder–decoder attention L0·H0")).to_be_visible()
    grid = page.locator("canvas").nth(1)
    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.62 * box["width"], box["y"] + 0.5 * box["height"])
    expect(page.get_by_text("second · Encoder–decoder attention L1·H2")).to_be_visible()
    expect(page.get_by_text("everyday-en-de · Encoder–decoder attention L1·H2")).to_be_visible()
    expect(page.get_by_text("their sum is 0.00; taken by place, 0.00")).to_be_visible()
    screenshot(page, "ablations_side_by_side")
