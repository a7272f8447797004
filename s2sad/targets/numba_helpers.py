"""Numba implementations of the helpers of generated code, one for each combination of types.

Importing this module imports Numba, and makes the helpers known to it. `HELPERS` are those that compile.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaError, NumbaWarning, TypingError
from numba.core.ir import Loc
from numba.experimental import structref
from numba.extending import overload, register_jitable

from ..kinds.lattice import Array, Kind, Literal, Scalar, Tuple
from ..rules import choices, linalg, reductions, special
from ..runtime import adjoints, mutation, real_power, shapes
from ..transforms.errors import NonDifferentiableError
from .array_types import DTYPES, Number
from .array_types import type_of_kind as array_type_of
from .checked_operations import CHECKED, check_mask
from .disk_cache import keep_on_disk
from .flatten_containers import check_lengths
from .interpreted_functions import FUNCTIONS as INTERPRETED
from .interpreted_functions import as_declared, kind_of_result
from .interpreted_functions import interpreted as interpreted_function
from .loop_functions import CALLED_IN_LOOPS
from .numba_linking import linked
from .numba_matrices import MATRICES
from .typed_differences import differences

__all__ = [
    "CALLED_IN_LOOPS",
    "HELPERS",
    "Loc",
    "NumbaError",
    "NumbaWarning",
    "Saved",
    "differences",
    "keep_on_disk",
    "linked",
    "numba",
]

HELPERS: set[Any] = set(MATRICES)


class SavedType(types.StructRef):  # type: ignore[misc]
    """The type of `Saved`."""

    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, types.unliteral(t)) for name, t in fields)


class Saved(structref.StructRefProxy):  # type: ignore[misc]
    """Values of compiled code, which Python code passes on without a conversion."""


structref.register(SavedType)
structref.define_proxy(Saved, SavedType, ["values"])


def compiles(helper: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function maps the types of a helper's arguments to its implementation."""
    HELPERS.add(helper)
    declare: Callable[[Callable[..., Any]], Callable[..., Any]] = overload(helper, strict=False)
    return declare


def is_number(t: Any) -> bool:
    return isinstance(t, (types.Number, types.Boolean))


def is_real(t: Any) -> bool:
    return isinstance(t, (types.Float, types.Integer, types.Boolean))


def is_integer(t: Any) -> bool:
    return isinstance(t, (types.Integer, types.Boolean))


# ---------------------------------------------------------------- shapes


@register_jitable  # type: ignore[untyped-decorator]
def summed_to(dx: Any, out: Any) -> Any:
    """Adds the elements of `dx` to those of `out` that were broadcast to them."""
    lead = dx.ndim - out.ndim
    for index in np.ndindex(dx.shape):
        place = np.zeros(out.ndim, np.int64)
        for k in range(out.ndim):
            place[k] = 0 if out.shape[k] == 1 else index[lead + k]
        position = 0
        for k in range(out.ndim):
            position = position * out.shape[k] + place[k]
        out.flat[position] += dx[index]
    return out


@register_jitable  # type: ignore[untyped-decorator]
def may_share(a: Any, b: Any) -> bool:
    """Whether two arrays may share memory: their extents meet, and their strides do not keep them apart as
    those of two columns of a matrix.
    """
    if a.size == 0 or b.size == 0:
        return False
    first = a_end = np.int64(a.ctypes.data)
    second = b_end = np.int64(b.ctypes.data)
    apart = np.int64(0)  # the distances of elements are multiples of it
    for n, stride in zip(a.shape, a.strides):  # noqa: B905
        first, a_end = first + min(0, (n - 1) * stride), a_end + max(0, (n - 1) * stride)
        apart = np.gcd(apart, stride if n > 1 else 0)
    for n, stride in zip(b.shape, b.strides):  # noqa: B905
        second, b_end = second + min(0, (n - 1) * stride), b_end + max(0, (n - 1) * stride)
        apart = np.gcd(apart, stride if n > 1 else 0)
    if a_end + a.itemsize <= second or b_end + b.itemsize <= first:
        return False
    offset = (second - first) % apart if apart else second - first
    return bool(apart == 0 or offset < a.itemsize or apart - offset < b.itemsize)


