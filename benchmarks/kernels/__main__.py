"""Differentiates kernels as they are, and checks the derivatives.

    python -m benchmarks.kernels [names]

On small arguments, the outputs and all arguments after the run are compared bit for bit, and both modes with
finite differences and each other. What s2sad refuses is listed with the reason; a wrong derivative makes the
exit status 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial

import s2sad
from benchmarks.measuring import print_table

from . import KERNELS, Kernel
from .checks import adjoint_by_s2sad, check_adjoint, check_tangent


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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels; all by default")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(KERNELS)
    if unknown:
        parser.error(f"no kernels of these names: {', '.join(sorted(unknown))}")
    found = check_all([KERNELS[name] for name in chosen.names or KERNELS])
    return int(any(v.startswith(("WRONG", "FAILED")) for v in found.values()))


if __name__ == "__main__":
    sys.exit(main())
