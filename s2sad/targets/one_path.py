"""Code with one path: it takes lengths that meet to be equal, and axes of arguments to have the length one
where they had it at the call that it was compiled for. Before anything depends on that it is checked, by
`raise LengthsDiffer`; the call is then run again, by code that broadcasts as NumPy does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..analysis.writes import changed
from ..primitives.record import is_pure
from ..runtime.adjoints import add_at
from .array_types import Array, Number, Parts, Type
from .interpreted_functions import CHANGING, interpreted, is_expression
from .loops.find_bindings import OUTSIDE, Bindings

__all__ = ["LengthsDiffer", "is_repeatable", "repeated", "with_guards", "without_ones"]

ITERATORS = frozenset((zip, enumerate, reversed))


class LengthsDiffer(Exception):
    """Raised by code with one path for arguments that it is not right for."""


def repeated(run: Callable[..., Any], general: Callable[[tuple[Any, ...]], Any]) -> Callable[..., Any]:
    """A function that runs code with one path, and from the first arguments on that it is not right for the
    general code.
    """

    def run_again(*args: Any) -> Any:
        nonlocal run
        try:
            return run(*args)
        except LengthsDiffer:
            run = general(args)
        return run(*args)

    return run_again


def without_ones(found: Type) -> Type:
    """The type of arrays of all lengths."""
    if isinstance(found, Parts):
        return Parts(tuple(map(without_ones, found.parts)))
    return Array(found.rank, found.kind) if isinstance(found, Array) else found


def with_guards(function: ast.FunctionDef, given: Mapping[str, Type], error: str) -> bool:
    """Adds checks of the lengths that are one in these types; whether there are any."""
    tests = [test for name, found in given.items() for test in tests_of(name, found)]
    if tests:
        guard = ast.parse(f"if {' or '.join(tests)}:\n    raise {error}").body[0]
        for n in ast.walk(guard):
            ast.copy_location(n, function.body[0])
        function.body.insert(0, guard)
    return bool(tests)


def tests_of(path: str, found: Type) -> Iterator[str]:
    if isinstance(found, Parts):
        for k, part in enumerate(found.parts):
            yield from tests_of(f"{path}[{k}]", part)
    elif isinstance(found, Array):
        yield from (f"{path}.shape[{k}] != 1" for k in sorted(found.ones))


# ---------------------------------------------------------------- what can be run again


def is_repeatable(code: Bindings, helpers: frozenset[Any]) -> bool:
    """Whether a run of the function changes nothing but what it makes itself; of `helpers` nothing but
    `add_at` changes its arguments.
    """
    return not any(changes(n, code, helpers) for n in ast.walk(code.function))


def changes(node: ast.AST, code: Bindings, helpers: frozenset[Any]) -> bool:
    match node:
        case ast.Subscript(ctx=ast.Store(), value=base):
            return is_outside(base, code)
        case ast.Attribute(ctx=ast.Store()):
            return True
        case ast.AugAssign(target=ast.Name() as target):
            return not isinstance(code.types.of(target), Number) and is_outside(target, code)
        case ast.Call(func=func, args=args, keywords=keywords):
            function = code.meaning(func)
            if function is None:
                return not isinstance(func, ast.Attribute) or func.attr in CHANGING
            if function is interpreted:
                return not is_expression(ast.literal_eval(args[0]))
            if function is add_at:
                return is_outside(args[0], code)
            named = {k.arg or "": k.value for k in keywords}
            is_known = is_pure(function) or function in ITERATORS or function in helpers
            return not is_known or bool(changed(function, len(args), named))
    return False


def is_outside(node: ast.expr, code: Bindings) -> bool:
    """Whether an expression may mean memory of arguments."""
    return not isinstance(node, ast.Name) or OUTSIDE in code.memory.get(node.id, {OUTSIDE})