@compiles(mutation.refuse_held_twice)
@compiles(mutation.refuse_overlap)
def refuse_overlap(written: Any, others: Any) -> Any:
    changed, rest = arrays_of(written, "written"), arrays_of(others, "others")
    pairs = [(a, b) for k, a in enumerate(changed) for b in (*changed[k + 1 :], *rest)]
    tests = " or ".join(f"may_share({a}, {b})" for a, b in pairs) or "False"
    arguments = ", ".join(map(repr, mutation.OVERLAP))
    scope: dict[str, Any] = {"may_share": may_share, "NonDifferentiableError": NonDifferentiableError}
    exec(
        f"def refuse(written, others):\n    if {tests}:\n        raise NonDifferentiableError({arguments})\n",
        scope,
    )
    return scope["refuse"]


@compiles(mutation.refuse_other_array)
def refuse_other_array(x: Any, shown: Any, is_changed: Any = False) -> Any:
    return lambda x, shown, is_changed=False: None  # Numba's types are those of plain arrays


def arrays_of(t: Any, path: str) -> list[str]:
    """The paths of the arrays in a tuple of this type."""
    if isinstance(t, types.Array):
        return [path]
    if isinstance(t, types.BaseTuple):
        return [p for k, part in enumerate(t) for p in arrays_of(part, f"{path}[{k}]")]
    if is_number(t) or isinstance(t, (types.NoneType, types.UnicodeType)):
        return []
    raise TypingError(f"no arrays of {t}")


@compiles(reversed)
def backwards(x: Any) -> Any:
    """`reversed` of a range."""
    if not isinstance(x, types.RangeType):
        return None
    return lambda x: range(x.start + (len(x) - 1) * x.step, x.start - x.step, -x.step)


@compiles(adjoints.unbroadcast)
def unbroadcast(dx: Any, x: Any) -> Any:
    is_complex = isinstance(getattr(dx, "dtype", dx), types.Complex)
    if is_number(x):
        takes_real = is_complex and is_real(x)
        if is_number(dx):
            return (lambda dx, x: dx.real) if takes_real else (lambda dx, x: dx)
        return (lambda dx, x: np.sum(dx).real) if takes_real else (lambda dx, x: np.sum(dx))
    if not isinstance(x, types.Array):
        return None
    if is_complex and not isinstance(x.dtype, types.Complex):
        own = adjoints.unbroadcast
        return (lambda dx, x: own(dx.real, x)) if is_number(dx) else lambda dx, x: own(dx.real.copy(), x)
    dtype = np.dtype(str(dx if is_number(dx) else dx.dtype))
    if is_number(dx):
        return lambda dx, x: np.full(x.shape, dx, dtype)
    if x.ndim == dx.ndim and dx.layout == "C":

        def of_contiguous(dx: Any, x: Any) -> Any:
            if dx.shape == x.shape:
                return dx
            return summed_to(dx, np.zeros(x.shape, dtype))

        return of_contiguous
    if x.ndim == dx.ndim:

        def of_same_rank(dx: Any, x: Any) -> Any:
            out = np.zeros(x.shape, dtype)
            if dx.shape == x.shape:
                out[:] = dx
                return out
            return summed_to(dx, out)

        return of_same_rank
    return lambda dx, x: summed_to(dx, np.zeros(x.shape, dtype))


@compiles(adjoints.broadcast_like)
def broadcast_like(dx: Any, like: Any) -> Any:
    if is_number(like) and is_number(dx):
        return lambda dx, like: dx
    if isinstance(like, types.Array):
        dtype = np.dtype(str(like.dtype))

        def of_array(dx: Any, like: Any) -> Any:
            out = np.empty(like.shape, dtype)
            out[...] = dx
            return out

        return of_array
    return None


@compiles(adjoints.conform)
def conform(dx: Any, x: Any) -> Any:
    if isinstance(x, types.NoneType) or isinstance(dx, types.NoneType):
        return lambda dx, x: None
    if isinstance(x, types.BaseTuple):
        scope: dict[str, Any] = {"conform": adjoints.conform}
        parts = "".join(f"conform(dx[{k}], x[{k}]), " for k in range(len(x)))
        exec(f"def conformed(dx, x):\n    return ({parts})\n", scope)
        return scope["conformed"]
    own = adjoints.unbroadcast
    return (lambda dx, x: own(dx, x)) if isinstance(x, (types.Number, types.Array)) else None


