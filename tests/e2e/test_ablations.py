"""The page Ablations in a browser: a head opened in one model opens in all, and stands in the link."""

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

SIDE = "/ablations?ablation=Side+by+side&sentence=The+animal+was+tired.&beside=second&beside=third&beside=fourth"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoints folder with copies of the shipped model and a table, before a server is started."""
    for name in ("second", "third", "fourth"):
        shutil.copytree(SHIPPED / "everyday-en-de", tmp_path / name)
    rows = [result("base", 10.0, 20.0, 1), result("base", 10.2, 20.4, 2), result("A-h1", 11.0, 19.0)]
    write_results(rows, tmp_path / TABLE)
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    return tmp_path


def test_our_table_stands_beside_the_papers(models: Path, fresh_server, page: Page):
    page.goto(f"{fresh_server().url}/ablations?ablation=Table+3")
    wait_idle(page)
    expect(page.get_by_text("Of 1 finding of the paper, by perplexity")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    page.get_by_test_id("stTab").filter(has_text="In a minute").click()
    expect(page.get_by_text("roundtable ablate minute")).to_be_visible()
    screenshot(page, "ablations")


def test_a_head_opened_in_one_opens_in_all_and_stands_in_the_link(models: Path, fresh_server, page: Page):
    """Four grids: a click into the last, one on a ranked head, and one on a cell of the divergences."""
    page.goto(f"{fresh_server().url}{SIDE}&model=everyday-en-de&kind=cross")
    wait_idle(page)
    titles = page.locator(".opened.cross .note")
    expect(titles).to_have_text(["L0·H0"] * 4)
    grid = page.locator(".grid canvas").nth(3)
    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.62 * box["width"], box["y"] + 0.5 * box["height"])
    expect(titles).to_have_text(["L1·H2"] * 4)
    wait_idle(page)
    assert "opened_in=fourth" in page.url
    assert "layer=1&head=2" in page.url
    page.get_by_test_id("stButtonGroup").get_by_text("L0·H1").click()
    expect(titles).to_have_text(["L0·H1"] * 4)
    wait_idle(page)
    cell = page.locator(".js-plotly-plot").nth(1).locator(".scatterlayer .trace").first.locator("path.point").nth(11)
    cell.click(force=True)
    expect(titles).to_have_text(["L2·H3"] * 4)
    screenshot(page, "ablations_side_by_side")
