"""A running app and a real browser. No page may ask any host but 127.0.0.1 for anything."""

import os
import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.e2e.browser import BROWSER_ARGUMENTS, Server, find_browser, screenshot

FAILED = pytest.StashKey[bool]()
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "alone")


def is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"data", "blob", "about"} or parts.hostname == "127.0.0.1"


def file_name(node: pytest.Item) -> str:
    return re.sub(r"\W+", "-", node.name).strip("-")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all browser tests; it ends with them, since Playwright keeps an event loop running."""
    executable = find_browser()
    if executable is None:
        how = "install one (Debian: apt install chromium) or set ROUNDTABLE_BROWSER to its executable"
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI has to run the browser tests, but there is no Chromium: {how}")
        pytest.skip(f"no Chromium found: {how}")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=BROWSER_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """The app, started once for all tests that do not mind what others did before them."""
    server = Server.start(f"server-{WORKER}")
    yield server
    server.stop()


@pytest.fixture
def fresh_server(request) -> Iterator[Callable[[], Server]]:
    """A function that starts a server nobody has visited: deep links behave differently on the very first visit."""
    servers: list[Server] = []

    def start() -> Server:
        servers.append(Server.start(f"server-{file_name(request.node)}-{len(servers)}"))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def new_page(request, browser: Browser) -> Iterator[Callable[..., Page]]:
    """A function that opens an empty page; `color_scheme="dark"`, `viewport=…` and so on go to its context.

    Requests to other hosts are blocked, and fail the test when it ends. A failed test leaves a picture of each page.
    """
    contexts, foreign = [], []

    def guard(route: Route) -> None:
        if is_local(route.request.url):
            route.continue_()
        else:
            foreign.append(route.request.url)
            route.abort()

    def open_page(**options) -> Page:
        options = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light", "locale": "en-GB"} | options
        context = browser.new_context(service_workers="block", **options)
        contexts.append(context)
        context.route("**/*", guard)
        page = context.new_page()
        page.on("websocket", lambda socket: None if is_local(socket.url) else foreign.append(socket.url))
        return page

    yield open_page
    pages = [page for context in contexts for page in context.pages]
    if request.node.stash.get(FAILED, False):
        for number, page in enumerate(pages):
            screenshot(page, f"failed-{file_name(request.node)}-{number}")
    for context in contexts:
        context.close()
    assert not foreign, f"the page asked other hosts than 127.0.0.1: {sorted(set(foreign))}"


@pytest.fixture
def page(new_page) -> Page:
    """An empty page in the light theme, 1440 × 900."""
    return new_page()
