"""Training in a browser: started from the sidebar, watched, reloaded, stopped, resumed, finished, and opened."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import Server, screenshot, wait_idle
from tests.pages.made_runs import make_run
from tests.training_runs.waiting import wait_for, wait_until
from tests.ui.test_film import many_heads
from transformer.training import locks, runs
from transformer.training.metrics import read_metrics
from transformer.training.probes import load_probes, save_probes
from transformer.training.status import LOCK_FILE

pytestmark = pytest.mark.e2e
expect.set_options(timeout=60_000)
FILM = "Patterns over training"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where runs go; those that a test leaves behind are ended."""
    monkeypatch.setattr("tests.training_runs.waiting.PATIENCE", 600.0)  # a run is minutes long on a busy machine
    path = tmp_path / "checkpoints"
    path.mkdir()
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    yield path
    for run in runs.list_runs():
        if locks.is_held(run.folder / LOCK_FILE):
            runs.stop(run.name, grace=0)


@pytest.fixture
def serve(folder: Path, fresh_server: Callable[[], Server]) -> Callable[[], Server]:
    """Starts a server that keeps its runs in this test's folder."""
    return fresh_server


@pytest.fixture(scope="module")
def watcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server for tests that start no training, and the folder where it looks for runs."""
    path = tmp_path_factory.mktemp("checkpoints")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUNDTABLE_CHECKPOINTS", str(path))
        server = Server.start("server-training")
    yield server, path
    server.stop()


@pytest.fixture
def watched(watcher: tuple[Server, Path]) -> tuple[Server, Path]:
    """The same, with an empty folder."""
    for run in filter(Path.is_dir, watcher[1].iterdir()):
        shutil.rmtree(run)
    return watcher


def open_page(page: Page, server: Server, path: str = "training") -> None:
    page.goto(f"{server.url}/{path}")
    wait_idle(page)


def start(page: Page, steps: int, name: str) -> None:
    """Fill in the form as far as the preset is to be changed, and press Train."""
    page.get_by_test_id("stSidebar").get_by_text("Train a model", exact=True).click()
    fill(page, "Train for", str(steps))
    page.get_by_role("textbox", name="Name", exact=True).fill(name)
    page.get_by_role("textbox", name="Name", exact=True).press("Enter")
    expect(page.get_by_text("parameters", exact=False).first).to_be_visible()
    wait_idle(page)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_role("heading", name="Training", exact=True)).to_be_visible()
    expect(row(page)).to_contain_text(name)


def fill(page: Page, label: str, value: str) -> None:
    page.get_by_role("spinbutton", name=label).fill(value)
    page.get_by_role("spinbutton", name=label).press("Enter")
    wait_idle(page)


def row(page: Page):
    return page.locator(".run").first


def steps_shown(page: Page) -> int:
    found = re.search(r"step ([\d,]+)", row(page).inner_text())
    return int(found[1].replace(",", "")) if found else -1


def test_from_the_sidebar_to_head_maps(serve, folder, page):
    server = serve()
    open_page(page, server, "model_card")
    start(page, 500, "mine")
    # It trains, and the page shows so without being asked.
    wait_for(lambda: len(read_metrics(folder / "mine")) > 2, "the run logs nothing")
    chart = page.locator(".st-key-chart_loss_0 canvas").first
    expect(chart).to_be_visible()
    wait_for(lambda: steps_shown(page) > 0, "the page shows no step")
    first, shown = chart.screenshot(), steps_shown(page)
    wait_for(lambda: steps_shown(page) > shown, "the page stands still")
    wait_for(lambda: chart.screenshot() != first, "the curve does not move")
    expect(page.get_by_test_id("stSidebar").get_by_role("button", name="Stop training")).to_be_visible()
    screenshot(page, "training-live")
    # Another look, from the link alone.
    page.reload()
    wait_idle(page)
    expect(row(page)).to_contain_text("mine")
    wait_for(lambda: (folder / "mine" / "model.safetensors").exists(), "the run saves nothing")
    page.get_by_test_id("stMain").get_by_role("button", name="Stop training").click()
    expect(row(page)).to_contain_text("stopped")
    assert runs.get_run("mine").state == "stopped"
    stopped = runs.get_run("mine").step
    assert 0 < stopped < 500
    page.get_by_role("button", name="Resume").click()
    expect(row(page)).not_to_contain_text("stopped")
    assert wait_until("mine", "finished").step == 500
    expect(row(page)).to_contain_text("finished · step 500 of 500")
    # The heads of its probe, from before the first step to the last.
    page.get_by_role("tab", name=FILM).click()
    film = page.locator(".film")
    expect(film).to_have_attribute("data-step", "500")
    page.get_by_role("slider", name="Step of training").fill("0")
    expect(film).to_have_attribute("data-step", "0")
    n_frames = len(load_probes(folder / "mine")[0].steps)
    expect(film).to_have_attribute("data-frames", str(n_frames))
    film.get_by_role("button", name="Play").click()
    expect(film).to_have_attribute("data-step", "500")
    expect(film).to_have_attribute("data-playing", "false")
    expect(film.locator(".written")).to_have_text(load_probes(folder / "mine")[0].translations[-1])
    screenshot(page, "training-film")
    page.get_by_role("button", name="Open on Head maps").click()
    expect(page.get_by_role("heading", name="Head maps", exact=True)).to_be_visible()
    expect(page.get_by_role("textbox", name="Sentence").first).to_have_value("a b c d e f g h")
    expect(page.get_by_test_id("stSidebar")).to_contain_text("500 steps on reverse-small")
    wait_idle(page)


def test_a_run_outlives_the_server_and_the_page_finds_it_again(serve, folder, page):
    server = serve()
    open_page(page, server, "model_card")
    start(page, 5000, "long")
    wait_until("long", "running")
    server.stop()
    assert runs.get_run("long").state == "running"
    second = serve()
    open_page(page, second)
    expect(row(page)).to_contain_text("running")
    page.get_by_test_id("stSidebar").get_by_role("button", name="Stop training").click()
    expect(row(page)).to_contain_text("stopped")
    assert wait_until("long", "stopped").state == "stopped"
    expect(page.get_by_role("button", name="Stop training")).to_have_count(0)


def test_a_head_is_opened_by_a_click_and_by_the_keyboard_and_a_link_holds_it(watched, page, new_page):
    server, folder = watched
    save_probes(make_run(folder, "one"), [many_heads()])
    open_page(page, server, f"training?training_tab={FILM.replace(' ', '+')}")
    film = page.locator(".film")
    expect(film.locator(".title")).to_have_text("L1·H0")
    film.locator(".grid").press("ArrowRight")
    expect(film.locator(".title")).to_have_text("L1·H1")
    film.locator(".grid").press("ArrowUp")
    expect(film.locator(".title")).to_have_text("L0·H1")
    film.locator(".grid").click(position={"x": 60, "y": 40})
    expect(film.locator(".title")).to_have_text("L0·H0")
    expect(page).to_have_url(re.compile("training_layer=0.*training_head=0"))
    other = new_page()
    other.goto(page.url)
    expect(other.locator(".film .title")).to_have_text("L0·H0")
    film.locator(".grid").press("ArrowDown")
    expect(page).not_to_have_url(re.compile("training_layer|training_head"))


def test_a_link_holds_the_step_where_the_film_rests(watched, page, new_page):
    server, folder = watched
    save_probes(make_run(folder, "one"), [many_heads()])
    open_page(page, server, f"training?training_tab={FILM.replace(' ', '+')}")
    film, slider = page.locator(".film"), page.get_by_role("slider", name="Step of training")
    expect(film).to_have_attribute("data-step", "9")
    slider.fill("0")
    expect(page).to_have_url(re.compile(r"[?&]training_step=0(&|$)"))
    other = new_page()
    other.goto(page.url)
    expect(other.locator(".film")).to_have_attribute("data-step", "0")
    page.get_by_test_id("stMain").get_by_text("cross", exact=True).click()
    expect(page).to_have_url(re.compile("kind=cross"))
    expect(film).to_have_attribute("data-step", "0")
    slider.fill("1")
    expect(page).not_to_have_url(re.compile("training_step"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_thousand_runs_and_every_view(watched, new_page, scheme):
    server, folder = watched
    for number in range(1000):
        make_run(folder, f"old-{number:04d}", created=float(number))
    page = new_page(color_scheme=scheme)
    open_page(page, server)
    expect(row(page)).to_contain_text("old-0999")
    for tab in (FILM, "Translations", "All runs", "Curves"):
        page.get_by_role("tab", name=tab).click()
        wait_idle(page)
        screenshot(page, f"training-{tab.split()[0].lower()}-{scheme}")
    page.get_by_role("tab", name="All runs").click()
    expect(page.get_by_text("1,000 runs.")).to_be_visible()


def test_a_deleted_run_is_gone_after_it_was_asked(watched, page):
    server, folder = watched
    make_run(folder, "one", created=1.0)
    make_run(folder, "two", created=2.0)
    open_page(page, server)
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Delete …").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    wait_for(lambda: not (folder / "two").exists(), "the run is still there")
    assert (folder / "one").exists()
    expect(row(page)).to_contain_text("one")