@compiles(real_power.real_power)
def power(x: Any, y: Any) -> Any:
    if not (is_real(x) and is_real(y)):
        return lambda x, y: x**y
    if is_integer(y):
        return (lambda x, y: float(x) ** y) if is_integer(x) else (lambda x, y: x**y)

    def of_floats(x: Any, y: Any) -> Any:
        if x < 0.0 and y != np.floor(y):
            raise real_power.ComplexPowerError("a power of a negative number is complex")
        return x**y

    return of_floats


@compiles(adjoints.take_at)
def take_at(da: Any, index: Any, v: Any) -> Any:
    parts = index if isinstance(index, types.BaseTuple) else (index,)
    if not isinstance(da, types.Array) or any(isinstance(part, types.Array) for part in parts):
        return None
    own, copied = adjoints.unbroadcast, adjoints.copy_adjoint
    return lambda da, index, v: own(copied(da[index]), v)


@compiles(adjoints.like)
def like(x: Any) -> Any:
    return (lambda x: x) if isinstance(x, types.Array) else None


@compiles(adjoints.zeros_of)
def zeros_of(like: Any) -> Any:
    return (lambda like: np.zeros_like(like)) if isinstance(like, types.Array) else None


# ---------------------------------------------------------------- zeros, copies and sums


def mapped(x: Any, name: str, of_leaf: Callable[[Any], str]) -> Any:
    """The code of a helper that maps each number and array in nested tuples and lists."""

    def text(t: Any, value: str, depth: int = 0) -> str:
        if isinstance(t, types.BaseTuple):
            parts = (text(part, f"{value}[{k}]", depth) for k, part in enumerate(t))
            return f"({''.join(f'{part}, ' for part in parts)})"
        if isinstance(t, types.List):
            return f"[{text(t.dtype, f'v{depth}', depth + 1)} for v{depth} in {value}]"
        return of_leaf(t).format(value)

    scope: dict[str, Any] = {"np": np}
    exec(f"def {name}(x):\n    return {text(x, 'x')}\n", scope)
    return scope[name]


def zero_of(t: Any) -> str:
    """The text of the zero adjoint of a number, an array or a text, which has None."""
    if isinstance(t, types.Optional):
        return f"(None if {{0}} is None else {zero_of(t.type).replace('{}', '{0}')})"
    dtype = t.dtype if isinstance(t, types.Array) else t
    if isinstance(dtype, (types.UnicodeType, types.NoneType)):
        return "None"
    if isinstance(dtype, (types.Integer, types.Boolean)):
        return "np.zeros({}.shape)" if isinstance(t, types.Array) else "0.0"
    if not isinstance(dtype, (types.Float, types.Complex)):
        raise TypingError(f"no adjoint of {t}")
    if isinstance(t, types.Array):
        return "np.zeros_like({})"
    return "0j" if isinstance(t, types.Complex) else "0.0"


@compiles(adjoints.zeros_like)
def zeros_like(x: Any) -> Any:
    return mapped(x, "zeros_like", zero_of)


def copy_of(t: Any) -> str:
    """The text of a copy of a number or an array."""
    if not isinstance(t, (types.Number, types.Array, types.NoneType)):
        raise TypingError(f"no copy of {t}")
    return "{}.copy()" if isinstance(t, types.Array) else "{}"


@compiles(adjoints.copy_adjoint)
def copy_adjoint(x: Any) -> Any:
    return mapped(x, "copy_adjoint", copy_of)


@compiles(mutation.own_tangent)
def own_tangent(dx: Any, x: Any) -> Any:
    if not isinstance(x, types.Array):
        own = adjoints.copy_adjoint
        return lambda dx, x: own(dx)

    def of_array(dx: Any, x: Any) -> Any:
        new = np.empty_like(x)
        new[...] = dx
        return new

    return of_array


@compiles(adjoints.add)
def add(a: Any, b: Any) -> Any:
    if isinstance(a, types.NoneType):
        return lambda a, b: b
    if isinstance(b, types.NoneType):
        return lambda a, b: a
    if isinstance(a, types.BaseTuple):
        scope: dict[str, Any] = {"add": adjoints.add}
        parts = "".join(f"add(a[{k}], b[{k}]), " for k in range(len(a)))
        exec(f"def added(a, b):\n    return ({parts})\n", scope)
        return scope["added"]
    if isinstance(a, types.List) and isinstance(b, types.List):
        own = adjoints.add
        return lambda a, b: [own(a[k], b[k]) for k in range(len(a))]
    leaves = (types.Number, types.Array)
    return (lambda a, b: a + b) if isinstance(a, leaves) and isinstance(b, leaves) else None


