"""The operation that a statement computes, in terms that all analyses and both modes share.

`classify` reads the right-hand side of a normal-form assignment once: which function is applied to which
atoms. Operators are the functions of Python's `operator` module; methods of arrays are the NumPy functions
that the rule table maps them to, with the array as first argument.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import gast

from ..trees.helpers import is_among, is_not_among
from ..trees.nodes import constant, is_atom
from ..trees.program import MISSING, Program
from .bind_methods import called_method
from .primitive_table import KindedProgram, Member, Primitives

__all__ = [
    "IN_PLACE_OPERATORS",
    "OPERATORS",
    "Alias",
    "Apply",
    "Build",
    "Call",
    "Field",
    "Inert",
    "Item",
    "Member",
    "Opaque",
    "Operation",
    "Pop",
    "Primitives",
    "classify",
    "index_items",
    "is_append",
    "is_pop",
    "known_method",
    "method_of_callable",
    "rule_of_one",
    "starred",
]

OPERATORS: dict[type, Any] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
    gast.Not: operator.not_,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Is: operator.is_,
    gast.IsNot: operator.is_not,
    gast.In: is_among,
    gast.NotIn: is_not_among,
}
IN_PLACE_OPERATORS: dict[type, Any] = {
    gast.Add: operator.iadd,
    gast.Sub: operator.isub,
    gast.Mult: operator.imul,
    gast.Div: operator.itruediv,
    gast.FloorDiv: operator.ifloordiv,
    gast.Mod: operator.imod,
    gast.Pow: operator.ipow,
    gast.MatMult: operator.imatmul,
    gast.BitAnd: operator.iand,
    gast.BitOr: operator.ior,
    gast.BitXor: operator.ixor,
    gast.LShift: operator.ilshift,
    gast.RShift: operator.irshift,
}


@dataclass(frozen=True)
class Alias:
    """`y = x`, and `m = x.method`, which is active if x is."""

    source: Any


@dataclass(frozen=True)
class Apply:
    """A primitive on atoms: a function with a rule, without derivative, or declared to have no rule. `node`
    is the expression as written.
    """

    function: Any
    args: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    node: Any

    def operands(self) -> Iterator[Any]:
        yield from self.args
        for _, value in self.keywords:
            yield value


@dataclass(frozen=True)
class Call:
    """A call of a function that is differentiated itself; `function` is MISSING for a dynamic callee."""

    function: Any
    callee: Any
    args: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    node: Any

    def operands(self) -> Iterator[Any]:
        if self.function is MISSING:
            yield self.callee.value if isinstance(self.callee, gast.Attribute) else self.callee
        yield from self.args
        for _, value in self.keywords:
            yield value


@dataclass(frozen=True)
class Item:
    """`base[index]`."""

    base: Any
    index: Any


@dataclass(frozen=True)
class Field:
    """`base.name`, an attribute that the object itself holds; checked at run time for an object of unknown
    kind.
    """

    base: Any
    name: str


@dataclass(frozen=True)
class Pop:
    """`base.pop()` of what may be a list: removes and returns its last element."""

    base: Any


@dataclass(frozen=True)
class Build:
    """A tuple, list, dict or object of atoms; `keys` for a dict, the attributes' names for an object, and the
    positions for a named tuple, whose other items are defaults.
    """

    items: tuple[Any, ...]
    node: Any
    keys: tuple[Any, ...] = ()
    is_named_tuple: bool = False


@dataclass(frozen=True)
class Inert:
    """An expression that is inactive whatever it reads: f-strings, dtypes."""

    node: Any


@dataclass(frozen=True)
class Opaque:
    """An expression that may be active and has no known derivative: an attribute of an unknown object, an
    element of a set.
    """

    items: tuple[Any, ...]
    node: Any


Operation = Alias | Apply | Call | Item | Field | Pop | Build | Inert | Opaque


def classify(value: Any, known: KindedProgram) -> Operation:
    """The operation of the right-hand side `value`."""
    program, primitives, kind = known.program, known.primitives, known.kind
    if is_atom(value):
        return Alias(value)
    found = rule_of_one(value, program, primitives)
    is_builtin = isinstance(found, Apply) and isinstance(found.function, BuiltinFunctionType)
    if found is not None and not is_builtin:
        return found
    method = called_method(value, known)  # also of `operator.add(a, b)`
    if isinstance(found, Apply) and method is None:
        if len(found.args) == 2 and found.function in OPERATORS.values():
            return replace(found, function=primitives.operator(found.function, *map(kind, found.args)))
        return found
    if method is not None:
        return _of_function(*method, getattr(value, "func", value), primitives)
    match value:
        case gast.BinOp(left=a, right=b) if primitives.is_object(kind(a)) or primitives.is_object(kind(b)):
            return Opaque((a, b), value)
        case gast.UnaryOp(op=op, operand=a) if primitives.is_object(kind(a)) and type(op) is not gast.Not:
            return Opaque((a,), value)
        case gast.Subscript(value=a) if primitives.is_object(kind(a)):
            return Opaque((a,), value)
        case gast.BinOp():
            function = primitives.operator(OPERATORS[type(value.op)], kind(value.left), kind(value.right))
            return Apply(function, (value.left, value.right), (), value)
        case gast.UnaryOp():
            return Apply(OPERATORS[type(value.op)], (value.operand,), (), value)
        case gast.Compare():
            return Apply(OPERATORS[type(value.ops[0])], (value.left, value.comparators[0]), (), value)
        case gast.Tuple() | gast.List():
            return Build(tuple(value.elts), value)
        case gast.Dict():
            return Build(tuple(value.values), value, tuple(value.keys))
        case gast.Subscript(value=base, slice=index):
            return _of_index(value, program, primitives) or Item(base, index)
        case gast.Attribute():
            return _classify_attribute(value, known)
        case gast.Call() if is_pop(value) and primitives.is_list(kind(value.func.value)) is not False:
            return Pop(value.func.value)
        case gast.Call():
            return _classify_call(value, known)
        case gast.Set():
            return Opaque(tuple(value.elts), value)
        case _:
            return Inert(value)


def _classify_attribute(value: Any, known: KindedProgram) -> Operation:
    primitives, kind, base = known.primitives, known.kind, value.value
    if known.program.resolve(value) is not MISSING:
        return Alias(value)
    match primitives.member(kind(base), value.attr):
        case Member("field"):
            return Field(base, value.attr)
        case Member("item", position):
            return Item(base, constant(position))
        case Member("method"):
            return Alias(base)
        case Member("static" | "class" | "constant"):
            return Inert(value)
    of_array = not primitives.is_object(kind(base))  # of one, as the run checks where the kind is unknown
    function = primitives.attribute(kind(base), value.attr) if of_array else None
    if function is not None:
        return Apply(function, (base,), (), value)
    if of_array and primitives.is_inert(value.attr):
        return Inert(value)
    return Field(base, value.attr) if primitives.is_unknown(kind(base)) else Opaque((base,), value)


def starred(operation: Call) -> bool:
    """Whether the number of a call's arguments is dynamic."""
    return any(isinstance(a, gast.Starred) for a in operation.args) or None in dict(operation.keywords)


