"""What becomes of the numbers: tables, the list of where s2sad loses, JSON and a chart."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterable
from datetime import date
from math import exp, log
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from .measuring import import_seconds, in_units, install_size, quartiles, ratios, table
from .tools import TOOLS, Tool, is_installed

if TYPE_CHECKING:
    from .__main__ import Result

__all__ = ["line", "write"]

BASE = "by hand"
ENOUGH = 1.2  # times by hand

INTRODUCTION = """\
This page is written by `python -m benchmarks`. It installs nothing, and says how to install what is
missing; `--quick`, `--only`, `--tools` and `--threads all` choose what is measured.

- `benchmarks/primals.py` has the programs, as users write them in plain Python and NumPy. s2sad takes them
  as they are: `s2sad` is `grad(f)`, `s2sad Numba` is `grad(f, compile="numba")`.
- `benchmarks/by_hand.py` has their gradients written by hand in NumPy, with the loops and operations of the
  program and as little work as possible; `benchmarks/by_hand_numba.py` has them as loops for Numba, which
  may reorder.
- autograd, MyGrad, PyTorch and JAX (jitted, in double precision, on their own arrays) get the same text
  with their library in NumPy's place, or what their users would write: `benchmarks/with_jax.py`,
  `benchmarks/with_torch.py`, `benchmarks/without_stores.py`.
