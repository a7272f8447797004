"""Measures gradients by s2sad beside those written by hand and those of other tools.

    python -m benchmarks [--quick] [--only PATTERN] [--tools NAMES] [--threads 1|all] [--output PREFIX]

Nothing is installed: what is missing is named, with the command that installs it. Before anything is timed,
the gradients of all tools are compared with those by hand; a tool that is wrong, or cannot take a program,
is left out and the reason is kept. Then all tools take turns, in one process and in many rounds; what is
reported are the ratios within the rounds to the gradient by hand in NumPy, their median and quartiles. On
one thread it is CPU time that is measured, on all threads it is elapsed time. Tables are printed, and
written with a chart and all numbers to PREFIX.md, PREFIX.svg and PREFIX.json.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .measuring import Effort
    from .programs import Program
    from .tools import Tool

Call = Callable[[], Any]


def limit_threads() -> None:
    """Before NumPy is imported; for this process, as an environment made for it may also say."""
    for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def keep_freed_memory() -> None:
    """Arrays get memory that this process has had before: whether the system's is new is chance otherwise."""
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        for option in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
            libc.mallopt(option, 1 << 30)


@dataclass
class Result:
    """What is known of a program, by the names of tools."""

    program: Program
    seconds: dict[str, list[float]] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


# Whose arrays tracemalloc knows.
TRACED = ("by hand", "s2sad", "autograd", "MyGrad", "primal")


def reason(error: Exception) -> str:
    """Why something is refused: the line of s2sad's errors that says it, or else what the error is."""
    lines = str(error).splitlines() or [""]
    why = next((line.removeprefix("why: ") for line in lines if line.startswith("why: ")), None)
    return why or f"{type(error).__name__}: {lines[0]}".partition(": [")[0]


def measure_program(
    program: Program, tools: list[Tool], effort: Effort, clock: Callable[[], float]
) -> Result:
    from .measuring import measure, peak_memory
    from .tools import assert_agreement

    result = Result(program)
    calls: dict[str, Call] = {}
    wanted: Any = None
    for tool in tools:
        try:
            call = tool.make(program, program.args)
            start = clock()
            found = call()
            result.first[tool.name] = clock() - start
            if tool.name == "by hand":
                wanted = found
            elif tool.name != "primal":
                assert_agreement(f"{program.title}: {tool.name}", wanted, found)
        except AssertionError as error:
            result.refused[tool.name] = f"WRONG: {error}"
        except Exception as error:
            result.refused[tool.name] = reason(error)
        else:
            calls[tool.name] = call
    result.seconds = measure(calls, effort, clock)
    result.memory = {
        name: peak_memory(calls[name])
        for name in TRACED
        if name in calls and min(result.seconds[name]) < effort.budget
    }
    return result


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and shorter samples")
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="a regular expression for names of programs"
    )
    parser.add_argument("--tools", default="", metavar="NAMES", help="names of tools, separated by commas")
    parser.add_argument("--threads", choices=("1", "all"), default="1")
    parser.add_argument("--output", default="benchmark", metavar="PREFIX", help="of the files to write")
    options = parser.parse_args()
    if options.threads == "1":
        limit_threads()
    keep_freed_memory()

    import re

    from . import report
    from .measuring import FULL, QUICK
    from .programs import PROGRAMS
    from .tools import TOOLS, is_installed

    names = [name.strip() for name in options.tools.split(",") if name.strip()] or list(TOOLS)
    if unknown := set(names) - set(TOOLS):
        parser.error(f"no tools of these names: {', '.join(sorted(unknown))}; there are {', '.join(TOOLS)}")
    programs = [
        program
        for program in PROGRAMS
        if re.search(options.only, program.title) or re.search(options.only, program.name)
    ]
    if not programs:
        parser.error(
            f"no program's name has {options.only}: there are {', '.join(p.title for p in PROGRAMS)}"
        )
    chosen, missing = [], []
    for tool in TOOLS.values():
        if tool.name == "by hand" or tool.name in names:
            (chosen if is_installed(tool.module.split(".")[0]) else missing).append(tool)
    for tool in missing:
        print(f"{tool.name} is not installed and takes no part: pip install {tool.package}")

    if options.threads == "1" and is_installed("torch"):
        import torch  # type: ignore[import-not-found]

        torch.set_num_threads(1)
    effort = QUICK if options.quick else FULL
    clock = time.process_time if options.threads == "1" else time.perf_counter
    small = next(program for program in PROGRAMS if program.name == "rosenbrock")
    for tool in chosen:
        tool.make(small, small.arguments(small.small))()  # what a tool does once in a process
    results = []
    for program in programs:
        results.append(measure_program(program, chosen, effort, clock))
        print(report.line(results[-1]), flush=True)
    report.write(options.output, results, chosen, missing, options.threads)
    return int(any(text.startswith("WRONG") for result in results for text in result.refused.values()))


if __name__ == "__main__":
    sys.exit(main())