@compiles(adjoints.add_at)
def add_at(da: Any, index: Any, v: Any) -> Any:
    if isinstance(da, types.BaseTuple) and is_integer(index):
        given = index.literal_value % len(da) if isinstance(index, types.IntegerLiteral) else None
        if given is None and not isinstance(da, types.UniTuple):
            return None
        parts = ""
        for k in range(len(da)):
            changed = f"add(da[{k}], v)"
            chosen = f"({changed} if index in ({k}, {k - len(da)}) else da[{k}])"
            parts += f"{chosen if given is None else changed if given == k else f'da[{k}]'}, "
        scope: dict[str, Any] = {"add": adjoints.add}
        exec(f"def at_place(da, index, v):\n    return ({parts})\n", scope)
        return scope["at_place"]
    if isinstance(da, types.List) and is_integer(index):
        return to_item
    if isinstance(da, types.List) and isinstance(index, types.SliceType) and isinstance(v, types.List):
        return to_items
    if not isinstance(da, types.Array):
        return None
    if isinstance(index, types.BaseTuple) and any(isinstance(part, types.Array) for part in index):
        return at_places(da, index)
    if isinstance(index, types.Array):
        if isinstance(index.dtype, types.Boolean):
            return None

        def at_each(da: Any, index: Any, v: Any) -> Any:
            values = np.broadcast_to(v, index.shape + da.shape[1:])
            for place in np.ndindex(index.shape):
                da[index[place]] += values[place]
            return da

        return at_each

    def at_slice(da: Any, index: Any, v: Any) -> Any:
        da[index] += v
        return da

    return at_slice


def to_item(da: Any, index: Any, v: Any) -> Any:
    """Adds to an item of a list."""
    da[index] = adjoints.add(da[index], v)
    return da


def to_items(da: Any, index: Any, v: Any) -> Any:
    """Adds the items of a list to those of a slice of another one."""
    start, stop, step = index.indices(len(da))
    for k, place in enumerate(range(start, stop, step)):
        da[place] = adjoints.add(da[place], v[k])
    return da


def at_places(da: Any, index: Any) -> Any:
    """The code that adds at the places that vectors of integers name, and integers, one for each axis."""
    vectors = [k for k, part in enumerate(index) if isinstance(part, types.Array)]
    if len(index) != da.ndim:
        return None
    for k, part in enumerate(index):
        if not (is_integer(part.dtype) and part.ndim == 1 if k in vectors else is_integer(part)):
            return None
    place = ", ".join(f"index[{k}]{'[k]' if k in vectors else ''}" for k in range(len(index)))
    text = "def at_places(da, index, v):\n"
    text += "".join(f"    assert index[{k}].shape == index[{vectors[0]}].shape\n" for k in vectors[1:])
    text += f"    values = np.broadcast_to(v, index[{vectors[0]}].shape)\n"
    text += f"    for k in range(values.shape[0]):\n        da[{place}] += values[k]\n    return da\n"
    scope: dict[str, Any] = {"np": np}
    exec(text, scope)
    return scope["at_places"]


@compiles(adjoints.unit_cotangent)
def unit_cotangent(out: Any) -> Any:
    if is_real(out):
        return lambda out: 1.0
    return None


@compiles(shapes.check_shapes)
def check_shapes(x: Any, y: Any) -> Any:
    lead = x.ndim - y.ndim

    def checked(x: Any, y: Any) -> None:
        if x.shape[lead:] != y.shape:
            raise ValueError("operands could not be broadcast together")

    return checked


@compiles(adjoints.stop_gradient)
def stop_gradient(x: Any) -> Any:
    return lambda x: x


@compiles(reductions.share_of_ties)
def share_of_ties(x: Any, out: Any, axis: Any, keepdims: Any) -> Any:
    is_whole = isinstance(axis, (types.NoneType, types.Omitted))
    if not (isinstance(x, types.Array) and is_real(out) and is_whole):
        return None

    def share(x: Any, out: Any, axis: Any, keepdims: Any) -> Any:
        chosen = x == out if out == out else x != x
        return chosen / np.sum(chosen)

    return share


# ---------------------------------------------------------------- loops


