"""What is asked of the expressions of a generated function: what they compute, and of which arrays."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..array_types import CHOICES, ELEMENTWISE, REDUCTIONS, Array, Number, Type, Types, axes_of, is_choice

WHOLE = ""  # the region of a whole array
TURNED = "T"  # the region of an array that is read at other indices
Meaning = Callable[[ast.expr], Any]
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip



class Reader:
    """What both steps ask of expressions."""

    def __init__(self, types: Types, meaning: Meaning, fresh: Callable[[str], str]) -> None:
        self.types, self.meaning, self.fresh = types, meaning, fresh

    def is_array(self, node: ast.expr) -> bool:
        found = self.types.of(node)
        return isinstance(found, Array) and found.rank > 0

    def rank_of(self, node: ast.expr) -> int:
        found = self.types.of(node)
        return found.rank if isinstance(found, Array) else 0

    def is_number(self, node: ast.expr) -> bool:
        return isinstance(self.types.of(node), Number)

    def numpy_name(self, node: ast.expr) -> str:
        """The name of NumPy's function, or of a helper that chooses elements, that an expression means."""
        function = self.meaning(node)
        name = getattr(function, "__name__", "")
        is_known = function is not None and (getattr(np, name, None) is function or is_choice(function))
        return name if is_known else ""

    def elementwise_call(self, node: ast.Call) -> bool:
        name = "abs" if self.meaning(node.func) is abs else self.numpy_name(node.func)
        is_other = name in CHOICES or (name in ("where", "outer") and len(node.args) >= 2)
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

    def reduction(self, node: ast.expr) -> tuple[str, tuple[int, ...], bool] | None:
        """The name, the axes and whether they are kept, of a reduction of an array."""
        if not (isinstance(node, ast.Call) and node.args and self.is_array(node.args[0])):
            return None
        name, operand = self.numpy_name(node.func), self.types.of(node.args[0])
        if name not in REDUCTIONS or self.types.of(node) == Type() or not isinstance(operand, Array):
            return None
        options = {k.arg: k.value for k in node.keywords}
        axes = axes_of(node.args[1] if len(node.args) == 2 else options.get("axis"), operand.rank)
        keeps = options.get("keepdims")
        if axes is None or operand.kind not in "fc" or (operand.kind == "c" and name not in ("sum", "mean")):
            return None
        return name.removeprefix("a") if name in ("amax", "amin") else name, axes, bool(keeps and keeps.value)  # type: ignore[attr-defined]


def is_computed(node: ast.expr, reader: Reader) -> bool:
    """Whether an expression computes, and does so element by element."""
    match node:
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return reader.is_lowered(node)
        case ast.Call():
            return reader.elementwise_call(node)
    return False


def array_reads(node: ast.expr, reader: Reader, is_turned: bool = False) -> Iterator[tuple[str, str]]:
    """The arrays that an elementwise expression reads, and at which region."""
    match node:
        case ast.Name(id=name):
            if reader.is_array(node):
                yield name, TURNED if is_turned else WHOLE
        case ast.Subscript(value=ast.Name(id=name)):
            yield name, TURNED if is_turned else ast.dump(node.slice)
        case ast.Attribute(value=base) | ast.Subscript(value=base):
            yield from array_reads(base, reader, True)
        case _:
            turns = is_turned or (isinstance(node, ast.Call) and reader.numpy_name(node.func) == "outer")
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from array_reads(child, reader, turns)


def is_slice(index: ast.expr) -> bool:
    """Whether an index selects by slices and new axes alone."""
    indices = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        isinstance(i, ast.Slice) or (isinstance(i, ast.Constant) and i.value in (None, ...)) for i in indices
    ) and all(is_plain_slice(i) for i in indices if isinstance(i, ast.Slice))


def is_plain_slice(node: ast.Slice) -> bool:
    """Whether a slice has literal bounds and the step 1, or turns the axis around."""
    if step_of(node) == -1:
        return node.lower is None and node.upper is None
    return step_of(node) == 1 and all(b is None or integer(b) is not None for b in (node.lower, node.upper))


def step_of(node: ast.Slice) -> int | None:
    return 1 if node.step is None else integer(node.step)


def integer(node: ast.expr) -> int | None:
    """The value of an integer literal."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def is_view(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and is_slice(node.slice)


def is_number_text(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
