"""Starting the app and a browser, and what every browser test does with a page."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.conftest import ROOT

ARTEFACTS = ROOT / "tests" / "artefacts"

BROWSER_ARGUMENTS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # what slips past a page's route finds no host either
]


def find_browser() -> str | None:
    """The browser to drive: $ROUNDTABLE_BROWSER, or the first Chromium on PATH; None if there is none."""
    candidates = [os.environ.get("ROUNDTABLE_BROWSER"), "chromium", "chromium-browser", "google-chrome"]
    return next((found for name in candidates if name and (found := shutil.which(name))), None)


@dataclass
class Server:
    """`streamlit run app.py` in a process group of its own, on a free port of 127.0.0.1, its output in `log`."""

    url: str
    log: Path
    process: subprocess.Popen

    @classmethod
    def start(cls, name: str, timeout: float = 60) -> "Server":
        """Return once the server answers; RuntimeError with the end of its log if it dies or takes too long (s)."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        ARTEFACTS.mkdir(exist_ok=True)
        log = ARTEFACTS / f"{name}.log"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("STREAMLIT_")}
        environment.pop("OMP_NUM_THREADS", None)  # the app as a user starts it
        options = ["--server.headless=true", f"--server.port={port}"]
        command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        server = cls(f"http://127.0.0.1:{port}", log, process)
        deadline = time.monotonic() + timeout
        while process.poll() is None and time.monotonic() < deadline:
            if server.healthy():
                return server
            time.sleep(0.1)
        server.stop()
        raise RuntimeError(f"{name} did not answer at {server.url}:\n{log.read_text(errors='replace')[-4000:]}")

    def healthy(self) -> bool:
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=5)
        try:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self) -> None:
        """End the whole group, so that nothing the app started outlives the tests."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(timeout=5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue


def wait_idle(page: Page, timeout: float = 60) -> None:
    """Wait up to `timeout` seconds until the script has run to its end; fail if it ended in an exception."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=timeout * 1000)
    expect(page.locator("[data-testid=stException]"), "the page shows an exception").to_have_count(0)


def screenshot(page: Page, name: str) -> Path:
    """Keep a picture of the page in tests/artefacts/, to be looked at after the run."""
    ARTEFACTS.mkdir(exist_ok=True)
    path = ARTEFACTS / f"{name}.png"
    page.screenshot(path=path)
    return path
