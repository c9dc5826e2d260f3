"""Where checkpoints lie: no name leads out of the folder, and a file is replaced whole or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer import folders
from transformer.folders import CheckpointError, check_name, find_checkpoint, list_checkpoints, replacing, runs_folder

HOSTILE = [
    "", " ", ".", "..", "...", ".hidden", "../x", "..\\x", "a/b", "a\\b", "/etc/passwd", "/", "~", "~root", "C:", "a:b",
    "x" * 61, "x" * 300, "漢" * 100, "\0", "a\0b", "a\nb", "a b", "🙂", "a🙂", "%2e%2e", "a?b", "a*", "*",
    "[a]", "$HOME", "`id`",
    "-", "-x", "--help", "a;b", "'", '"', "<b>", "|", "\u202etxt", "\u200b", "\ud800", "a\tb", "-\r",
]  # fmt: skip
FINE = ["a", "everyday-en-de", "run_2", "v1.0", "x-", "Größe", "試験", "0", "a..b", "x" * 60, "漢" * 60]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of runs, in a place of its own, beside an empty one of shipped checkpoints."""
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path / "runs"))
    monkeypatch.setattr(folders, "SHIPPED", tmp_path / "shipped")
    for name in ("runs", "shipped"):
        (tmp_path / name).mkdir()
    return tmp_path / "runs"


def checkpoint(folder: Path, *files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for file in files or ("config.json", "model.safetensors"):
        (folder / file).touch()
    return folder


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_is_no_plain_name_is_refused_in_one_short_sentence(name: str):
    with pytest.raises(CheckpointError) as error:
        check_name(name)
    message = str(error.value)
    assert " cannot name a checkpoint: " in message
    assert message.endswith(".")
    assert len(message) < 500
    assert message.isprintable()


@pytest.mark.parametrize("name", FINE)
def test_a_plain_name_in_any_script_comes_back_and_names_a_folder(name: str, runs: Path):
    assert check_name(name) == name
    (runs / name).mkdir()
    assert checkpoint(runs / name) == find_checkpoint(name)


@given(st.text(max_size=300) | st.text(st.characters(categories=["L", "N"]), max_size=120))
def test_whatever_is_typed_stays_inside_the_folder_and_fits_a_file_system(name: str):
    try:
        check_name(name)
    except CheckpointError:
        return
    inside = Path("/runs")
    assert (inside / name).parent == inside
    assert os.path.normpath(inside / name) == str(inside / name)
    assert len(os.fsencode(name)) <= 255


@given(st.text(max_size=300))
def test_looking_for_whatever_is_typed_finds_nothing_and_says_so(name: str):
    with pytest.raises(CheckpointError):
        find_checkpoint(name)


@pytest.mark.parametrize(
    "name", ["a/" + "x" * 300, "x" * 5000 + "/y", "a\0b/c", "\ud800/x", "/dev/null", "/proc/self/mem"]
)
def test_a_path_that_cannot_be_is_not_a_checkpoint(name: str):
    with pytest.raises(CheckpointError, match=r"is not a checkpoint: it has no config\.json"):
        find_checkpoint(name)


def test_hostile_names_find_nothing_outside(tmp_path: Path, runs: Path):
    """A name, as a page takes it, reaches runs and shipped checkpoints alone; a path is a person's own."""
    checkpoint(tmp_path / "outside")
    checkpoint(runs / ".hidden")
    for name in ("outside", "..outside", ".hidden", "%2e%2e%2foutside"):
        with pytest.raises(CheckpointError):
            find_checkpoint(name)
    for name in ("../outside", "runs/../outside"):
        with pytest.raises(CheckpointError):
            check_name(name)


def test_your_own_runs_come_before_those_that_are_shipped(tmp_path: Path, runs: Path):
    for folder in (runs / "b", runs / "a", tmp_path / "shipped/c", tmp_path / "shipped/a"):
        checkpoint(folder)
    assert list_checkpoints() == ["a", "b", "c"]
    assert find_checkpoint("a") == runs / "a"
    assert find_checkpoint("c") == tmp_path / "shipped/c"


def test_only_folders_with_weights_and_a_configuration_are_listed(runs: Path):
    checkpoint(runs / "whole")
    checkpoint(runs / "begun", "config.json")
    checkpoint(runs / "strange", "model.safetensors")
    (runs / "file").touch()
    assert list_checkpoints() == ["whole"]
    with pytest.raises(CheckpointError, match=r"^There is no checkpoint 'strange'; those that can be used: whole\.$"):
        find_checkpoint("strange")


def test_every_name_that_is_listed_can_be_asked_for(runs: Path):
    checkpoint(runs / "good")
    checkpoint(runs / "with space")
    checkpoint(runs / ".hidden")
    for name in list_checkpoints():
        assert find_checkpoint(name) == runs / name
    assert list_checkpoints() == ["good"]


def test_where_there_is_none_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path / "nowhere"))
    assert list_checkpoints() == []
    with pytest.raises(CheckpointError, match=r"^There is no checkpoint 'x'; those that can be used: none yet\.$"):
        find_checkpoint("x")


def test_a_folder_is_taken_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = checkpoint(tmp_path / "with space")
    assert find_checkpoint(folder) == folder
    assert find_checkpoint(str(folder)) == folder
    monkeypatch.chdir(folder)
    assert find_checkpoint(".").resolve() == folder
    with pytest.raises(CheckpointError, match=r"is not a checkpoint: it has no config\.json"):
        find_checkpoint(tmp_path)


def test_runs_lie_in_checkpoints_by_default(monkeypatch: pytest.MonkeyPatch):
    for value in (None, ""):
        if value is None:
            monkeypatch.delenv("ROUNDTABLE_CHECKPOINTS")
        else:
            monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", value)
        assert runs_folder() == Path("checkpoints")


def test_a_file_is_replaced_in_one_step(tmp_path: Path):
    path = tmp_path / "file"
    path.write_text("old")
    reader = path.open()
    with replacing(path) as temporary:
        assert temporary.parent == tmp_path
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert reader.read() == "old", "whoever was reading reads the old file to its end"
    reader.close()
    assert not temporary.exists()


def test_threads_that_replace_one_file_at_once_do_not_meet(tmp_path: Path):
    path = tmp_path / "file"
    seen = []

    def write(text: str) -> None:
        with replacing(path) as temporary:
            seen.append(temporary)
            temporary.write_text(text)
            together.wait()

    together = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, ("first", "second")))
    assert len(set(seen)) == 2
    assert path.read_text() in ("first", "second")


def test_what_fails_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path: Path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["file", "runs", "shipped"]
