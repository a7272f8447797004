"""Checks of operations that compilers do otherwise than Python for some values.

`y = x[m]` of a mask becomes `check_mask(x, m); y = x[m]`, `2**n` of integers `integer_power(2, n)`, and so do
products and shifts of integers, which may be larger than 64 bits, and `int(x)` of a float.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .array_types import FLOAT, Array, Number, Type, Types
from .split_variables import split_variables

__all__ = ["CHECKED", "check_mask", "with_checks"]


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


def integer_product(x: Any, n: Any) -> Any:
    """A product of integers; raises NotImplementedError for one that is no integer of 64 bits."""
    if abs(float(x) * float(n)) >= 2.0**63:
        raise NotImplementedError("an integer is larger than 64 bits")
    return x * n


def integer_shift(x: Any, n: Any) -> Any:
    """`x << n`; raises NotImplementedError for one that is no integer of 64 bits."""
    if n < 0:
        raise ValueError("negative shift count")
    if x != 0 and (n >= 63 or abs(float(x)) * 2.0**n >= 2.0**63):
        raise NotImplementedError("an integer is larger than 64 bits")
    return x << min(n, 62)


def integer_half(x: Any, n: Any) -> Any:
    """`x >> n`, also for an n that is larger than 63."""
    if n < 0:
        raise ValueError("negative shift count")
    return x >> min(n, 63)


def integer_of(x: Any) -> Any:
    """`int(x)` of a float; raises Python's errors, and NotImplementedError for no integer of 64 bits."""
    if x != x:
        raise ValueError("cannot convert float NaN to integer")
    if abs(x) == np.inf:
        raise OverflowError("cannot convert float infinity to integer")
    if abs(x) >= 2.0**63:
        raise NotImplementedError("an integer is larger than 64 bits")
    return int(x)


OPERATORS: dict[type[ast.operator], Any] = {
    ast.Pow: integer_power, ast.Mult: integer_product, ast.LShift: integer_shift, ast.RShift: integer_half,
}  # fmt: skip
CHECKED = (integer_power, integer_product, integer_shift, integer_half, integer_of)


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
    if not any(isinstance(n, ast.Subscript) or is_checked(n) for n in nodes):
        return {}
    split_variables(function, fresh)
    checker = _Checker(Types(function, dict(given), meaning), fresh)
    function.body = checker.block(function.body)
    ast.fix_missing_locations(function)
    return {name: made for made, name in checker.names.items()}


def is_checked(n: ast.AST) -> bool:
    """Whether an expression or update may need a check, by its form."""
    is_int = isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and len(n.args) == 1
    return is_int or (isinstance(n, (ast.BinOp, ast.AugAssign)) and type(n.op) in OPERATORS)


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

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)  # an index is small
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.target, ast.Name) and type(node.op) in OPERATORS:
            value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
            new = self.visit(ast.copy_location(value, node))
            if new is not value:
                return ast.copy_location(ast.Assign([node.target], new), node)
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        operands = [self.types.of(node.left), self.types.of(node.right)]
        self.generic_visit(node)
        are_integers = all(isinstance(t, Number) and t.kind in "bi" for t in operands)
        if isinstance(node.op, ast.Pow):
            is_small = isinstance(node.right, ast.Constant)  # which is not negative
        else:
            is_small = isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)
        if type(node.op) not in OPERATORS or not are_integers or is_small:
            return node
        return self.call(OPERATORS[type(node.op)], [node.left, node.right], node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_int = self.types.meaning(node.func) is int and len(node.args) == 1 and not node.keywords
        of_float = is_int and self.types.of(node.args[0]) == FLOAT
        self.generic_visit(node)
        return self.call(integer_of, node.args, node) if of_float else node

    def call(self, function: Any, args: list[ast.expr], at: ast.AST) -> ast.expr:
        name = self.names[function] = self.names.get(function) or self.fresh(function.__name__)
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), args, []), at)
