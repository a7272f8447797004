"""How the time to generate a derivative grows with the length of the function.

    python benchmarks/generation.py [--lines 400] [--rounds 3]

For several kinds of code, functions of so many statements and of four times as many are written to files and
differentiated. Printed are the least CPU seconds of the rounds for both, and their ratio: 4 where the time
grows with the number of statements.
"""
from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from measuring import print_table

import s2sad

Lines = Iterator[str]


def numbers() -> Lines:
    """Straight-line code of scalars."""
    k = 0
    while True:
        yield f"t = t * u + math.sin(x[{k % 10}])"
        yield "u = u - 0.01 * t * t"
        yield "t = math.sqrt(1.0 + t * t)"
        yield f"u = u * 0.5 + a[{k % 7}] * t"
        k += 1


def arrays() -> Lines:
    """Straight-line code of arrays."""
    while True:
        yield "y = np.sin(y) * a"
        yield "t = t + np.sum(y * x)"
        yield "y = y + 0.1 * x[::-1]"
        yield "u = y[3] * x[2] + t"
        yield "t += 0.01 * u"


def branches() -> Lines:
    """A branch in every four lines."""
    k = 0
    while True:
        yield f"if t > {0.1 * k}:"
        yield f"    t = t * a[{k % 5}]"
        yield "else:"
        yield "    t = np.sin(t) + u"
        k += 1


def loops() -> Lines:
    """A loop in every three lines."""
    k = 0
    while True:
        yield "for k in range(3):"
        yield f"    t = t + math.sin(x[k] * a[{k % 10}])"
        yield "t = 0.5 * t"
        k += 1


def calls() -> Lines:
    """Calls of small functions."""
    while True:
        yield "y = scaled(y, a)"
        yield "y = y + squared(x)"
        yield "t = t + np.sum(y)"


def stores() -> Lines:
    """Elements of an array that are set."""
    k = 0
    while True:
        yield f"y[{k % 10}] = x[{3 * k % 10}] * y[{7 * k % 10}] + a[{k % 10}]"
        k += 1


KINDS: tuple[Callable[[], Lines], ...] = (numbers, arrays, branches, loops, calls, stores)

HEADER = """import math
import numpy as np

def scaled(x, y):
    return np.sin(x) * y

def squared(x):
    u = x * x
    return u + scaled(u, x)

def program(x, a):
    t, u = x[0], a[0]
    y = x * a
"""


def text_of(kind: Callable[[], Lines], count: int, in_loop: bool) -> str:
    """A module whose function `program` has about so many statements, all in one loop if asked for."""
    lines = list(islice(kind(), count - count % 12))
    if in_loop:
        lines = ["for _ in range(2):", *(f"    {line}" for line in lines)]
    return HEADER + "".join(f"    {line}\n" for line in lines) + "    return t + u + np.sum(y)\n"


def function_of(text: str, path: Path) -> Any:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def seconds(text: str, path: Path) -> float:
    """The CPU seconds that the gradient of the function of a text takes to generate."""
    function = function_of(text, path)
    x, a = np.linspace(0.1, 1.0, 10), np.linspace(0.2, 1.1, 10)
    start = time.process_time()
    s2sad.grad(function).function_for(x, a)
    return time.process_time() - start


def growth(kind: Callable[[], Lines], lines: int, rounds: int, in_loop: bool = False) -> tuple[float, float]:
    """The least CPU seconds for so many statements, and for four times as many."""
    with tempfile.TemporaryDirectory() as folder:
        short, long = (text_of(kind, n, in_loop) for n in (lines, 4 * lines))
        seconds(text_of(kind, 24, in_loop), Path(folder, "first.py"))
        times = [
            (seconds(short, Path(folder, f"short_{k}.py")), seconds(long, Path(folder, f"long_{k}.py")))
            for k in range(rounds)
        ]
    return min(t for t, _ in times), min(t for _, t in times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for kind in KINDS:
        for in_loop in (False, True):
            short, long = growth(kind, options.lines, options.rounds, in_loop)
            name = f"{kind.__name__}{', in a loop' if in_loop else ''}"
            rows.append([name, f"{short:.2f} s", f"{long:.2f} s", f"{long / short:.1f}"])
    print_table(["", f"{options.lines} lines", f"{4 * options.lines} lines", "ratio"], rows)


if __name__ == "__main__":
    main()