- All gradients are compared before anything is timed. Then all take turns in one process, in many rounds; a
  ratio is that of two times of one round. Memory that was freed stays with the process, so that arrays do
  not get new pages by chance."""


def ratios_to(result: Result, name: str, base: str = BASE) -> list[float]:
    """The ratios of the times of two tools for a program; none where one of them takes no part."""
    if name not in result.seconds or base not in result.seconds:
        return []
    return ratios(result.seconds[name], result.seconds[base])


def middle(result: Result, name: str, base: str = BASE) -> float | None:
    found = ratios_to(result, name, base)
    return median(found) if found else None


def geometric_mean(values: Iterable[float]) -> float:
    logs = [log(value) for value in values]
    return exp(sum(logs) / len(logs))


def line(result: Result) -> str:
    """A program in one line, to show that the work goes on."""
    found = ((name, middle(result, name)) for name in result.seconds if name != BASE)
    shown = "  ".join(f"{name} {value:.2f}" for name, value in found if value is not None)
    return f"{result.program.title}: by hand {in_units(median(result.seconds[BASE]))}  {shown}"


def cell(result: Result, name: str) -> str:
    if name not in result.seconds:
        return "-"
    low, value, high = quartiles(ratios_to(result, name))
    digits = 3 if value < 0.1 else 2
    return f"{value:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def table_of_times(results: list[Result], names: list[str]) -> str:
    """The time of the gradient by hand in NumPy, and what the others take in multiples of it."""
    others = [name for name in names if name != BASE]
    rows = [
        [r.program.title, in_units(median(r.seconds[BASE])), *(cell(r, name) for name in others)]
        for r in results
    ]
    means = []
    for name in others:
        found = [value for r in results if (value := middle(r, name)) is not None]
        means.append(f"{geometric_mean(found):.2f} of {len(found)}" if found else "-")
    return table(["gradient", BASE, *others], [*rows, ["geometric mean", "", *means]])


def table_of_memory(results: list[Result]) -> str:
    names = [name for name in TOOLS if any(name in r.memory for r in results)]
    return table(
        ["peak memory", *names],
        [
            [
                r.program.title,
                *(f"{r.memory[name] / 1e3:,.1f} kB" if name in r.memory else "-" for name in names),
            ]
            for r in results
        ],
    )


def table_of_first_calls(results: list[Result], names: list[str]) -> str:
    shown = [name for name in names if name not in (BASE, "primal")]
    return table(
        ["first call", *shown],
        [
            [r.program.title, *(f"{r.first[name]:.2f} s" if name in r.seconds else "-" for name in shown)]
            for r in results
        ],
    )


def version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed as a package"


def costs(tools: Iterable[Tool]) -> dict[str, dict[str, Any]]:
    """Version, seconds to import after NumPy, and bytes with what it requires, by the packages of tools."""
    found: dict[str, dict[str, Any]] = {}
    for tool in tools:
        if tool.package not in ("numpy", *found):
            size = install_size(tool.package)
            if tool.package == "s2sad":
                size = size if size > 1e6 else size_of_checkout()
            found[tool.package] = {
                "version": version_of(tool.package),
                "bytes": size,
                "import_seconds": import_seconds(tool.module),
            }
    return found


def size_of_checkout() -> int:
    root = Path(__file__).parents[1]
    sources = (path for folder in ("s2sad", "transforms") for path in (root / folder).rglob("*.py"))
    return sum(path.stat().st_size for path in sources) + install_size("gast") + install_size("astunparse")


def table_of_costs(found: dict[str, dict[str, Any]]) -> str:
    return table(
        ["package", "version", "import after NumPy", "installed, with what it requires"],
        [
            [name, cost["version"], f"{cost['import_seconds'] * 1e3:.0f} ms", f"{cost['bytes'] / 1e6:.1f} MB"]
            for name, cost in found.items()
        ],
    )


def losses(results: list[Result]) -> list[str]:
    """Where s2sad is slower than it should be, than others, or takes no part."""
    found = []
    for ours, base, limit in (
        ("s2sad", BASE, ENOUGH),
        ("s2sad", "autograd", 1.0),
        ("s2sad", "MyGrad", 1.0),
        ("s2sad", "PyTorch", 1.0),
        ("s2sad", "JAX", 1.0),
        ("s2sad Numba", "by hand Numba", ENOUGH),
        ("s2sad Numba", "JAX", 1.0),
        ("s2sad Numba", "s2sad", 1.0),
        ("s2sad", "primal", 4.0),
    ):
        both = [(r.program.title, value) for r in results if (value := middle(r, ours, base)) is not None]
        slower = sorted(((title, value) for title, value in both if value > limit), key=lambda item: -item[1])
        if both:
            most = f"more than {limit} times the time of" if limit > 1 else "slower than"
            shown = "; ".join(f"{title} {value:.2f}" for title, value in slower) or "none"
            found.append(
                f"{ours}: {most} {base} on {len(slower)} of {len(both)} programs (geometric mean "
                f"{geometric_mean(value for _, value in both):.2f}): {shown}"
            )
    return found


def refusals(results: list[Result]) -> list[str]:
    """What takes no part in which program, and why."""
    return [f"{r.program.title}, {name}: {why}" for r in results for name, why in r.refused.items()]


def machine() -> str:
    """The class of the machine: its processor, where the system tells it."""
    path = Path("/proc/cpuinfo")
    text = path.read_text() if path.exists() else ""
    names = [row.partition(":")[2].strip() for row in text.splitlines() if row.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def bulleted(items: list[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def write(prefix: str, results: list[Result], tools: list[Tool], missing: list[Tool], threads: str) -> None:
    """Prints the report and writes it, with a chart and all numbers."""
    names = [tool.name for tool in tools]
    packages = costs(tools)
    how = "CPU time on one thread" if threads == "1" else "elapsed time on all threads"
    drawn = is_installed("matplotlib")
    parts = [
        "# Performance",
        INTRODUCTION,
        f"This run: {date.today()}, Python {platform.python_version()}, {machine()}; {how}.",
        "## Gradients",
        "The time by hand in NumPy, and the others in multiples of it: median (lower-upper quartile)."
        " `primal` is the program itself.",
        *(
            [f"![Times of gradients, in multiples of those by hand]({Path(prefix).name}.svg)"]
            if drawn
            else []
        ),
        table_of_times(results, names),
        "## Where s2sad loses",
        bulleted(losses(results)),
        "## First call",
        "CPU or elapsed time, as above, of generation, compilation and the call itself.",
        table_of_first_calls(results, names),
        "## Peak memory",
        "What Python and NumPy hold at most during a call, above what they held before it; of the"
        " memory of compiled code, PyTorch and JAX they know nothing.",
        table_of_memory(results),
        "## Packages",
        table_of_costs(packages),
        "## What takes no part, and why",
        bulleted(
            [
                *refusals(results),
                *(f"{tool.name}: not installed; pip install {tool.package}" for tool in missing),
            ]
        ),
    ]
    text = "\n\n".join(parts) + "\n"
    print("\n" + text)
    Path(f"{prefix}.md").write_text(text)
    Path(f"{prefix}.json").write_text(
        json.dumps(
            {
                "date": str(date.today()),
                "python": sys.version,
                "machine": machine(),
                "clock": how,
                "packages": packages,
                "programs": [
                    {
                        "title": r.program.title,
                        "seconds": r.seconds,
                        "first_call": r.first,
                        "peak_bytes": r.memory,
                        "refused": r.refused,
                    }
                    for r in results
                ],
                "missing": [tool.package for tool in missing],
            },
            indent=1,
        )
    )
    print(f"written: {prefix}.md, {prefix}.json")
    if drawn:
        draw(Path(f"{prefix}.svg"), results, names)
        print(f"written: {prefix}.svg")
    else:
        print("no chart: matplotlib is not installed; pip install matplotlib")


def draw(path: Path, results: list[Result], names: list[str]) -> None:
    """A row for each program, with a mark for each tool at what it takes in multiples of the time by hand."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "s2sad", "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.27 * len(results)), layout="constrained")
    axes.axvline(1.0, color="black", linewidth=1)
    for name, mark in zip((name for name in names if name != BASE), "os^Dv<>P", strict=False):
        points = [(value, k) for k, r in enumerate(results) if (value := middle(r, name)) is not None]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                mark,
                markersize=5,
                label=name,
                alpha=0.9 if name.startswith("s2sad") else 0.6,
            )
    axes.set_xscale("log")
    axes.set_yticks(range(len(results)), [r.program.title for r in results])
    axes.invert_yaxis()
    axes.set_xlabel("time of the gradient, in multiples of the one by hand in NumPy (left is faster)")
    axes.grid(axis="both", alpha=0.3)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.08), ncols=4, frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
