"""What it costs to generate derivatives.

    python -m benchmarks.generation [--lines 500] [--rounds 3]

Four tables, all of CPU time. First that of importing s2sad, and of importing it and taking a gradient of
three lines, beside that of importing NumPy; all three from bytecode, as installed packages are. Then the
derivatives of the function of 30 lines in `programs.py`, one form after another of the same function: in
milliseconds of a machine on which `sum(range(1000))` takes 12 microseconds. Then the share of each stage in
the first of them. Then growth: for several kinds of code, functions of so many statements and of four times
as many are written to files and differentiated; their ratio is 4 where the time grows with the number of
statements.
"""
from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from timeit import repeat
from typing import Any

import numpy as np

import s2sad
from s2sad.derivatives.generator import Generator
from s2sad.transforms import NORMALISE

from . import primals
from .measuring import print_table
from .programs import THIRTY_LINES
from .tools import copy_of

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


THREE_LINES = """import numpy as np
import s2sad
def f(x, y):
    z = np.sin(x) * y
    w = z * z + x
    return np.sum(w)
s2sad.grad(f)(np.ones(3), 2.0)
"""


def imports(rounds: int) -> list[list[str]]:
    """Seconds that a process takes for NumPy, for s2sad, and for a first gradient."""
    rows, numpy = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "gradient.py")
        path.write_text(THREE_LINES)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPATH"] = str(Path(s2sad.__file__).parents[1])

        def run(*arguments: str) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *arguments], env=environment, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        for name, arguments in (
            ("import numpy", ("-c", "import numpy")),
            ("import numpy, s2sad", ("-c", "import numpy, s2sad")),
            ("first gradient", (str(path),)),
        ):
            run(*arguments)  # writes bytecode
            least = min(run(*arguments) for _ in range(rounds))
            numpy = numpy or least
            rows.append([name, f"{least:.3f} s", f"{least / numpy:.1f}"])
    return rows


FORMS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("value_and_grad", lambda f: s2sad.value_and_grad(f)),
    ("then grad", lambda f: s2sad.grad(f)),
    ("then vjp, of the same argument", lambda f: s2sad.vjp(f, argnums=0)),
    ("then jvp, of the same argument", lambda f: s2sad.jvp(f, argnums=0)),
    ("then vjp, of all arguments", lambda f: s2sad.vjp(f)),
    ("then jvp of grad", lambda f: s2sad.jvp(s2sad.grad(f), argnums=0)),
)


def forms(rounds: int) -> list[list[str]]:
    """Milliseconds for one form after another of a function, in the first round and in the fastest."""
    unit = min(repeat("sum(range(1000))", number=2000, repeat=5)) / 2000 / 12e-6
    times: dict[str, list[float]] = {name: [] for name, _ in FORMS}
    for _ in range(rounds + 1):
        function = getattr(copy_of(primals), THIRTY_LINES.name)
        for name, make in FORMS:
            start = time.process_time()
            make(function).function_for(*THIRTY_LINES.args)
            times[name].append((time.process_time() - start) / unit * 1e3)
    first = min(times["value_and_grad"][1:])
    return [
        [name, f"{found[0]:.0f} ms", f"{min(found[1:]):.0f} ms", f"{min(found[1:]) / first:.2f}"]
        for name, found in times.items()
    ]


STAGES = {
    **dict.fromkeys((step.__name__ for step in NORMALISE), "reading, normal form"),
    "inline_calls": "callees, single assignment",
    "to_ssa": "callees, single assignment",
    "lower_augmented": "kinds, lowering",
    "differentiate": "differentiation",
}


def shares(rounds: int) -> list[list[str]]:
    """The share of each stage in a derivative of which nothing is known."""
    spent: Counter[str] = Counter()
    for _ in range(rounds):
        function = getattr(copy_of(primals), THIRTY_LINES.name)
        derivative = s2sad.value_and_grad(function)
        derivative.function_for(*THIRTY_LINES.args)
        last = [time.process_time()]

        def watch(name: str, program: Any, last: list[float] = last) -> None:
            last.append(time.process_time())
            spent[STAGES.get(name, "simplification")] += last[-1] - last[-2]

        derivative.generate_with(Generator(watch=watch), THIRTY_LINES.args)
        spent["text, compilation"] += time.process_time() - last[-1]
    return [[stage, f"{time_ / spent.total():.0%}"] for stage, time_ in spent.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print_table(["", "CPU time", "ratio"], imports(options.rounds))
    print_table(["function of 30 lines", "in a new process", "later", "ratio"], forms(3 * options.rounds))
    print_table(["stage", "share"], shares(3 * options.rounds))
    rows = []
    for kind in KINDS:
        for in_loop in (False, True):
            short, long = growth(kind, options.lines, options.rounds, in_loop)
            name = f"{kind.__name__}{', in a loop' if in_loop else ''}"
            rows.append([name, f"{short:.2f} s", f"{long:.2f} s", f"{long / short:.1f}"])
    print_table(["", f"{options.lines} lines", f"{4 * options.lines} lines", "ratio"], rows)


if __name__ == "__main__":
    main()
