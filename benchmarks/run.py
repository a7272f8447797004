"""Gradients by s2sad beside those written by hand and those of other tools, measured in one process.

    python benchmarks/run.py [--quick]

HIPS autograd and JAX take part where they are installed. Before anything is timed, the values and gradients
of all tools are compared. Printed are

- how long generating a derivative takes: the first call less the second one, in a process that has generated
  nothing before, and then for new copies of the same function;
- the time of the value alone, and of the value and the gradient by each tool, with the ratio to the time by
  hand: medians over rounds in which the tools take turns, so that what slows the machine slows all of them;
- unless it has to be quick, the largest memory that Python and NumPy hold during a call (of JAX's arrays they
  know nothing).

BLAS runs on one thread, unless the environment says otherwise: the programs are small, and more threads only
make the times vary.
"""
from __future__ import annotations

import argparse
import os
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # read when NumPy is imported

import numpy as np  # noqa: E402
from measuring import in_units, peak_memory, print_table, ratio  # noqa: E402
from programs import BENCHMARKS, THIRTY_LINES, TOOLS, assert_agreement, copy_of_primals  # noqa: E402

import s2sad  # noqa: E402

Call = Callable[[], Any]


@dataclass(frozen=True)
class Effort:
    """How much to measure: rounds, seconds for one sample, and seconds for all samples of one tool."""

    rounds: int
    sample: float
    budget: float


FULL = Effort(rounds=40, sample=0.02, budget=6.0)
QUICK = Effort(rounds=5, sample=0.002, budget=0.5)


# ---------------------------------------------------------------- time

@dataclass
class Samples:
    """Times of one call: how many calls make a sample, and the seconds of a call in each round."""

    timer: timeit.Timer
    number: int
    seconds: list[float] = field(default_factory=list)
    spent: float = 0.0

    def add(self) -> None:
        total = self.timer.timeit(self.number)
        self.spent += total
        self.seconds.append(total / self.number)


def measure(calls: Mapping[str, Call], effort: Effort) -> dict[str, list[float]]:
    """The seconds of each call in each round; what is slow leaves when its budget is spent."""
    running = {}
    for name, call in calls.items():
        timer = timeit.Timer(call)
        running[name] = Samples(timer, max(1, round(effort.sample / timer.timeit(1))))
    for _ in range(effort.rounds):
        for samples in running.values():
            if samples.spent < effort.budget:
                samples.add()
    return {name: samples.seconds for name, samples in running.items()}


def generation_times(copies: int) -> tuple[float, list[float]]:
    """Seconds to generate the derivative of 30 lines, for the first function and then for each copy of it."""
    found = []
    for _ in range(copies + 1):
        function = getattr(copy_of_primals(np), THIRTY_LINES.name)
        derivative = s2sad.value_and_grad(function, THIRTY_LINES.argnums)
        start = time.perf_counter()
        derivative(*THIRTY_LINES.args)
        middle = time.perf_counter()
        derivative(*THIRTY_LINES.args)
        found.append(2 * middle - start - time.perf_counter())
    return found[0], found[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures gradients by s2sad, by hand and by other tools.")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter samples")
    quick = parser.parse_args().quick
    effort = QUICK if quick else FULL

    first, later = generation_times(effort.rounds // 4)
    print(f"Generating the derivative of a {THIRTY_LINES.title}: {first * 1e3:.0f} ms for the first one in a"
          f" process, then {median(later) * 1e3:.0f} ms\n")

    times, memory = [], []
    for benchmark in (*BENCHMARKS, THIRTY_LINES):
        calls = benchmark.calls()
        assert_agreement(benchmark, calls)
        seconds = measure({"primal": partial(benchmark.primal, *benchmark.args), **calls}, effort)
        base = "by hand" if "by hand" in calls else "s2sad"
        row = [benchmark.title, in_units(median(seconds["primal"]))]
        for tool in TOOLS:
            row.append(f"{in_units(median(seconds[tool]))} {ratio(seconds[tool], seconds[base]):6.2f}x"
                       if tool in calls else "-")
        times.append(row)
        if not quick:
            memory.append([benchmark.title, *(
                f"{peak_memory(calls[tool]) / 1e3:,.0f} kB" if tool in calls else "-" for tool in TOOLS[:3])])
    print_table(["value and gradient", "value alone", *TOOLS], times)
    if not quick:
        print_table(["peak memory", *TOOLS[:3]], memory)


if __name__ == "__main__":
    main()
