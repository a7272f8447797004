"""The methods, properties and operators of an object's class that an expression calls.

Only objects of a known class are bound (`primitives.member`), and only members that the class defines in
Python.
"""

from __future__ import annotations

import operator
from types import BuiltinFunctionType
from typing import Any

import gast

from ..trees.nodes import attribute, call, is_atom, load, located
from ..trees.program import MISSING
from .primitive_table import KindedProgram

__all__ = [
    "BINARY",
    "LOOKING",
    "MethodCall",
    "applied_operator",
    "called_method",
    "in_place_call",
    "method_names",
]

MethodCall = tuple[Any, Any]  # the function, and the call of it with the object as an argument

BINARY = {
    gast.Add: "add",
    gast.Sub: "sub",
    gast.Mult: "mul",
    gast.Div: "truediv",
    gast.FloorDiv: "floordiv",
    gast.Mod: "mod",
    gast.Pow: "pow",
    gast.MatMult: "matmul",
    gast.BitAnd: "and",
    gast.BitOr: "or",
    gast.BitXor: "xor",
    gast.LShift: "lshift",
    gast.RShift: "rshift",
}
FUNCTIONS = {  # that apply an operator
    getattr(operator, f"{name}_" if name in ("and", "or") else name): op for op, name in BINARY.items()
}
UNARY = {gast.USub: "__neg__", gast.UAdd: "__pos__", gast.Invert: "__invert__"}
COMPARED = {
    gast.Eq: ("__eq__", "__eq__"),
    gast.NotEq: ("__ne__", "__ne__"),
    gast.Lt: ("__lt__", "__gt__"),
    gast.LtE: ("__le__", "__ge__"),
    gast.Gt: ("__gt__", "__lt__"),
    gast.GtE: ("__ge__", "__le__"),
}
CALLED: dict[Any, str] = {abs: "__abs__", len: "__len__", float: "__float__", operator.abs: "__abs__"}


def called_method(value: Any, known: KindedProgram) -> MethodCall | None:
    """The function that an expression calls on an object of a known class, or None for all others."""
    found = _called_method(value, known)
    return None if found is not None and known.program.leaves(found[0]) else found


def _called_method(value: Any, known: KindedProgram) -> MethodCall | None:
    primitives, kind = known.primitives, known.kind

    def method(owner: Any, name: str) -> Any:
        member = primitives.member(kind(owner), name)
        return member.value if member is not None and member.role == "method" else None

    def calls(function: Any, *args: Any) -> MethodCall | None:
        """The call, unless the function may return `NotImplemented`."""
        if function is None or primitives.may_decline(function, [*map(kind, args)]):
            return None
        return function, located(call(function.__name__, *args), value)

    match value:
        case gast.Call(args=[left, right]) if (op := applied_operator(value, known)) is not None:
            name = BINARY[op]
            pair = f"__{name}__", f"__r{name}__"
        case gast.Call():
            return _called(value, known)
        case gast.Attribute(value=base) if known.program.resolve(value) is MISSING:
            member = primitives.member(kind(base), value.attr)
            return calls(member.value, base) if member is not None and member.role == "property" else None
        case gast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            return calls(method(operand, UNARY[type(op)]), operand)
        case gast.Subscript(value=base, slice=index) if is_atom(index):
            return calls(method(base, "__getitem__"), base, index)
        case gast.BinOp(left=left, op=op, right=right):
            name = BINARY[type(op)]
            pair = f"__{name}__", f"__r{name}__"
        case gast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARED:
            pair = COMPARED[type(op)]
        case _:
            return None
    if primitives.prefers_right(kind(left), kind(right), pair):
        return calls(method(right, pair[1]), right, left)
    return calls(method(left, pair[0]), left, right)


def applied_operator(value: Any, known: KindedProgram) -> type | None:
    """The operator that a call of a function, such as `operator.add`, applies; None for other calls."""
    if value.keywords or any(isinstance(a, gast.Starred) for a in value.args):
        return None
    function = known.program.resolve(value.func)
    if function is MISSING and is_atom(value.func):
        function = known.primitives.function_of(known.kind(value.func))
    return FUNCTIONS.get(function) if type(function) is BuiltinFunctionType else None


def in_place_call(s: Any, known: KindedProgram) -> tuple[Any, bool]:
    """The call of the in-place method that `x += v` makes, None where x's class has no such method, and
    whether that may return `NotImplemented`.
    """
    x, name = load(s.target.id), f"__i{BINARY[type(s.op)]}__"
    member = known.primitives.member(known.kind(x), name)
    if member is None or member.role != "method":
        return None, False
    kinds = [known.kind(x), known.kind(s.value)]
    return located(call(attribute(x, name), s.value), s), known.primitives.may_decline(member.value, kinds)


# The expressions that look up members of their operands' classes.
LOOKING = (gast.Attribute, gast.UnaryOp, gast.Subscript, gast.BinOp, gast.Compare, gast.Call)


def method_names(node: Any) -> list[tuple[Any, list[str]]]:
    """The operands whose classes an expression may look members up in, each with the members' names."""
    match node:
        case gast.Attribute(value=gast.Name() as base, attr=name):
            return [(base, [name])]
        case gast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            return [(operand, [UNARY[type(op)]])]
        case gast.Subscript(value=base):
            return [(base, ["__getitem__"])]
        case gast.BinOp(left=left, op=op, right=right):
            name = BINARY[type(op)]
            return [(side, [f"__{name}__", f"__r{name}__"]) for side in (left, right)]
        case gast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARED:
            return [(side, list(COMPARED[type(op)])) for side in (left, right)]
        case gast.Call(func=func, args=args):
            called = [(func, ["__call__"])] if is_atom(func) else []
            return called + [(a, sorted(set(CALLED.values()))) for a in args[:1] if not args[1:]]
    return []


def _called(value: Any, known: KindedProgram) -> MethodCall | None:
    """The method, static method or `__call__` of a call."""
    primitives, kind = known.primitives, known.kind
    function = known.program.resolve(value.func)
    if is_atom(value.func):
        called = primitives.member(kind(value.func), "__call__")
        if called is not None and called.role == "method":
            return called.value, _with_first(value, value.func)
        name = CALLED.get(function) if callable(function) and _is_hashable(function) else None
        if name is not None and len(value.args) == 1 and not value.keywords:
            member = primitives.member(kind(value.args[0]), name)
            if member is not None and member.role == "method":
                return member.value, value
        return None
    member = None if function is not MISSING else primitives.member(kind(value.func.value), value.func.attr)
    if member is None:
        return None
    if member.role == "method":
        return member.value, _with_first(value, value.func.value)
    return (member.value, value) if member.role != "property" and member.value is not None else None


def _is_hashable(function: Any) -> bool:
    try:
        hash(function)
    except TypeError:
        return False
    return True


def _with_first(node: Any, first: Any) -> Any:
    """The call with one more argument, before the others."""
    return located(gast.Call(func=node.func, args=[first, *node.args], keywords=node.keywords), node)
