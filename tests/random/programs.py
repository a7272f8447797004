"""Random programs as source text, for comparing derivatives with finite differences.

`programs()` draws a `Case`: the text of a module whose function `program` is smooth apart from its branches,
arguments, and the numbers of those to differentiate. `decisions` lists what the comparisons of a run were, by
which a test tells whether finite differences stay on one path.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.random.writer import Writer
from tests.support.build import execute

__all__ = ["Case", "decisions", "programs"]

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


@dataclass(frozen=True)
class Case:
    """A random program with arguments for it."""

    text: str
    args: tuple[Any, ...]
    wrt: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.text}\n# args = {self.args!r}, wrt = {self.wrt!r}\n"


class _Observed(ast.NodeTransformer):
    """Makes every comparison a call of `observe` with the operators and the operands (free of effects)."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        names = [COMPARISONS[type(op)].__name__ for op in node.ops]
        operators = ast.Tuple([ast.Constant(name) for name in names], ast.Load())
        operands = ast.Tuple([node.left, *node.comparators], ast.Load())
        return ast.copy_location(ast.Call(ast.Name("observe", ast.Load()), [operators, operands], []), node)


def decisions(text: str, args: tuple[Any, ...], margin: float) -> list[bytes] | None:
    """The results of all comparisons made, in order; None when one of floats is closer than the margin."""
    made: list[bytes] = []
    near = False

    def observe(operators: tuple[str, ...], operands: tuple[Any, ...]) -> Any:
        nonlocal near
        result: Any = True
        for name, left, right in zip(operators, operands[:-1], operands[1:], strict=True):
            result = result & getattr(operator, name)(left, right)
            if isinstance(left, (float, np.ndarray)) or isinstance(right, (float, np.ndarray)):
                near = near or bool(np.any(np.abs(left - right) < margin))
        made.append(np.asarray(result).tobytes())
        return result

    tree = ast.parse(text)
    code = compile(ast.fix_missing_locations(_Observed().visit(ast.parse(text))), "<observed>", "exec")
    execute(code, tree, {"observe": observe})(*args)
    return None if near else made


@st.composite
def programs(draw: st.DrawFn) -> Case:
    """Programs of two floats, a vector, a matrix and a count: branches, loops, exits, calls, closures,
    comprehensions, containers.
    """
    writer = Writer(draw)
    text = writer.module()
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    args = (
        float(rng.uniform(-1.2, 1.2)),
        float(rng.uniform(-1.2, 1.2)),
        rng.uniform(-1.2, 1.2, 3),
        rng.uniform(-1.2, 1.2, (3, 3)),
        draw(st.integers(0, 3)),
    )
    wrt = draw(st.sampled_from([(0, 1, 2, 3), (0, 1, 2, 3), (0, 1), (2,), (1, 3), (0,)]))
    return Case(text, args, wrt)
