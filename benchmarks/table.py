"""The table: a row for each budget of the design, and above it where it was measured."""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Self

OURS = "Roundtable"
PACKAGES = ("torch", "transformers", "x-transformers", "streamlit")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    ours: str
    others: str
    ratio: float
    unit: str
    """What stands behind the ratio: "×" for a quotient, "s" or "ms" for a time."""
    budget: float
    larger_is_better: bool
    why: str = ""
    """What keeps a missed budget from being met, as far as this run shows it."""

    @property
    def met(self) -> bool:
        return self.ratio >= self.budget if self.larger_is_better else self.ratio <= self.budget

    @classmethod
    def race(cls, what: str, rates: Mapping[str, float], budget: float, why: str = "") -> Self:
        """A row of rates (more is better): ours against the best of the peers."""
        peers = {name: rate for name, rate in rates.items() if name != OURS}
        others = " · ".join(f"{name} {number(rate)}" for name, rate in peers.items())
        return cls(what, number(rates[OURS]), others, rates[OURS] / max(peers.values()), "×", budget, True, why)

    def cells(self) -> tuple[str, ...]:
        sign = "≥" if self.larger_is_better else "≤"
        share = abs(self.ratio / self.budget - 1)
        verdict = "met" if self.met else f"missed by {share:.0%}"
        ratio = f"{number(self.ratio)} {self.unit}"
        return (self.what, self.ours, self.others, ratio, f"{sign} {self.budget:g} {self.unit}", verdict)


HEADINGS = ("what", OURS, "others", "ratio", "budget", "")


def number(value: float) -> str:
    """Three digits, which is what such measurements are good for, and all digits left of the point."""
    if abs(value) >= 100:
        return f"{round(value):,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def layout(rows: list[Row]) -> str:
    """The rows in columns, and below them why budgets were missed."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    texts.insert(1, "  ".join("─" * width for width in widths))
    whys = dict.fromkeys(row.why for row in rows if not row.met and row.why)
    notes = ["; ".join(row.what for row in rows if not row.met and row.why == why) + f":\n  {why}" for why in whys]
    return "\n".join([*texts, *([""] if notes else []), *notes])


def machine() -> str:
    """Processor, cores, how busy it is, and versions."""
    import torch

    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} is not installed")
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    cores = f"{os.cpu_count()} cores, torch threads: {torch.get_num_threads()}{load}"
    return f"{_processor()}, {cores}\n{', '.join(versions)}, float32"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
