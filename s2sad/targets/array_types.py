"""Infers the types of the names of a generated function: numbers, arrays of a rank and a kind, tuples, lists.

Types follow from those of the arguments by iteration over the statements to a fixed point. An unknown type is
OTHER: a compiler leaves it alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..kinds import lattice
from .arrays_of_lists import array_of, joined_of
from .interpreted_functions import interpreted, kind_of_result
from .literal_indices import constant_of
from .matrices import inverse, product, sign_and_log
from .special_functions import is_special

__all__ = [
    "CHOICES",
    "DTYPES",
    "ELEMENTWISE",
    "FLOAT",
    "INTEGER",
    "OTHER",
    "REDUCTIONS",
    "Array",
    "Number",
    "Type",
    "Types",
    "are_alike",
    "axes_of",
    "is_choice",
    "type_of",
]

# Helpers whose result is like their last argument, or their first one.
LIKE_LAST = (
    "zeros_like", "copy_adjoint", "unbroadcast", "broadcast_like", "gather", "contracted", "take_at",
    "matmul_dx", "matmul_dy",
)  # fmt: skip
LIKE_FIRST = ("share_of_ties", "add_at", "stop_gradient", "own_tangent", "stored_in")


@dataclass(frozen=True)
class Type:
    """The base of all types."""


@dataclass(frozen=True)
class Number(Type):
    """A number, by the kind of its dtype: b, i, f or c."""

    kind: str


@dataclass(frozen=True)
class Array(Type):
    """An array of numbers of a kind, with axes that are sure to have the length one."""

    rank: int
    kind: str
    ones: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Parts(Type):
    """A tuple."""

    parts: tuple[Type, ...]


@dataclass(frozen=True)
class Items(Type):
    """A list of items of one type; None before the first append."""

    item: Type | None = None


OTHER = Type()
BOOL, INTEGER, FLOAT, COMPLEX = (Number(kind) for kind in "bifc")
ORDER = "bifc"
DTYPES = {"b": "bool_", "i": "int64", "f": "float64", "c": "complex128"}
KINDS = {np.dtype(name): kind for kind, name in DTYPES.items()}
NUMBERS = {"b": "bool", "i": "int", "f": "float", "c": "complex"}  # as kinds name them

# Elementwise functions of NumPy that give floats of floats and integers, and numbers of their own kind.
TO_FLOAT = frozenset((
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh",
))  # fmt: skip
OF_REAL = frozenset(("arctan2", "hypot", "copysign", "floor", "ceil", "trunc", "rint", "fabs", "logaddexp"))
OF_KIND = frozenset((
    "abs", "absolute", "negative", "conj", "conjugate", "square", "sign", "maximum", "minimum",
))  # fmt: skip
# Helpers that choose among the elements of their last argument by those of the first, or map them, and how.
CHOICES = {
    "expit": "1.0 / (1.0 + numpy.exp(-{0}))",
    "kept_where": "{1} if {0} else 0.0",
    "zeroed_where": "0.0 if {0} else {1}",
    "zero_kept": "0.0 if {0} == 0 and {1} != {1} else {1}",
    "halved_where": "{1} / 2 if {0} else {1}",
    "are_ties": "{0} == {1} or {0} != {0}",
}
# Functions of one real matrix, and the types of their results; None for one like their last argument.
OF_MATRIX: dict[Any, Type | None] = {
    np.linalg.inv: None, np.linalg.cholesky: None, np.linalg.solve: None, np.linalg.det: FLOAT,
    np.linalg.slogdet: Parts((FLOAT, FLOAT)), inverse: None, sign_and_log: Parts((FLOAT, FLOAT)),
}  # fmt: skip
ELEMENTWISE = TO_FLOAT | OF_REAL | OF_KIND
REDUCTIONS = frozenset(("sum", "mean", "max", "min", "amax", "amin", "prod"))
MIRRORS = frozenset(("zeros_like", "ones_like", "empty_like", "full_like", "copy", "ascontiguousarray"))


def type_of(value: Any) -> Type:
    """The type of an argument of compiled code."""
    if isinstance(value, np.ndarray):
        ones = frozenset(k for k, n in enumerate(value.shape) if n == 1)
        return Array(value.ndim, KINDS[value.dtype], ones) if value.dtype in KINDS else OTHER
    if isinstance(value, np.generic):
        return Number(KINDS[value.dtype]) if value.dtype in KINDS else OTHER
    if isinstance(value, tuple):
        return Parts(tuple(map(type_of, value)))
    for cls, found in ((bool, BOOL), (int, INTEGER), (float, FLOAT), (complex, COMPLEX)):
        if isinstance(value, cls):
            return found
    return OTHER


def kind_of_type(found: Type | None) -> lattice.Kind | None:
    """The kind of the values of a type; None for an unknown type."""
    match found:
        case Number(kind=kind):
            return lattice.Scalar(NUMBERS[kind])
        case Array(rank=rank, kind=kind):
            return lattice.Array(np.dtype(DTYPES[kind]).name, (None,) * rank)
        case Parts(parts=parts):
            kinds = [k for k in map(kind_of_type, parts) if k is not None]
            return lattice.Tuple(tuple(kinds)) if len(kinds) == len(parts) else None
    return None


def type_of_kind(kind: lattice.Kind) -> Type:
    """The type of the values of a kind."""
    match kind:
        case lattice.Scalar(dtype=dtype):
            found = [k for k, name in NUMBERS.items() if dtype in (name, DTYPES[k])]
            return Number(found[0]) if found else INTEGER if dtype == "integer" else OTHER
        case lattice.Array(dtype=str() as dtype, dims=tuple() as dims) if np.dtype(dtype) in KINDS and dims:
            return Array(len(dims), KINDS[np.dtype(dtype)])
        case lattice.Tuple(items=items):
            parts = tuple(map(type_of_kind, items))
            return OTHER if OTHER in parts else Parts(parts)
    return OTHER


def is_choice(function: Any) -> bool:
    """Whether a function is a helper that chooses or maps elements."""
    module = getattr(function, "__module__", "")
    is_helper = module.endswith(("rules.choices", "rules.special", "rules.reductions"))
    return is_helper and function.__name__ in CHOICES


def are_alike(a: Type | None, b: Type | None) -> bool:
    """Whether compiled code has one type for the values of both."""
    if isinstance(a, Array) and isinstance(b, Array):
        return (a.rank, a.kind) == (b.rank, b.kind)
    return a == b


def joined(a: Type | None, b: Type) -> Type:
    """The type of a name with one of two types."""
    if a is None or a == b:
        return b
    match a, b:
        case Number(kind=x), Number(kind=y):
            return Number(max(x, y, key=ORDER.index))
        case Array(rank=m, kind=x), Array(rank=n, kind=y) if m == n and x == y:
            return Array(m, x, a.ones & b.ones)
        case Parts(parts=x), Parts(parts=y) if len(x) == len(y):
            return Parts(tuple(joined(p, q) for p, q in zip(x, y, strict=True)))
        case Items(item=x), Items(item=y):
            return b if x is None else a if y is None else Items(joined(x, y))
    return OTHER


def broadcast(types: Sequence[Type], kind: str) -> Type:
    """The type of an elementwise result."""
    arrays = [t for t in types if isinstance(t, Array)]
    rank = max((t.rank for t in arrays), default=0)
    at = [(t, rank - t.rank) for t in arrays]  # where its axes begin
    ones = {k for k in range(rank) if all(k < start or k - start in t.ones for t, start in at)}
    return Array(rank, kind, frozenset(ones)) if arrays else Number(kind)


def kind_of(types: Sequence[Type]) -> str | None:
    """The widest kind of numbers; None if not all are numbers or arrays."""
    kinds = [t.kind for t in types if isinstance(t, (Number, Array))]
    return max(kinds, key=ORDER.index) if kinds and len(kinds) == len(types) else None


class Types:
    """The types of the names of a function; `meaning` gives the function that an expression refers to."""

    def __init__(
        self, function: ast.FunctionDef, given: dict[str, Type], meaning: Callable[[ast.expr], Any]
    ) -> None:
        self.meaning = meaning
        self.names: dict[str, Type] = dict(given)
        for _ in range(8):
            before = dict(self.names)
            self._block(function.body)
            if self.names == before:
                return
        self.names = dict.fromkeys(self.names, OTHER)

    # ------------------------------------------------------------ statements

    def _block(self, statements: list[ast.stmt]) -> None:
        for s in statements:
            match s:
                case ast.Assign(targets=[target], value=value):
                    self._bind(target, self.of(value))
                case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                    self._bind(s.target, self._binary(op, self.names.get(name), self.of(value)))
                case ast.For(target=target, iter=source):
                    self._bind(target, self._item(self.of(source)))
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[x])
                ):
                    found = self.names.get(name)
                    if isinstance(found, Items) and (item := self.of(x)) is not None:
                        self.names[name] = joined(found, Items(item))
            for _, field in ast.iter_fields(s):
                if isinstance(field, list) and field and isinstance(field[0], ast.stmt):
                    self._block(field)

    def _bind(self, target: ast.expr, found: Type | None) -> None:
        if found is None:
            return
        if isinstance(target, ast.Name):
            self.names[target.id] = joined(self.names.get(target.id), found)
        elif isinstance(target, ast.Tuple):
            parts = found.parts if isinstance(found, Parts) else (OTHER,) * len(target.elts)
            if len(parts) != len(target.elts):
                parts = (OTHER,) * len(target.elts)
            for element, part in zip(target.elts, parts, strict=True):
                self._bind(element, part)

    @staticmethod
    def _item(source: Type | None) -> Type | None:
        match source:
            case None:
                return None
            case Items(item=item):
                return item
            case Parts(parts=parts) if len(set(parts)) == 1:
                return parts[0]
            case Array(rank=rank, kind=kind):
                return Array(rank - 1, kind) if rank > 1 else Number(kind)
        return OTHER

    # ------------------------------------------------------------ expressions

    def of(self, node: ast.expr) -> Type | None:
        """The type of an expression; None if that of a name in it is not found yet."""
        match node:
            case ast.Constant(value=value):
                return type_of(value)
            case ast.Name(id=name):
                return self.names.get(name, None if self.meaning(node) is None else OTHER)
            case ast.Tuple(elts=elts):
                parts = [self.of(e) for e in elts]
                return None if None in parts else Parts(tuple(parts))  # type: ignore[arg-type]
            case ast.List(elts=elts):
                items = [self.of(e) for e in elts]
                return None if None in items else Items(reduce(joined, items, None))  # type: ignore[arg-type]
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self.of(left), self.of(right))
            case ast.UnaryOp(op=op, operand=operand):
                found = self.of(operand)
                return BOOL if isinstance(op, ast.Not) and isinstance(found, Number) else found
            case ast.Compare(left=left, ops=[_], comparators=[right]):
                return self._elementwise([left, right], lambda kind: "b")
            case ast.IfExp(body=body, orelse=orelse):
                a, b = self.of(body), self.of(orelse)
                return b if a is None else a if b is None else joined(a, b)
            case ast.Subscript(value=base, slice=index):
                return self._subscript(self.of(base), index)
            case ast.Attribute(value=base, attr=attr):
                return self._attribute(node, base, attr)
            case ast.Call():
                return self._call(node)
        return OTHER

    def _binary(self, op: ast.operator, a: Type | None, b: Type | None) -> Type | None:
        if a is None or b is None:
            return None
        if isinstance(op, ast.MatMult):
            return type_of_product(a, b)
        kind = kind_of([a, b])
        if kind is None:
            return OTHER
        if isinstance(op, ast.Div):
            kind = max(kind, "f", key=ORDER.index)
        elif kind == "b" and not isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            return broadcast([a, b], "i") if isinstance(a, Number) and isinstance(b, Number) else OTHER
        return broadcast([a, b], kind)

    def _elementwise(self, operands: Sequence[ast.expr], result: Callable[[str], str]) -> Type | None:
        types = [self.of(x) for x in operands]
        known = [t for t in types if t is not None]
        if len(known) < len(types):
            return None
        kind = kind_of(known)
        return OTHER if kind is None else broadcast(known, result(kind))

    def _subscript(self, base: Type | None, index: ast.expr) -> Type | None:
        if isinstance(base, Items):
            return base if isinstance(index, ast.Slice) else base.item
        if isinstance(base, Parts):
            place = constant_of(index)
            if isinstance(place, slice):
                return Parts(base.parts[place])
            is_known = isinstance(place, int) and -len(base.parts) <= place < len(base.parts)
            return base.parts[place] if is_known else self._item(base)
        if not isinstance(base, Array):
            return base if base is None else OTHER
        indices = index.elts if isinstance(index, ast.Tuple) else [index]
        rank, used, ones = 0, 0, set()
        for i in indices:
            if isinstance(i, ast.Slice):
                if used in base.ones and i.lower is None and i.upper is None:
                    ones.add(rank)
                rank, used = rank + 1, used + 1
            elif isinstance(i, ast.Constant) and i.value is None:
                ones.add(rank)
                rank += 1
            elif isinstance(i, ast.Constant) and i.value is ...:
                others = sum(not (isinstance(j, ast.Constant) and j.value in (None, ...)) for j in indices)
                ones |= {rank + k - used for k in range(used, used + base.rank - others) if k in base.ones}
                rank, used = rank + base.rank - others, used + base.rank - others
            else:
                found = self.of(i)
                if found is None:
                    return None
                if isinstance(found, Array) and found.kind == "i" and len(indices) == 1:
                    rank, used = rank + found.rank, used + 1
                elif isinstance(found, Number) and found.kind in "bi":
                    used += 1
                else:
                    return OTHER
        ones |= {rank + k - used for k in range(used, base.rank) if k in base.ones}
        rank += base.rank - used
        made = Array(rank, base.kind, frozenset(ones))
        return OTHER if used > base.rank else made if rank else Number(base.kind)

    def _attribute(self, node: ast.expr, base: ast.expr, attr: str) -> Type | None:
        value = self.meaning(node)
        if isinstance(value, (int, float)):
            return type_of(value)
        found = self.of(base)
        if isinstance(found, Array):
            match attr:
                case "shape":
                    return Parts((INTEGER,) * found.rank)
                case "size" | "ndim":
                    return INTEGER
                case "T":
                    return Array(found.rank, found.kind, frozenset(found.rank - 1 - k for k in found.ones))
                case "real" | "imag":
                    return Array(found.rank, "f" if found.kind == "c" else found.kind)
        if isinstance(found, Number) and attr in ("real", "imag"):
            return Number("f" if found.kind == "c" else found.kind)
        return None if found is None else OTHER

    def _call(self, node: ast.Call) -> Type | None:
        function, args = self.meaning(node.func), node.args
        if isinstance(node.func, ast.Attribute) and function is None:
            found = self.of(node.func.value)
            return found if node.func.attr == "copy" and not args and not isinstance(found, Items) else OTHER
        module, name = getattr(function, "__module__", "") or "", getattr(function, "__name__", "")
        if function is range:
            return Items(INTEGER)
        if function is interpreted:
            return self._interpreted(args)
        if function is len:
            return INTEGER
        if function in (array_of, joined_of):
            found = self.of(args[0])
            item = found.item if isinstance(found, Items) else OTHER
            match item:
                case Array(rank=rank, kind=kind):
                    return Array(rank + (function is array_of), kind)
                case Number(kind=kind) if function is array_of:
                    return Array(1, kind)
            return None if item is None else OTHER
        if function is reversed:
            return self.of(args[0])
        if function in (zip, enumerate):
            items = [self._item(self.of(a)) for a in args[: 1 if function is enumerate else None]]
            items = [INTEGER, *items] if function is enumerate else items
            return None if None in items else Items(Parts(tuple(items)))  # type: ignore[arg-type]
        if function is list and len(args) == 1:
            item = self._item(self.of(args[0]))
            return None if item is None else Items(item)
        if function is float or module == "math":
            return FLOAT if name not in ("floor", "ceil", "gcd", "factorial", "comb") else INTEGER
        if function is abs and len(args) == 1:
            return self._elementwise(args, lambda kind: "f" if kind == "c" else kind)
        if module.startswith("s2sad") and name in (*LIKE_LAST, *LIKE_FIRST):
            found = self.of(args[-1] if name in LIKE_LAST else args[0])
            return found if not isinstance(found, (Number, Array)) or found.kind in "fc" else OTHER
        if function is product and len(args) == 2:
            a, b = self.of(args[0]), self.of(args[1])
            return None if a is None or b is None else type_of_product(a, b)
        if module.startswith("s2sad") and name == "table_of":
            return Array(2, "f")
        if module.startswith("s2sad") and name == "slogdet_dx":
            return self.of(args[1])
        if module.startswith("s2sad") and name == "to_ties" and len(args) >= 4:
            return self.of(args[1])
        if module.startswith("s2sad") and name.startswith("integer_"):
            return INTEGER
        if is_choice(function):
            found = self.of(args[-1])
            kind = found.kind if isinstance(found, (Number, Array)) else "f"
            if name == "are_ties":
                kind = "b"
            return self._elementwise(args, lambda _: kind)
        if function in OF_MATRIX and args:
            found = self.of(args[-1 if function is np.linalg.solve else 0])
            is_matrix = isinstance(found, Array) and (found.rank, found.kind) == (2, "f")
            return None if found is None else (OF_MATRIX[function] or found) if is_matrix else OTHER
        if is_special(function) and not node.keywords:
            return self._elementwise(args, lambda kind: "f") if self._are_real(args) else OTHER
        if isinstance(function, np.ufunc) or getattr(np, name, None) is function:
            return self._numpy(name, node)
        return OTHER

    def _are_real(self, args: list[ast.expr]) -> bool:
        return not any(isinstance(t := self.of(a), (Number, Array)) and t.kind == "c" for a in args)

    def _interpreted(self, args: list[ast.expr]) -> Type | None:
        types = [self.of(a) for a in args[1:]]
        kinds = [k for k in map(kind_of_type, types) if k is not None]
        if None in types or len(kinds) < len(types):
            return None if None in types else OTHER
        return type_of_kind(kind_of_result(ast.literal_eval(args[0]), kinds))

    def _numpy(self, name: str, node: ast.Call) -> Type | None:
        args, options = node.args, {k.arg: k.value for k in node.keywords}
        if name in TO_FLOAT and not options:
            return self._elementwise(args, lambda kind: max(kind, "f", key=ORDER.index))
        if name in OF_REAL and not options:
            return self._elementwise(args, lambda kind: "f")
        if name in OF_KIND and not options:
            is_size = name in ("abs", "absolute")
            return self._elementwise(args, lambda kind: "f" if kind == "c" and is_size else kind)
        if name in MIRRORS and len(args) <= 2 and not options:
            return self.of(args[0])
        if name == "expand_dims" and len(args) == 2 and not options:
            return self._expanded(self.of(args[0]), constant_of(args[1]))
        if name == "transpose" and len(args) == 1 and not options:
            return self._attribute(node, args[0], "T")
        if name == "where" and len(args) == 3:
            condition = self.of(args[0])
            found = self._elementwise(args[1:], lambda kind: kind)
            if not isinstance(found, (Number, Array)) or condition is None:
                return found
            is_known = isinstance(condition, (Number, Array))
            return broadcast([condition, found], found.kind) if is_known else OTHER
        if name == "outer" and len(args) == 2 and not options:
            found = self._elementwise(args, lambda kind: kind)
            vectors = all(isinstance(t, Array) and t.rank == 1 for t in map(self.of, args))
            return found if found is None else Array(2, found.kind) if vectors else OTHER  # type: ignore[attr-defined]
        if name in ("dot", "matmul") and len(args) == 2 and not options:
            a, b = self.of(args[0]), self.of(args[1])
            return None if a is None or b is None else type_of_product(a, b)
        if name == "vecdot" and len(args) == 2 and not options:
            found = self._elementwise(args, lambda kind: kind)
            if not isinstance(found, Array):
                return None if found is None else OTHER
            rank = found.rank - 1
            return Array(rank, found.kind, found.ones - {rank}) if rank else Number(found.kind)
        kind = self._kind_of_dtype(options.pop("dtype", None))
        if kind is None:
            return OTHER
        if name == "eye" and not options and all(self.of(a) == INTEGER for a in args):
            return Array(2, kind)
        if name in ("zeros", "ones", "empty") and len(args) == 1 and not options:
            shape = self.of(args[0])
            if isinstance(shape, Parts):
                return Array(len(shape.parts), kind)
            return None if shape is None else Array(1, kind) if shape == INTEGER else OTHER
        if name in ("array", "asarray") and len(args) == 1 and not node.keywords:
            return array_of_nested(self.of(args[0]))
        if name in REDUCTIONS and options.keys() <= {"axis", "keepdims"} and len(args) <= 2:
            return self._reduction(name, args, options)
        return OTHER

    def _kind_of_dtype(self, node: ast.expr | None) -> str | None:
        """The kind of a dtype that is given; that of floats for none, and None for others."""
        try:
            return "f" if node is None else KINDS.get(np.dtype(self.meaning(node) or ast.literal_eval(node)))
        except (TypeError, ValueError):
            return None

    @staticmethod
    def _expanded(found: Type | None, axis: Any) -> Type | None:
        if not (isinstance(found, Array) and type(axis) is int and 0 <= axis <= found.rank):
            return None if found is None else OTHER
        ones = {k + (k >= axis) for k in found.ones} | {axis}
        return Array(found.rank + 1, found.kind, frozenset(ones))

    def _reduction(self, name: str, args: list[ast.expr], options: dict[Any, ast.expr]) -> Type | None:
        found = self.of(args[0])
        if not isinstance(found, Array):
            return None if found is None else OTHER
        kind = max(found.kind, "f", key=ORDER.index) if name == "mean" else found.kind
        if kind == "b":
            kind = "i" if name in ("sum", "prod") else kind
        axes = axes_of(args[1] if len(args) == 2 else options.get("axis"), found.rank)
        keeps = options.get("keepdims", ast.Constant(False))
        if axes is None or not isinstance(keeps, ast.Constant):
            return OTHER
        left = [k for k in range(found.rank) if keeps.value or k not in axes]
        ones = frozenset(p for p, k in enumerate(left) if k in found.ones or k in axes)
        return Array(len(left), kind, ones) if left else Number(kind)


def array_of_nested(found: Type | None) -> Type | None:
    """The type of `np.array` of a number, an array, or nested sequences of numbers."""
    match found:
        case None | Array() | Items(item=None):
            return None if found is None or isinstance(found, Items) else found
        case Items(item=Number(kind=kind)):
            return Array(1, kind)
        case Items(item=Items() | Parts() as item):
            inner = array_of_nested(item)
            return Array(inner.rank + 1, inner.kind) if isinstance(inner, Array) else inner
        case Parts(parts=parts) if parts:
            kind_ = kind_of(parts) if all(isinstance(p, Number) for p in parts) else None
            return OTHER if kind_ is None else Array(1, kind_)
    return OTHER


def axes_of(axis: ast.expr | None, rank: int) -> tuple[int, ...] | None:
    """The literal axes of a reduction; None for others."""
    try:
        value = None if axis is None else ast.literal_eval(axis)
    except ValueError:
        return None
    axes = tuple(range(rank)) if value is None else (value,) if isinstance(value, int) else value
    if not isinstance(axes, tuple) or not all(isinstance(k, int) and -rank <= k < rank for k in axes):
        return None
    return tuple(sorted(k % rank for k in axes))


def type_of_product(a: Type, b: Type) -> Type:
    """The type of a matrix product."""
    if isinstance(a, Array) and isinstance(b, Array) and a.rank <= 2 and b.rank <= 2:
        kind = max(a.kind, b.kind, key=ORDER.index)
        rank = a.rank + b.rank - 2
        return Array(rank, kind) if rank else Number(kind)
    return OTHER
