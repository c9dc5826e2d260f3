"""Taking turns, so that whatever else the machine does meets every contestant alike."""

import time
from collections.abc import Callable, Mapping
from statistics import median


def interleaved(contestants: Mapping[str, Callable[[], object]], repetitions: int = 5) -> dict[str, float]:
    """The median seconds of each contestant over A B C A B C …, after one turn each that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(1 + repetitions):
        for name, work in contestants.items():
            start = time.perf_counter()
            work()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}
