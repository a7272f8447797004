"""Ratios of times, peak memory, and tables of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

__all__ = ["in_units", "peak_memory", "print_table", "ratio"]


def ratio(seconds: Iterable[float], base: Iterable[float]) -> float:
    """The median of the ratios within the rounds that both took part in."""
    return median(a / b for a, b in zip(seconds, base, strict=False))


def peak_memory(call: Callable[[], Any]) -> int:
    """The bytes that are allocated during a call, at most, above those before it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def in_units(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Prints columns as wide as their longest entry, as a Markdown table."""
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("|", " | ".join([first.strip().ljust(widths[0]), *rest]), "|")
    print()
