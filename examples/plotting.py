"""Runs an example, and draws what it finds into a file: `python examples/mesh.py --plot mesh.png`.

Matplotlib is imported for that only.
"""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

__all__ = ["Figure", "run"]

Figure: TypeAlias = Any  # matplotlib.figure.Figure, where it is imported
Result = TypeVar("Result")


def run(main: Callable[[], Result], plot: Callable[[Figure, Result], None]) -> None:
    """Calls `main`; with `--plot FILE` on the command line, draws its result into a figure and saves it."""
    parser = ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="the picture to write, such as found.png or found.pdf")
    file = parser.parse_args().plot
    result = main()
    if file is not None:
        from matplotlib import figure as matplotlib_figure

        figure = matplotlib_figure.Figure(layout="constrained")
        plot(figure, result)
        figure.savefig(file)
