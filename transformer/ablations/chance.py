"""What chance may make: how far apart two means may lie where nothing differs but seeds. Light."""

import math
from collections.abc import Sequence
from statistics import stdev

_STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
"""Student's t that 19 of 20 stay within, for a standard deviation over so many seeds."""


def margin(seeds: Sequence[float], n: int, m: int) -> float | None:
    """t · s · √(1/n + 1/m): within it lie 19 of 20 differences of means over n and m seeds that differ in nothing else.

    s is the standard deviation of `seeds`, t Student's. None where there are fewer than two of them.
    """
    if len(seeds) < 2:
        return None
    return _STUDENT[min(len(seeds), max(_STUDENT))] * stdev(seeds) * math.sqrt(1 / n + 1 / m)
