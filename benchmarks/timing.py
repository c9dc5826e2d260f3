"""Taking turns, so that whatever else the machine does meets every contestant alike."""

import time
from collections.abc import Callable, Mapping
from statistics import median

PAUSE = 0.3
"""Seconds before each turn: threads that wait for more work in a loop, as OpenMP's do for up to 0.2 s, go to sleep."""


def interleaved(contestants: Mapping[str, Callable[[], object]], repetitions: int = 5) -> dict[str, float]:
    """The median seconds of each contestant over A B C A B C …, after one turn each that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(1 + repetitions):
        for name, work in contestants.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            work()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}
