"""Locks: one holder at a time, freed by whatever ends it, handed over without a gap."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.training_runs.waiting import wait_for
from transformer.training import locks

ROOT = Path(__file__).resolve().parent.parent.parent
IN_TURN = """
import sys, time
from pathlib import Path
from transformer.training.locks import waiting_for

lock, log, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
def write(word):
    with log.open("a") as file:
        file.write(f"{name} {word}\\n")
with waiting_for([lock], name, lambda: False, lambda holder: None) as ours:
    assert ours
    write("enters")
    time.sleep(0.02)
    write("leaves")
"""


def run_python(code: str, *arguments: object, **options) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, **options)


def test_only_one_holds_a_lock_and_it_ends_with_its_descriptor(tmp_path):
    path = tmp_path / "lock"
    assert not locks.is_held(path)
    descriptor = locks.take(path)
    assert descriptor is not None
    assert locks.is_held(path)
    assert locks.take(path, patience=0) is None
    os.close(descriptor)
    assert not locks.is_held(path)


def test_a_lock_ends_with_a_process_that_is_killed(tmp_path):
    path = tmp_path / "lock"
    holder = "import sys, time; from pathlib import Path; from transformer.training.locks import take"
    process = run_python(f"{holder}; take(Path(sys.argv[1])); print('held', flush=True); time.sleep(600)", path,
                         stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    assert locks.is_held(path)
    process.kill()
    process.communicate()
    assert not locks.is_held(path)


def test_a_lock_handed_to_a_child_lives_as_long_as_the_child(tmp_path):
    path = tmp_path / "lock"
    descriptor = locks.take(path)
    assert descriptor is not None
    process = run_python("import sys; sys.stdin.read()", pass_fds=[descriptor], stdin=subprocess.PIPE)
    os.close(descriptor)
    assert locks.is_held(path)
    process.communicate(b"")
    assert not locks.is_held(path)


def test_looking_at_a_lock_keeps_nobody_from_taking_it(tmp_path):
    path = tmp_path / "lock"
    path.touch()
    looking = threading.Event()

    def look():
        while not looking.is_set():
            locks.is_held(path)

    watchers = [threading.Thread(target=look) for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    try:
        for _ in range(50):
            descriptor = locks.take(path, patience=30)
            assert descriptor is not None
            os.close(descriptor)
    finally:
        looking.set()
        for watcher in watchers:
            watcher.join()


def test_a_lock_whose_file_was_replaced_meanwhile_is_not_taken(tmp_path):
    path = tmp_path / "lock"
    descriptor = locks.take(path)
    assert descriptor is not None
    assert locks.refers_to(descriptor, path)
    path.rename(tmp_path / "elsewhere")
    assert not locks.refers_to(descriptor, path)
    os.close(descriptor)


def test_a_signature_is_read_whole_or_not_at_all(tmp_path):
    path = tmp_path / "lock"
    assert locks.owner(path) is None
    descriptor = locks.take(path)
    assert descriptor is not None
    locks.sign(descriptor, "a name with spaces", 12345)
    locks.sign(descriptor, "short", 7)
    owner = locks.owner(path)
    assert owner is not None
    assert (owner.pid, owner.what, owner.is_here) == (7, "short", True)
    locks.unsign(descriptor)
    assert locks.owner(path) is None
    os.close(descriptor)
    path.write_text("12")
    assert locks.owner(path) is None


def test_twelve_starters_at_once_all_get_their_turn_one_at_a_time(tmp_path):
    lock, log = tmp_path / "device.lock", tmp_path / "log"
    processes = [run_python(IN_TURN, lock, log, number) for number in range(12)]
    assert [process.wait() for process in processes] == [0] * 12
    words = [line.split() for line in log.read_text().splitlines()]
    assert {name for name, _ in words} == {str(number) for number in range(12)}
    for (first, enters), (second, leaves) in zip(words[::2], words[1::2], strict=True):
        assert (enters, leaves) == ("enters", "leaves")
        assert first == second


def test_a_waiter_hears_who_is_in_the_way_and_can_be_called_off(tmp_path):
    path = tmp_path / "lock"
    descriptor = locks.take(path)
    assert descriptor is not None
    locks.sign(descriptor, "somebody", os.getpid())
    heard: list[str] = []
    with locks.waiting_for([path], "me", lambda: bool(heard), heard.append) as ours:
        assert not ours
    assert heard == ["somebody"]
    os.close(descriptor)
    wait_for(lambda: not locks.is_held(path), "the lock of a waiter that was called off is free again")


def test_a_waiter_takes_over_when_the_holder_leaves(tmp_path):
    path = tmp_path / "lock"
    descriptor = locks.take(path)
    assert descriptor is not None
    threading.Timer(0.2, os.close, [descriptor]).start()
    with locks.waiting_for([path], "me", lambda: False, lambda holder: None) as ours:
        assert ours
        assert locks.is_held(path)
        owner = locks.owner(path)
        assert owner is not None
        assert owner.what == "me"
    assert not locks.is_held(path)
