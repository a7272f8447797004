"""Interleaved samples of CPU time, ratios with quartiles, peak memory, what tools cost, and tables."""

from __future__ import annotations

import gc
import importlib.metadata
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

__all__ = [
    "FULL",
    "QUICK",
    "Effort",
    "import_seconds",
    "in_units",
    "install_size",
    "measure",
    "peak_memory",
    "print_table",
    "quartiles",
    "ratios",
]

Call = Callable[[], Any]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Effort:
    """How much to measure: rounds, seconds for one sample, and seconds for all samples of one tool."""

    rounds: int
    sample: float
    budget: float


FULL = Effort(rounds=15, sample=0.01, budget=0.6)
QUICK = Effort(rounds=5, sample=0.002, budget=0.5)


@dataclass
class Samples:
    """Times of one call: how many calls make a sample, and the seconds of a call in each round."""

    call: Call
    clock: Clock
    number: int = 1
    seconds: list[float] = field(default_factory=list)
    spent: float = 0.0

    def time(self) -> float:
        """The seconds of one call, of so many."""
        call, clock = self.call, self.clock
        start = clock()
        for _ in range(self.number):
            call()
        return (clock() - start) / self.number

    def grow(self, effort: Effort) -> None:
        """Chooses the number of calls: as many as fill a sample. What takes all the budget has been timed."""
        while (found := self.time()) * self.number < effort.sample and self.number < 100_000:
            self.number *= 2 if found <= 0 else max(2, min(100, round(effort.sample / found / self.number)))
        if found > effort.budget:
            self.seconds, self.spent = [found], found

    def add(self) -> None:
        self.seconds.append(self.time())
        self.spent += self.seconds[-1] * self.number


def measure(calls: Mapping[str, Call], effort: Effort, clock: Clock) -> dict[str, list[float]]:
    """The seconds of each call in each round; all take turns, and what is slow leaves early."""
    gc.collect()
    gc.freeze()  # what libraries hold is not looked through in the rounds in which a tool makes cycles
    running = {name: Samples(call, clock) for name, call in calls.items()}
    for samples in running.values():
        samples.grow(effort)
    for _ in range(effort.rounds):
        for samples in running.values():
            if samples.spent < effort.budget:
                samples.add()
    return {name: samples.seconds for name, samples in running.items()}


def ratios(seconds: Iterable[float], base: Iterable[float]) -> list[float]:
    """The ratios within the rounds that both took part in."""
    return [a / b for a, b in zip(seconds, base, strict=False) if b > 0]


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile."""
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else 3 * values
    return low, middle, high


def peak_memory(call: Call) -> int:
    """The bytes that are allocated during a call, at most, above those before it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def import_seconds(module: str, rounds: int = 3) -> float:
    """The least CPU seconds that a new process takes to import a module after NumPy."""
    text = (
        f"import numpy, time; start = time.process_time(); import {module}; "
        "print(time.process_time() - start)"
    )
    root = str(Path(__file__).parents[1])
    return min(
        float(subprocess.run([sys.executable, "-c", text], cwd=root, check=True, capture_output=True).stdout)
        for _ in range(rounds)
    )


def install_size(distribution: str) -> int:
    """The bytes of the files of an installed package and of what it requires, other than NumPy."""
    total, seen, waiting = 0, {"numpy"}, [distribution]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # what is required on other systems only
        total += sum(
            path.stat().st_size for file in found.files or () if (path := Path(str(file.locate()))).is_file()
        )
        waiting += [
            match[0]
            for text in found.requires or ()
            if "extra ==" not in text and (match := re.match(r"[\w.-]+", text))
        ]
    return total


def in_units(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Prints columns as wide as their longest entry, as a Markdown table."""
    print(table(header, rows), "\n", sep="")


def table(header: list[str], rows: list[list[str]]) -> str:
    """Columns as wide as their longest entry, as a Markdown table."""
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    lines = []
    for row in [header, ["-" * width for width in widths], *rows]:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"| {' | '.join([first.strip().ljust(widths[0]), *rest])} |")
    return "\n".join(lines)
