"""The texts of elements of expressions, at the indices of loops."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..array_types import CHOICES, Array, Number
from ..special_functions import is_special
from .find_accesses import Accesses, Levels
from .read_expressions import FILLED, OPERATORS
from .steps import Access, Group, Place

__all__ = ["Elements", "is_vectorized_special"]

SIGNS: dict[type[ast.AST], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "not "}
OF_ANGLES = frozenset(("sin", "cos", "tan"))
VECTORIZED = OF_ANGLES | {"arctan", "cbrt", "erf", "exp", "expm1", "log", "log1p", "tanh"}
EXACT_POWERS = (-1, 0.5, 1)  # as one operation


def is_vectorized_special(function: Any) -> bool:
    """Whether a function of `scipy.special` has code without branches."""
    return is_special(function) and function.__name__ == "erf"


class Elements:
    """Writes elements in a function of loops."""

    is_vector = True  # whether the loop around has no other loops in it, so that LLVM may vectorize it
    angles: list[str] | None = None  # the angles that texts have, where these are known to be not too large

    def __init__(self, lowering: Accesses, group: Group, taken: set[str]) -> None:
        self.lowering, self.group = lowering, group
        self.mark = "_"  # what the names end in that the loop has for itself
        while any(n.endswith(self.mark) for n in taken):
            self.mark += "_"
        self.names: dict[str, str] = {}  # what loops call, by their names in the text
        self.numpy = self.name_for("numpy")

    def name_for(self, of: str) -> str:
        """The name in the text of something that loops call."""
        name = f"{of}{self.mark}"
        self.names[name] = of
        return name

    def own(self, what: str, of: int | str) -> str:
        """A name of the loop's own."""
        return f"{what}{'_' if isinstance(of, str) else ''}{of}{self.mark}"

    def index(self, place: Place) -> str:
        """The text of an index, with the variable of its loop."""
        return place.form if place.level is None else place.form.replace("{}", self.own("i", place.level))

    def text(self, node: ast.expr, levels: Levels, element: Callable[[Access], str], group: Group) -> str:
        """The text of the element of an expression, whose last axes are those of the loops of these levels;
        `element` gives that of an element of an array.
        """
        lowering = self.lowering

        def of(n: ast.expr, own: Levels) -> str:
            if not lowering.is_array(n):
                return f"({ast.unparse(n)})" if isinstance(n, ast.UnaryOp) else ast.unparse(n)
            match n:
                case ast.Name() | ast.Subscript() | ast.Attribute():
                    return element(lowering.access(n, own, group))
                case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=2)):
                    return f"{self.name_for('square')}({of(left, own)})"
                case ast.BinOp(left=left, op=ast.Pow(), right=right) if self.is_power_of_floats(n):
                    return f"{self.name_for('power')}({of(left, own)}, {of(right, own)})"
                case ast.BinOp(left=left, op=op, right=right):
                    return f"({of(left, own)} {OPERATORS[type(op)]} {of(right, own)})"
                case ast.UnaryOp(op=op, operand=operand):
                    return f"({SIGNS[type(op)]}{of(operand, own)})"
                case ast.Compare(left=left, ops=[op], comparators=[right]):
                    return f"({of(left, own)} {OPERATORS[type(op)]} {of(right, own)})"
                case ast.Call(func=func, args=args):
                    return self._call(n, func, lambda own_: [of(a, own_) for a in args], own, of)
            raise AssertionError(ast.dump(n))

        return of(node, levels)

    def is_power_of_floats(self, node: ast.BinOp) -> bool:
        """Whether a power is of real numbers, to no integer, and is not computed by one operation."""
        found, exponent = self.lowering.types.of(node), self.lowering.types.of(node.right)
        is_exact = isinstance(node.right, ast.Constant) and node.right.value in EXACT_POWERS
        are_floats = all(isinstance(t, (Array, Number)) and t.kind == "f" for t in (found, exponent))
        return self.is_vector and are_floats and not is_exact

    def _call(
        self,
        node: ast.Call,
        func: ast.expr,
        given: Callable[[Levels], list[str]],
        own: Levels,
        of: Callable[[ast.expr, Levels], str],
    ) -> str:
        found, meaning = self.lowering.types.of(node), self.lowering.meaning(func)
        name = "erf" if is_vectorized_special(meaning) else self.lowering.numpy_name(func)
        if name in FILLED:
            return FILLED[name]
        if name == "outer":
            return f"({of(node.args[0], own[-2:-1])} * {of(node.args[1], own[-1:])})"
        args = given(own)
        if name == "where":
            return f"({args[1]} if {args[0]} else {args[2]})"
        if name in CHOICES:
            exp = self.name_for("exp") if self.is_vector else f"{self.numpy}.exp"
            return f"({CHOICES[name].format(*args).replace('numpy.exp', exp)})"
        is_real = isinstance(found, Array) and found.kind == "f" and self.is_vector
        if name in OF_ANGLES and is_real and self.angles is not None:
            self.angles += args
        if name in VECTORIZED and is_real and (name not in OF_ANGLES or self.angles is not None):
            return f"{self.name_for(name)}({', '.join(args)})"
        function = f"{self.numpy}.{name}" if name not in ("", "erf") else ast.unparse(func)
        return f"{function}({', '.join(args)})"
