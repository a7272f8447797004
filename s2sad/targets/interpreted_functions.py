"""The functions that compiled code runs as Python, and the kinds of their results."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..kinds.abstract_eval import execute
from ..kinds.eval_guard import is_known
from ..kinds.indexing import subscript_kind
from ..kinds.join import join_all
from ..kinds.lattice import NOT_ONE, UNKNOWN, Array, Kind, List, Literal, Scalar, Tuple
from ..kinds.result_kinds import call_kind
from ..rules.methods import reshape_method
from ..rules.products import matmul_dx, matmul_dy
from ..rules.tensors import spatial
from .literal_indices import constant_of

__all__ = ["CHANGING", "FUNCTIONS", "Interpreted", "interpreted", "is_expression", "kind_of_result"]

CHANGING = frozenset(
    ("sort", "partition", "fill", "put", "itemset", "resize", "setfield", "setflags", "byteswap")
)  # methods of arrays

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul,
}  # fmt: skip
# Functions whose result has the dtype and rank of one of their arguments.
LIKE: dict[Any, int] = {matmul_dx: 2, matmul_dy: 2, spatial: 0, np.transpose: 0}
METHODS: dict[str, Any] = {**vars(np.ndarray), "reshape": reshape_method}


@dataclass(frozen=True)
class Interpreted:
    """A function of some variables, and the expression of its result (None: it returns nothing)."""

    function: Callable[..., Any]
    parameters: tuple[str, ...]
    result: ast.expr | None
    meaning: Callable[[ast.expr], Any]


FUNCTIONS: dict[str, Interpreted] = {}  # by a digest of what they compute


def interpreted(key: str, *args: Any) -> Any:
    """The result of an interpreted function."""
    return FUNCTIONS[key].function(*args)


def is_expression(key: str) -> bool:
    """Whether an interpreted function returns what an expression computes, which changes nothing."""
    result = FUNCTIONS[key].result
    if result is None or isinstance(result, ast.Name):  # of a variable that a statement has changed
        return False
    calls = [n for n in ast.walk(result) if isinstance(n, ast.Call)]
    changing = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in CHANGING]
    return not changing and not any(k.arg == "out" for c in calls for k in c.keywords)


def as_declared(value: Any, kind: Kind) -> Any:
    """A value that is of a kind; raises NotImplementedError for others, which compiled code cannot take."""
    match kind:
        case Tuple(items=items):
            for part, k in zip(value, items, strict=True):
                as_declared(part, k)
        case Array(dtype=dtype, dims=tuple() as dims) if (
            not isinstance(value, np.ndarray) or value.dtype != dtype or value.ndim != len(dims)
        ):
            raise NotImplementedError("an array has other axes, or another dtype, for some values")
        case Scalar() if np.ndim(value) != 0:
            raise NotImplementedError("an array takes the place of a number for some values")
    return value


def kind_of_result(key: str, kinds: Sequence[Kind]) -> Kind:
    """The kind of what an interpreted function returns for arguments of these kinds."""
    found = FUNCTIONS[key]
    if found.result is None:
        return Literal(None)
    given = tuple(map(_of_general_lengths, kinds))
    kind = _kind_of(found.result, dict(zip(found.parameters, given, strict=True)), found.meaning)
    return execute(found.function, given) if kind is UNKNOWN else kind


def _kind_of(node: ast.expr, given: Mapping[str, Kind], meaning: Callable[[ast.expr], Any]) -> Kind:
    """The kind of an expression, by the kinds of its parts; Unknown for what these do not tell."""
    match node:
        case ast.Name(id=name) if name in given:
            return given[name]
        case ast.Constant(value=value):
            return Literal(value)
        case ast.Call(func=ast.Name(id="slice")):
            found = constant_of(node)  # of other bounds: lengths are not told
            return Literal(found if isinstance(found, slice) else slice(None, None, 2))
    children = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    parts = {id(n): _kind_of(n, given, meaning) for n in children}
    match node:
        case ast.Tuple(elts=elts):
            items = tuple(parts[id(e)] for e in elts)
            return UNKNOWN if UNKNOWN in items else Tuple(items)
        case ast.List(elts=elts):
            items = tuple(parts[id(e)] for e in elts)
            return UNKNOWN if UNKNOWN in items else List(items, join_all(items))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = parts[id(operand)]
            return found if isinstance(found, Array) or found == Scalar("float") else UNKNOWN
        case ast.Slice():  # of any bounds: lengths are not told
            return Literal(slice(None, None, 2))
        case ast.Subscript(value=base, slice=index):
            return subscript_kind(parts[id(base)], [parts[id(index)]])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            args = [parts[id(left)], parts[id(right)]]
            return UNKNOWN if UNKNOWN in args else call_kind(OPERATORS[type(op)], args, {}, _is_pure)
        case ast.Call(func=func, args=nodes, keywords=named):
            function, args = meaning(func), [parts[id(n)] for n in nodes]
            if function is None and isinstance(func, ast.Attribute):
                args.insert(0, _kind_of(func.value, given, meaning))
                function = METHODS.get(func.attr) if isinstance(args[0], Array) else None
            options = {k.arg or "": _kind_of(k.value, given, meaning) for k in named}
            if function is not None and not options and _is_pure(function) and all(map(_is_told, args)):
                return _literal(function(*map(_value, args)))
            like = LIKE.get(function)
            if like is not None and isinstance(found := args[like], Array):
                return replace(found, dims=None if found.dims is None else (None,) * len(found.dims))
            if function is np.cross and not options and UNKNOWN not in args:
                return call_kind(operator.mul, args, {}, _is_pure)  # of vectors with three components
            if function is not None and UNKNOWN not in (*args, *options.values()):
                return call_kind(function, args, options, _is_pure)
    return UNKNOWN


def _is_told(kind: Kind) -> bool:
    """Whether a kind has one value."""
    return all(map(_is_told, kind.items)) if isinstance(kind, Tuple) else isinstance(kind, Literal)


def _value(kind: Kind) -> Any:
    """The value of a kind that has one."""
    return tuple(map(_value, kind.items)) if isinstance(kind, Tuple) else getattr(kind, "value", None)


def _literal(value: Any) -> Kind:
    """The kind of a number, or of a tuple of such."""
    if isinstance(value, tuple):
        return Tuple(tuple(map(_literal, value)))
    if isinstance(value, np.integer):
        return Literal(int(value))
    return Literal(value) if isinstance(value, (int, float, str, slice)) or value is None else UNKNOWN


def _is_pure(function: Any) -> bool:
    return function in OPERATORS.values() or is_known(function)


def _of_general_lengths(kind: Kind) -> Kind:
    """The kind with lengths other than one: with these, ranks are seldom others."""
    match kind:
        case Array(dtype=dtype, dims=tuple() as dims):
            return Array(dtype, (NOT_ONE,) * len(dims))
        case Tuple(items=items):
            return Tuple(tuple(map(_of_general_lengths, items)))
    return kind
