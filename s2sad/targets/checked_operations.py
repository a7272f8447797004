"""Checks of operations that compilers do otherwise than Python for some values.

`y = x[m]` of a mask becomes `check_mask(x, m); y = x[m]`, and `2**n` of integers `integer_power(2, n)`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .array_types import Array, Number, Type, Types
from .split_variables import split_variables

__all__ = ["check_mask", "integer_power", "with_checks"]


def check_mask(x: Any, mask: Any) -> None:
    """Raises IndexError for a mask that has not the shape of the array, in its axes."""
    if x.shape[: mask.ndim] != mask.shape:
        raise IndexError("boolean index did not match indexed array: its shape is another one")


def integer_power(x: Any, n: Any) -> Any:
    """A power of integers; raises NotImplementedError for one that is no integer of 64 bits."""
    if n < 0:
        raise NotImplementedError("an integer to a negative power is no integer")
    if abs(float(x)) ** n >= 2.0**63:
        raise NotImplementedError("an integer is larger than 64 bits")
    return x**n


def with_checks(
    function: ast.FunctionDef,
    given: Mapping[str, Type],
    meaning: Callable[[ast.expr], Any],
    fresh: Callable[[str], str],
) -> dict[str, Any]:
    """Changes the function in place, given the types of its parameters; returns the functions that it names
    then.
    """
    nodes = [*ast.walk(function)]
    if not any(isinstance(n, ast.Subscript) or is_power(n) for n in nodes):
        return {}
    split_variables(function, fresh)
    checker = _Checker(Types(function, dict(given), meaning), fresh)
    function.body = checker.block(function.body)
    ast.fix_missing_locations(function)
    return {name: made for made, name in checker.names.items()}


def is_power(n: ast.AST) -> bool:
    return isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)


class _Checker(ast.NodeTransformer):
    def __init__(self, types: Types, fresh: Callable[[str], str]) -> None:
        self.types, self.fresh = types, fresh
        self.names: dict[Any, str] = {}

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for s in statements:
            inner = {}
            for name, body in ast.iter_fields(s):
                if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                    inner[name] = self.block(body)
                    setattr(s, name, [])
            for x, mask in [] if isinstance(s, ast.While) else [*self.masks(s)]:
                check = ast.Expr(self.call(check_mask, [x, mask], s))
                found.append(ast.copy_location(check, s))
            new = self.visit(s)
            for name, body in inner.items():
                setattr(new, name, body)
            found.append(new)
        return found

    def masks(self, s: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
        """The arrays in a statement that masks are applied to, and these."""
        for n in ast.walk(s):
            match n:
                case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=mask)):
                    found = self.types.names.get(mask)
                    is_array = isinstance(self.types.names.get(name), Array)
                    if is_array and isinstance(found, Array) and found.kind == "b":
                        yield ast.Name(name, ast.Load()), ast.Name(mask, ast.Load())

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        operands = [self.types.of(node.left), self.types.of(node.right)]
        self.generic_visit(node)
        are_integers = all(isinstance(t, Number) and t.kind in "bi" for t in operands)
        is_literal = isinstance(node.right, ast.Constant)  # of a small one, which is not negative
        if not (is_power(node) and are_integers) or is_literal:
            return node
        return self.call(integer_power, [node.left, node.right], node)

    def call(self, function: Any, args: list[ast.expr], at: ast.AST) -> ast.expr:
        name = self.names[function] = self.names.get(function) or self.fresh(function.__name__)
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), args, []), at)
