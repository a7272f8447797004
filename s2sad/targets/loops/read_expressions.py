"""What is asked of the expressions of a generated function: what they compute, and of which arrays."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..array_types import CHOICES, ELEMENTWISE, REDUCTIONS, Array, Number, Types, axes_of, is_choice
from ..special_functions import is_special

FILLED = {"ones_like": "1.0"}  # what makes an array of one number like another one
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
Meaning = Callable[[ast.expr], Any]


@dataclass(frozen=True)
class Reduction:
    """What reduces the elements of `value` over some axes, to an array or a number; to one like `like`, if
    that is given. `operands` are the nodes of what it is computed from.
    """

    name: str
    value: ast.expr
    axes: tuple[int, ...]
    keeps: bool = False
    like: ast.expr | None = None
    of_product: bool = False  # of two arrays, whose lengths must agree: none stands still
    core: int | None = None  # the axis on which lengths must agree


class Reader:
    """What all steps ask of expressions."""

    def __init__(self, types: Types, meaning: Meaning, fresh: Callable[[str], str]) -> None:
        self.types, self.meaning, self.fresh = types, meaning, fresh

    def is_array(self, node: ast.expr) -> bool:
        found = self.types.of(node)
        return isinstance(found, Array) and found.rank > 0

    def is_real(self, *nodes: ast.expr) -> bool:
        """Whether they are arrays of floats."""
        return all(isinstance(t := self.types.of(n), Array) and t.kind == "f" for n in nodes)

    def rank_of(self, node: ast.expr) -> int:
        found = self.types.of(node)
        return found.rank if isinstance(found, Array) else 0

    def is_number(self, node: ast.expr) -> bool:
        return isinstance(self.types.of(node), Number)

    def is_index(self, node: ast.expr) -> bool:
        """Whether it is an integer that names and literals tell."""
        match node:
            case ast.Name() | ast.Constant():
                return self.types.of(node) == Number("i")
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
                return self.is_index(left) and self.is_index(right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.is_index(operand)
        return False

    def is_region(self, node: ast.expr) -> bool:
        """Whether it is a part of an array that a name means: slices and integers select it."""
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and self.is_array(node)):
            return False
        return self.is_array(node.value) and self.selects_region(node.slice)

    def selects_region(self, index: ast.expr) -> bool:
        """Whether an index is made of slices, new axes and integers."""
        for i in indices_of(index):
            is_plain = isinstance(i, ast.Constant) and i.value in (None, ...)
            if not (is_plain or (self.is_plain_slice(i) if isinstance(i, ast.Slice) else self.is_index(i))):
                return False
        return True

    def is_plain_slice(self, node: ast.Slice) -> bool:
        """Whether a slice has the step 1, or turns the axis around."""
        bounds = [b for b in (node.lower, node.upper) if b is not None]
        step = step_of(node)
        return (step == 1 and all(map(self.is_index, bounds))) or (step == -1 and not bounds)

    def numpy_name(self, node: ast.expr) -> str:
        """The name of NumPy's function, or of a helper that chooses elements, that an expression means."""
        function = self.meaning(node)
        name = getattr(function, "__name__", "")
        is_known = function is not None and (getattr(np, name, None) is function or is_choice(function))
        return name if is_known else ""

    def helper_name(self, node: ast.expr) -> str:
        """The name of the helper of s2sad's that an expression means."""
        function = self.meaning(node)
        module = getattr(function, "__module__", "") or ""
        return getattr(function, "__name__", "") if module.startswith("s2sad") else ""

    def elementwise_call(self, node: ast.Call) -> bool:
        name = "abs" if self.meaning(node.func) is abs else self.numpy_name(node.func)
        is_other = name in CHOICES or (name in ("where", "outer") and len(node.args) >= 2)
        is_filled = name in FILLED and len(node.args) == 1 and self.is_real(node.args[0])
        is_other = is_other or is_filled or is_special(self.meaning(node.func))
        return (name in ELEMENTWISE or is_other) and not node.keywords

    def is_lowered(self, node: ast.expr) -> bool:
        """Whether an operation means the same for the elements as for the arrays."""
        found = self.types.of(node)
        if isinstance(node, ast.UnaryOp):
            is_flag = isinstance(found, Array) and found.kind == "b"
            return isinstance(node.op, ast.Invert) if is_flag else isinstance(node.op, (ast.USub, ast.UAdd))
        if isinstance(node, ast.Compare):
            return len(node.ops) == 1 and type(node.ops[0]) in OPERATORS
        if not isinstance(node, ast.BinOp):
            return False
        if isinstance(node.op, ast.Pow):
            return isinstance(found, Array) and found.kind in "fc"
        return type(node.op) in OPERATORS and isinstance(found, Array)

    # ------------------------------------------------------------ reductions

    def reduction(self, node: ast.expr) -> Reduction | None:
        """What an expression reduces, if it does."""
        match node:
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self._product(left, right)
            case ast.Call(func=func, args=[left, right], keywords=[]) if (
                self.numpy_name(func) in ("dot", "matmul")
            ):
                return self._product(left, right)
            case ast.Call(func=func, args=[left, right], keywords=[]) if (
                self.numpy_name(func) == "vecdot" and self.is_real(left, right)
            ):
                return self._row_products(left, right)
            case ast.Call(func=func, args=[value, like], keywords=[]) if (
                self.helper_name(func) == "unbroadcast"
            ):
                return self._fitted(value, like)
            case ast.Call(func=func, args=[a, b, like], keywords=[]) if (
                self.helper_name(func) == "contracted" and self.is_real(a, b, like)
            ):
                return self._fitted(ast.copy_location(ast.BinOp(a, ast.Mult(), b), node), like)
            case ast.Call(args=[value, *_]) if self.is_array(value):
                return self._of_numpy(node)
        return None

    def _of_numpy(self, node: ast.Call) -> Reduction | None:
        name, operand = self.numpy_name(node.func), self.types.of(node.args[0])
        if name not in REDUCTIONS or type(self.types.of(node)) not in (Array, Number):
            return None
        assert isinstance(operand, Array)
        options = {k.arg: k.value for k in node.keywords}
        axes = axes_of(node.args[1] if len(node.args) == 2 else options.get("axis"), operand.rank)
        keeps = options.get("keepdims")
        if axes is None or operand.kind not in "fc" or (operand.kind == "c" and name not in ("sum", "mean")):
            return None
        name = name.removeprefix("a") if name in ("amax", "amin") else name
        return Reduction(name, node.args[0], axes, isinstance(keeps, ast.Constant) and bool(keeps.value))

    def _product(self, left: ast.expr, right: ast.expr) -> Reduction | None:
        """The sum that a product of a vector is: `m @ v` is `np.sum(m * v, axis=1)`."""
        a, b = self.types.of(left), self.types.of(right)
        if not (isinstance(a, Array) and isinstance(b, Array) and a.kind == b.kind == "f"):
            return None
        ranks = a.rank, b.rank
        if ranks not in ((1, 1), (2, 1), (1, 2)) or (a.rank - 1 in a.ones) != (0 in b.ones):
            return None
        matrix, vector, axis = (left, right, 1) if ranks[0] == 2 else (right, left, 0)
        if isinstance(matrix, ast.Attribute) and matrix.attr == "T":
            matrix, axis = matrix.value, 1 - axis
        if ranks == (1, 1):
            axis = 0
        elif axis == 0:
            vector = with_new_axis(vector)
        value = ast.copy_location(ast.BinOp(matrix, ast.Mult(), vector), left)
        return Reduction("sum", value, (axis,), of_product=True)

    def _row_products(self, left: ast.expr, right: ast.expr) -> Reduction | None:
        """The sum over the last axis that `np.vecdot` of real arrays is."""
        a, b = self.types.of(left), self.types.of(right)
        assert isinstance(a, Array)
        assert isinstance(b, Array)
        if (a.rank - 1 in a.ones) != (b.rank - 1 in b.ones):
            return None
        last = max(a.rank, b.rank) - 1
        value = ast.copy_location(ast.BinOp(left, ast.Mult(), right), left)
        return Reduction("sum", value, (last,), core=last)

    def _fitted(self, value: ast.expr, like: ast.expr) -> Reduction | None:
        """The sum of a cotangent over the axes that only it has."""
        ranks = self.rank_of(value), self.rank_of(like)
        is_number = self.types.of(like) == Number("f")
        if not (self.is_real(value) and (is_number or self.is_real(like)) and ranks[0] >= ranks[1]):
            return None
        lead, given, wanted = ranks[0] - ranks[1], self.types.of(value), self.types.of(like)
        axes = tuple(range(lead))
        if is_number:
            return Reduction("sum", value, axes)
        assert isinstance(given, Array)
        assert isinstance(wanted, Array)
        ones = tuple(sorted(lead + k for k in wanted.ones if lead + k not in given.ones))
        if not isinstance(like, ast.Name) or (axes and ones) or wanted.rank == 0:
            return None
        return Reduction("sum", value, axes or ones, keeps=bool(ones), like=like)


def is_computed(node: ast.expr, reader: Reader) -> bool:
    """Whether an expression computes, and does so element by element."""
    match node:
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return reader.is_lowered(node)
        case ast.Call():
            return reader.elementwise_call(node)
    return False


def with_new_axis(node: ast.expr) -> ast.expr:
    """A vector as a column: `v[..., None]`, `a[i, :j, ..., None]`."""
    base, indices = (node.value, indices_of(node.slice)) if isinstance(node, ast.Subscript) else (node, [])
    has_dots = any(isinstance(i, ast.Constant) and i.value is ... for i in indices)
    indices = [*indices, *([] if has_dots else [ast.Constant(...)]), ast.Constant(None)]
    return ast.copy_location(ast.Subscript(base, ast.Tuple(indices, ast.Load()), ast.Load()), node)


def indices_of(index: ast.expr) -> list[ast.expr]:
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]


def step_of(node: ast.Slice) -> int | None:
    return 1 if node.step is None else integer(node.step)


def integer(node: ast.expr) -> int | None:
    """The value of an integer literal."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def is_number_text(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
