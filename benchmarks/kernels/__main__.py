"""Differentiates kernels as they are, checks the derivatives, and times them beside adjoints written by hand.

    python -m benchmarks.kernels [--check | --time] [--rounds N] [names]

Checks run on small arguments: the outputs and all arguments after the run bit for bit, both modes against
finite differences and each other. What s2sad refuses is listed with the reason; a wrong derivative makes the
exit status 1. Times are of the kernel and its reverse sweep together, on large arguments and fresh copies of
them, medians over rounds in which all take turns; memory is the largest that Python and NumPy hold meanwhile.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from statistics import median
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # read when NumPy is imported

import s2sad  # noqa: E402
from benchmarks.measuring import in_units, peak_memory, print_table, ratio  # noqa: E402

from . import KERNELS, Kernel  # noqa: E402
from .checks import (  # noqa: E402
    Adjoint,
    adjoint_by_hand,
    adjoint_by_s2sad,
    check_adjoint,
    check_tangent,
    draw_cotangents,
)

BUDGET = 10.0  # seconds for all rounds of one kernel


def verdict(check: Callable[[], None]) -> str:
    """ "right", or why not."""
    try:
        check()
    except s2sad.S2sadError as error:
        return f"refused: {str(error).splitlines()[0]}"
    except AssertionError as error:
        return f"WRONG: {error}"
    except Exception as error:
        return f"FAILED: {type(error).__name__}: {error}".splitlines()[0]
    return "right"


def check_all(kernels: list[Kernel]) -> dict[str, str]:
    """Prints a table of verdicts; those on reverse mode by the kernels' names."""
    found = {}
    rows = []
    for kernel in kernels:
        reverse = verdict(lambda k=kernel: check_adjoint(k, adjoint_by_s2sad(k)))
        forward = verdict(partial(check_tangent, kernel))
        found[kernel.name] = reverse if reverse != "right" else forward
        rows.append([kernel.name, reverse, forward if forward != reverse else '"'])
    print_table(["kernel", "reverse", "forward"], rows)
    right = sum(v == "right" for v in found.values())
    refused = sum(v.startswith("refused") for v in found.values())
    rest = len(found) - right - refused
    print(f"{right} of {len(found)} right, {refused} refused, {rest} wrong or failed\n")
    return found


def there_and_back(adjoint: Adjoint, args: tuple[Any, ...], douts: tuple[Any, ...]) -> Any:
    out, bprop = adjoint(*args)
    return out, bprop(*douts)


def time_rounds(
    calls: dict[str, Callable[..., Any]], args: tuple[Any, ...], rounds: int
) -> dict[str, list[float]]:
    """The seconds of each call on a copy of the arguments, in each round."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    start = time.perf_counter()
    for turn in range(rounds + 1):
        for name, call in calls.items():
            copies = deepcopy(args)
            before = time.perf_counter()
            call(copies)
            if turn:  # the first one generates code and warms caches
                seconds[name].append(time.perf_counter() - before)
        if turn and time.perf_counter() - start > BUDGET:
            break
    return seconds


def time_row(kernel: Kernel, generated: bool, rounds: int) -> tuple[list[str], list[str]]:
    """The rows of one kernel in the tables of times and of memory."""
    args = kernel.arguments("large")
    douts = draw_cotangents(kernel, deepcopy(args))

    by_hand = adjoint_by_hand(kernel)
    adjoints = {"by hand": by_hand} if by_hand else {}
    if generated:
        adjoints["s2sad"] = adjoint_by_s2sad(kernel)
    calls: dict[str, Callable[..., Any]] = {"kernel": lambda copies: kernel.function(*copies)}
    for name, adjoint in adjoints.items():
        calls[name] = partial(lambda adjoint, copies: there_and_back(adjoint, copies, douts), adjoint)
    seconds = time_rounds(calls, args, rounds)
    peaks = {name: peak_memory(partial(call, deepcopy(args))) for name, call in calls.items()}

    times, memory = [kernel.name], [kernel.name]
    for name in ("kernel", "by hand", "s2sad"):
        times.append(in_units(median(seconds[name])) if name in calls else "-")
        memory.append(f"{peaks[name] / 1e3:,.0f} kB" if name in calls else "-")
    both = len(adjoints) == 2
    times.append(f"{ratio(seconds['s2sad'], seconds['by hand']):.2f}x" if both else "-")
    memory.append(f"{peaks['s2sad'] / max(peaks['by hand'], 1):.2f}x" if both else "-")
    return times, memory


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels; all by default")
    parser.add_argument("--check", action="store_true", help="check only")
    parser.add_argument("--time", action="store_true", help="time only")
    parser.add_argument("--rounds", type=int, default=15, help="how often each call is timed, at most")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(KERNELS)
    if unknown:
        parser.error(f"no kernels of these names: {', '.join(sorted(unknown))}")
    kernels = [KERNELS[name] for name in chosen.names or KERNELS]

    found = {} if chosen.time else check_all(kernels)
    if not chosen.check:
        rows = []
        for kernel in kernels:
            right = found.get(kernel.name) or verdict(lambda k=kernel: check_adjoint(k, adjoint_by_s2sad(k)))
            rows.append(time_row(kernel, right == "right", chosen.rounds))
        header = ["by hand", "s2sad", "ratio"]
        print_table(["time", "kernel", *header], [times for times, _ in rows])
        print_table(["peak memory", "kernel", *header], [memory for _, memory in rows])
    return int(any(v.startswith(("WRONG", "FAILED")) for v in found.values()))


if __name__ == "__main__":
    sys.exit(main())
