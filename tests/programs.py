"""Random programs as source text, for comparing derivatives with finite differences.

`programs()` draws a `Case`: the text of a module whose function `program` is smooth apart from its branches,
arguments, and the numbers of those to differentiate. `build` makes a function of text such that its source
can be read back; `decisions` lists what the comparisons of a run were, by which a test tells whether finite
differences stay on one path.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import linecache
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.program_writer import Writer

__all__ = ["Case", "build", "decisions", "programs"]

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


def build(text: str, **names: Any) -> Callable[..., Any]:
    """The last function that the text defines; the names given are globals of it, beside np and math."""
    filename = f"<program {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return _execute(compile(text, filename, "exec"), ast.parse(text), names)


def build_hostile(text: str, **names: Any) -> Callable[..., Any]:
    """`build`, in a module that has a number under each name that generated code could take for its own."""
    return build(text, **{**hostile_names(ast.parse(text)), **names})


POISON = 123.0
GENERATED = [
    "out", "dout", "value", "aux", "trace", "trips", "heap", "k", "n", "index", "item", "items", "key",
    "args", "kwargs", "place", "position", "stop", "done", "skip", "failed", "found", "matched",
    "context_1", "like", "add", "unbroadcast", "zeros_like", "unit_cotangent", "np_1", "math_1", "pull",
    "bprop", "function", "x", "y", "a", "b", "v", "w", "axis", "keepdims", "shape", "dtype", "indices",
    "values", "condition", "where", "initial", "start", "size", "order", "mode", "abs", "all", "any",
    "bool", "dict", "enumerate", "float", "getattr", "int", "isinstance", "iter", "len", "list", "map",
    "max", "min", "next", "print", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str",
    "sum", "tuple", "type", "zip",
]  # fmt: skip


def hostile_names(tree: ast.Module) -> dict[str, float]:
    """Globals that have the names of generated variables and helpers, of the parameters of rules, and of
    builtins, as far as the text does not read these from around it.
    """
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    variables = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    variables |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    functions = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    made = {*GENERATED, *variables}
    made |= {f"{d}{v}{k}" for v in {*variables, "out"} for d in ("", "d") for k in ("", "_1", "_2", "_3")}
    builtin = {n for n in vars(builtins) if n in {n.id for n in names}}
    made |= {f"{f}_{form}" for f in functions for form in ("grad", "fprop", "bprop", "bprop_1", "jvp")}
    return dict.fromkeys(made - ({n.id for n in names} - variables) - builtin, POISON)


def _execute(code: Any, tree: ast.Module, names: dict[str, Any]) -> Callable[..., Any]:
    namespace = {"__name__": "random_program", "np": np, "math": math, **names}
    exec(code, namespace)
    last = [s.name for s in tree.body if isinstance(s, ast.FunctionDef)][-1]
    function: Callable[..., Any] = namespace[last]
    return function


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
    _execute(code, tree, {"observe": observe})(*args)
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