def is_append(s: Any, known: KindedProgram) -> bool:
    """Whether a statement is `items.append(v)` of what may be a list."""
    match s:
        case gast.Expr(
            value=gast.Call(
                func=gast.Attribute(value=gast.Name() as items, attr="append"), args=[_], keywords=[]
            )
        ):
            return known.primitives.is_list(known.kind(items)) is not False
    return False


def is_pop(value: Any) -> bool:
    """Whether an expression is `name.pop()`."""
    match value:
        case gast.Call(func=gast.Attribute(value=gast.Name(), attr="pop"), args=[], keywords=[]):
            return True
    return False


def _classify_call(value: Any, known: KindedProgram) -> Operation:
    program, primitives, kind = known.program, known.primitives, known.kind
    args = tuple(value.args)
    keywords = tuple((k.arg, k.value) for k in value.keywords)
    function = primitives.meant(program.resolve(value.func), len(args), [k or "" for k, _ in keywords])
    positions = primitives.tuple_positions(function, len(args), [k or "" for k, _ in keywords])
    if positions is not None:
        return Build((*args, *(v for _, v in keywords)), value, tuple(positions), True)
    if primitives.is_builder(function):
        return Build(tuple(v for _, v in keywords), value, tuple(k for k, _ in keywords))
    if args:
        function = primitives.dispatched(function, kind(args[0]))
    if function is MISSING and is_atom(value.func):
        function = primitives.function_of(kind(value.func))
    if function is MISSING and isinstance(value.func, gast.Attribute):
        method = primitives.method(kind(value.func.value), value.func.attr, len(args) + len(keywords))
        if method is not None:
            return Apply(method, *primitives.positional(method, (value.func.value, *args), keywords), value)
        return _classify_method(value, args, keywords, known)
    if function is MISSING or function is None:  # None: a cell unbound on some path
        return Call(MISSING, value.func, args, keywords, value)
    if program.leaves(function) or primitives.is_dynamic(function, len(args), [k for k, _ in keywords]):
        return Call(MISSING, value.func, args, keywords, value)
    return _of_function(function, value, value.func, primitives)


