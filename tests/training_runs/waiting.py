"""Waiting for what other processes do."""

import time
from collections.abc import Callable

from transformer.training.runs import Run, get_run, list_runs

PATIENCE = 180.0
"""Seconds that a test waits for what is sure to come, on a machine that others use too."""


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Return when the condition holds; fail, saying what did not come, if it never does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what}: {[(run.name, run.state, run.message) for run in list_runs()]}"
        time.sleep(0.05)


def wait_until(name: str, *states: str) -> Run:
    wait_for(lambda: get_run(name).state in states, f"{name} is not {' or '.join(states)}")
    return get_run(name)
