"""The pictures of the README, taken from the real app in both themes: `make pictures`."""

import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.e2e.browser import BROWSER_ARGUMENTS, Server, find_browser, wait_idle  # noqa: E402

VIEWS = {"head-maps": "?kind=cross&layer=2&head=0"}
SIZE = {"width": 1440, "height": 860}


def drawn(page: Page) -> None:
    """Wait until grid and opened head are drawn for the width that the page has."""
    page.locator(".grid[data-painted]").wait_for()
    page.locator(".js-plotly-plot .heatmaplayer image").first.wait_for(state="attached")
    page.wait_for_timeout(1000)
    wait_idle(page)


def main() -> None:
    executable = find_browser()
    if executable is None:
        sys.exit("There is no Chromium: install one, or set ROUNDTABLE_BROWSER to its executable.")
    server = Server.start("pictures")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=BROWSER_ARGUMENTS)
            for name, address in VIEWS.items():
                for theme in ("light", "dark"):
                    options = {"viewport": SIZE, "color_scheme": theme, "device_scale_factor": 2, "locale": "en-GB"}
                    page = browser.new_context(**options).new_page()
                    page.goto(f"{server.url}/{address}")
                    drawn(page)
                    path = ROOT / "docs" / f"{name}-{theme}.png"
                    page.screenshot(path=path)
                    print(path.relative_to(ROOT))
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