def _of_index(value: Any, program: Program, primitives: Primitives) -> Apply | None:
    """The function that a known object applies to the parts of an index, and to the bounds of slices, as
    `np.r_` joins them; None where an index selects an item.
    """
    owner = program.resolve(value.value)
    if owner is MISSING:
        return None
    parts = index_items(value.slice)
    function = primitives.indexed(owner, [isinstance(p, gast.Slice) for p in parts])
    if function is None:
        return None
    bounds = [(p.lower, p.upper, p.step) if isinstance(p, gast.Slice) else (p,) for p in parts]
    args = [constant(None) if b is None else b for part in bounds for b in part]
    return Apply(function, tuple(args), (), value)


def _of_function(function: Any, node: Any, callee: Any, primitives: Primitives) -> Operation:
    """The call `node` of a known function."""
    args, keywords = tuple(node.args), tuple((k.arg, k.value) for k in node.keywords)
    if _hashable(function) and (
        primitives.find_rule(function) is not None
        or primitives.is_nondifferentiable(function)
        or primitives.refusal(function) is not None
    ):
        return Apply(function, *primitives.positional(function, args, keywords), node)
    return Call(function, callee, args, keywords, node)


def _classify_method(
    value: Any,
    args: tuple[Any, ...],
    keywords: tuple[tuple[str, Any], ...],
    known: KindedProgram,
) -> Operation:
    """A call of a method that may have a rule, as a function of its owner, which is a known object."""
    method, primitives = known_method(value, known.program), known.primitives
    if method is not None and (
        primitives.find_rule(method.__func__) is not None
        or primitives.is_nondifferentiable(method.__func__)
    ):
        return Apply(method.__func__, (value.func.value, *args), keywords, value)
    return Call(MISSING, value.func, args, keywords, value)


def known_method(value: Any, program: Program) -> MethodType | None:
    """The bound method that a call calls on a known object; else None."""
    owner, name = program.resolve(value.func.value), value.func.attr
    function = inspect.getattr_static(type(owner), name, None)
    if owner is MISSING or not isinstance(function, FunctionType) or name in getattr(owner, "__dict__", ()):
        return None
    return MethodType(function, owner)


def method_of_callable(value: Any, program: Program) -> Any:
    """The method of a callable built-in object that a call calls, as `np.add.reduce`; else None."""
    owner = program.resolve(value.func.value)
    method = getattr(owner, value.func.attr, None) if callable(owner) else None
    return method if isinstance(method, BuiltinFunctionType) else None


def rule_of_one(value: Any, program: Program, primitives: Primitives) -> Operation | None:
    """A call of one object, or of its method, that has a rule of its own rather than of its class."""
    if not isinstance(value, gast.Call):
        return None
    function = program.resolve(value.func)
    if function is MISSING and isinstance(value.func, gast.Attribute):
        function = method_of_callable(value, program)
        if function is None:
            method = known_method(value, program)
            if method is None or primitives.find_rule(method) is primitives.find_rule(method.__func__):
                return None
            function = method
    elif isinstance(function, (FunctionType, type)) or not callable(function):
        return None
    if not _hashable(function):
        return None
    if primitives.find_rule(function) is None and not primitives.is_nondifferentiable(function):
        return None
    keywords = tuple((k.arg, k.value) for k in value.keywords)
    function = primitives.meant(function, len(value.args), [k or "" for k, _ in keywords])
    if primitives.is_dynamic(function, len(value.args), [k for k, _ in keywords]):
        return None
    return Apply(function, *primitives.positional(function, tuple(value.args), keywords), value)


def _hashable(function: Any) -> bool:
    if isinstance(function, (FunctionType, BuiltinFunctionType, MethodType, type)):
        return True
    try:
        hash(function)
    except TypeError:
        return False
    return True


def index_items(index: Any) -> list[Any]:
    """The parts of an index: atoms and slices."""
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]
