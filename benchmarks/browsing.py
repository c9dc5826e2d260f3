"""A browser and the app, for measuring how long a person waits."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.table import Row, number

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = (os.environ.get("ROUNDTABLE_BROWSER", ""), "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"

# The next frame that comes after one in which `done()` holds has it on the screen.
WAIT = """
const painted = (event, done) => new Promise(resolve => addEventListener(event, () => {
  const start = performance.now();
  const end = () => resolve(performance.now() - start);
  const look = () => requestAnimationFrame(done() ? end : look);
  look();
}, {capture: true, once: true}));
"""


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window; None, and a line that says why, where there is none."""
    executable = next((found for name in BROWSERS if name and (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        yield _none("playwright is not installed; pip install '.[test]' brings it")
        return
    if executable is None:
        yield _none("there is no Chromium; install one (Debian: apt install chromium) or set ROUNDTABLE_BROWSER")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


def latency(what: str, times: Sequence[float], unit: str, budget: float) -> Row:
    """A row of what somebody waited for, several times, beside the longest that the budget allows."""
    spread = f"fastest {number(min(times))}, slowest {number(max(times))} of {len(times)}"
    return Row(what, number(median(times)), spread, median(times), unit, budget, larger_is_better=False)


def place_of(grid: Any, layer: int, head: int) -> dict[str, float]:
    """Where on a grid's canvas the map of a head stands, as a click wants it."""
    frame = grid.locator("canvas").bounding_box()
    column = grid.locator(f"[data-at=H{head}]").bounding_box()
    row = grid.locator(f"[data-at=L{layer}]").bounding_box()
    return {
        "x": column["x"] + column["width"] / 2 - frame["x"],
        "y": row["y"] + row["height"] / 2 - frame["y"],
    }


def _none(reason: str) -> None:
    print(f"Page latency is left out: {reason}.")


@contextmanager
def server(checkpoints: Path) -> Iterator[str]:
    """`streamlit run app.py` over these checkpoints, in a process group that ends with the block; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true", f"--server.port={port}"]
    environment = {**os.environ, "ROUNDTABLE_CHECKPOINTS": str(checkpoints)}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the app did not answer at port {port}; `make app` says why")
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def _answers(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0
