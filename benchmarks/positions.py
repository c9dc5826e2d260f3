"""How long a person waits on Positional encodings: from a key on a slider to the frame in which both sides followed."""

import tempfile
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.browsing import IDLE, WAIT, chromium, latency, server
from benchmarks.table import Row

MODEL = "positions-learned"
STEPS, BUDGET = 8, 300
BOTH_FOLLOWED = f"""() => {{ {WAIT}
  const maps = () => [...document.querySelectorAll('.js-plotly-plot')].slice(0, 2)
    .map(plot => plot.querySelector('.heatmaplayer image')?.getAttribute('href'));
  const before = maps();
  window.roundtable = painted('keydown', () => maps().every((map, at) => map && map !== before[at]));
}}"""


def rows() -> list[Row]:
    """Milliseconds from a key on the slider to both heat maps, of the shipped model with learned positions."""
    query = urlencode({"tab": "Learned beside fixed", "learned": MODEL})
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        if browser is None:
            return []
        with server(Path(folder)) as url:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{url}/positional_encodings?{query}")
            page.locator(".heatmaplayer image").nth(1).wait_for(state="attached", timeout=60_000)
            slider = page.get_by_role("slider", name="Positions")
            times = []
            for turn in range(1 + STEPS):
                page.wait_for_timeout(600)
                page.locator(IDLE).wait_for(timeout=60_000)
                page.evaluate(BOTH_FOLLOWED)
                slider.press("ArrowLeft" if turn % 2 else "ArrowRight")
                times.append(page.evaluate("window.roundtable"))
    return [latency("slider to both heat maps, learned beside sinusoidal, ms", times[1:], "ms", BUDGET)]