@compiles(check_lengths)
def check(*sources: Any) -> Any:
    scope: dict[str, Any] = {}
    tests = " or ".join(f"len(sources[{k}]) != len(sources[0])" for k in range(1, len(sources)))
    text = "zip() argument 2 is longer or shorter than argument 1"
    exec(f"def checked(*sources):\n    if {tests}:\n        raise ValueError({text!r})\n", scope)
    return scope["checked"]


@compiles(check_mask)
def mask_checked(x: Any, mask: Any) -> Any:
    return own_code(check_mask)


def own_code(function: Any) -> Any:
    """A helper's own code as its implementation."""
    return FunctionType(function.__code__, function.__globals__, function.__name__)


for checked in CHECKED:
    code_of_checked = own_code(checked)
    if checked.__code__.co_argcount == 1:
        compiles(checked)(lambda x, made=code_of_checked: made)
    else:
        compiles(checked)(lambda x, n, made=code_of_checked: made)


# ---------------------------------------------------------------- choices


@compiles(choices.kept_where)
def kept_where(mask: Any, x: Any) -> Any:
    return lambda mask, x: np.where(mask, x, 0.0)


@compiles(choices.zeroed_where)
def zeroed_where(mask: Any, x: Any) -> Any:
    return lambda mask, x: np.where(mask, 0.0, x)


@compiles(choices.zero_kept)
def zero_kept(d: Any, x: Any) -> Any:
    if isinstance(x, types.Array):
        return lambda d, x: np.where((d == 0) & np.isnan(x), 0.0, x)
    return lambda d, x: 0.0 if d == 0 and x != x else x


@compiles(choices.halved_where)
def halved_where(mask: Any, x: Any) -> Any:
    return lambda mask, x: np.where(mask, x / 2, x)


@compiles(special.expit)
def expit(x: Any) -> Any:
    return lambda x: 1.0 / (1.0 + np.exp(-x))


@compiles(linalg.slogdet_tangent)
def slogdet_tangent(x: Any, out: Any, dx: Any) -> Any:
    if not (isinstance(x, types.Array) and x.ndim == 2 and isinstance(x.dtype, types.Float)):
        return None
    return lambda x, out, dx: (0.0, np.trace(np.linalg.solve(x, dx)))


# ---------------------------------------------------------------- statements that are interpreted


@compiles(interpreted_function)
def interpreted(key: Any, *args: Any) -> Any:
    if not isinstance(key, types.StringLiteral):
        return None
    kinds = [k for k in map(kind_of_type, args) if k is not None]
    if len(kinds) < len(args):
        return None
    kind = kind_of_result(key.literal_value, kinds)
    result = type_of_kind(kind)
    if result is None:
        return None
    scope = {"function": INTERPRETED[key.literal_value].function, "objmode": numba.objmode}
    scope |= {"result": result, "as_declared": as_declared, "kind": kind}
    exec(_INTERPRETED, scope)
    return scope["run"]


_INTERPRETED = """
def run(key, *args):
    with objmode(out=result):
        out = as_declared(function(*args), kind)
    return out
"""


def kind_of_type(t: Any) -> Kind | None:
    """The kind of the values of one of Numba's types."""
    t = types.unliteral(t)
    if isinstance(t, types.NoneType):
        return Literal(None)
    if isinstance(t, types.Array):
        return Array(str(t.dtype), (None,) * t.ndim)
    if isinstance(t, types.BaseTuple):
        kinds = [k for k in map(kind_of_type, t) if k is not None]
        return Tuple(tuple(kinds)) if len(kinds) == len(t) else None
    if is_number(t):
        names = {types.Boolean: "bool", types.Float: "float", types.Complex: "complex"}
        return Scalar(next((name for cls, name in names.items() if isinstance(t, cls)), "int"))
    return None


def type_of_kind(kind: Kind) -> Any:
    """Numba's type of the values of a kind; None for others."""
    match kind:
        case Literal(value=None):
            return types.none
        case Scalar():
            found = array_type_of(kind)
            return numba.from_dtype(np.dtype(DTYPES[found.kind])) if isinstance(found, Number) else None
        case Array(dtype=str() as dtype, dims=tuple() as dims):
            return types.Array(numba.from_dtype(np.dtype(dtype)), len(dims), "A")
        case Tuple(items=items):
            parts = [type_of_kind(k) for k in items]
            return None if None in parts else types.Tuple(parts)
    return None
