"""Run-time helpers for statements on values of unknown kind: `x += v` and `a, b = x`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from types import FunctionType
from typing import Any

import numpy as np

from ..transforms.errors import NonDifferentiableError, UnsupportedSyntaxError
from ..transforms.trees.helpers import refuse_iterator
from ..values.libraries import has_dtype, is_any_array, is_other_array, library_of, other_array
from ..values.objects import dict_like, fields_of, is_plain, lookup, mirror, own_methods, shadows_fields
from ..values.pytree import is_differentiable, map_structure
from .adjoints import add, copy_adjoint, refuse_operators, zeros_like
from .reachable_arrays import CONTAINERS, FUNCTIONS, held_in
from .records import held_by

__all__ = [
    "NO_PAIR",
    "add_into",
    "add_parts",
    "captured_alone",
    "captured_part",
    "cast_like",
    "held_at",
    "kept",
    "mask_like",
    "of_elements",
    "of_operand",
    "of_same_dtype",
    "of_sequence",
    "outer_array",
    "own_tangent",
    "pack_like",
    "recorded",
    "refuse_element",
    "refuse_elements",
    "refuse_held",
    "refuse_held_twice",
    "refuse_key",
    "refuse_lookup",
    "refuse_new_key",
    "refuse_no_array",
    "refuse_no_list",
    "refuse_no_pair",
    "refuse_other_array",
    "refuse_overlap",
    "refuse_shared",
    "repeated",
    "shares_alike",
    "stored_in",
    "times_repeated",
    "with_zeros",
    "without_integers",
    "writable",
    "zero_item",
]


def stored_in(value: Any, x: Any) -> Any:
    """The value of `x` after an in-place operator with the result `value`: in the dtype of an array `x`. A
    set is changed itself.

    Raises ValueError or TypeError, as NumPy does, when the result does not fit into the array.
    """
    if isinstance(x, set) and isinstance(value, set):
        x.clear()
        x.update(value)
        return x
    if not has_dtype(x) or isinstance(x, np.generic):
        return value
    if value.shape != x.shape:
        raise ValueError(
            f"an in-place result of shape {value.shape} does not fit into an array of shape {x.shape}"
        )
    if not np.can_cast(value.dtype, x.dtype, "same_kind"):
        raise TypeError(
            f"an in-place result of dtype {value.dtype} does not fit into an array of dtype {x.dtype}"
        )
    if not isinstance(x, np.ndarray):
        return value.astype(x.dtype, copy=False)
    return np.asarray(value, dtype=x.dtype)  # of no dimensions a sum is a number


def cast_like(value: Any, x: Any) -> Any:
    """A result that NumPy writes into the array `x`, in the dtype of `x`.

    Raises TypeError when that would be another kind of number, as NumPy does.
    """
    value = np.asarray(value)
    if not np.can_cast(value.dtype, x.dtype, "same_kind"):
        raise TypeError(f"a result of dtype {value.dtype} does not fit into an array of dtype {x.dtype}")
    return value.astype(x.dtype, copy=False)


def of_same_dtype(value: Any, x: Any) -> Any:
    """`value`, the result of a call with `out=x`.

    Raises UnsupportedSyntaxError when its dtype is not that of `x`: with `out`, NumPy may compute in that.
    """
    dtype = np.asarray(value).dtype
    if dtype != x.dtype:
        raise UnsupportedSyntaxError(
            f"a result of dtype {dtype} written into an array of dtype {x.dtype}",
            why="NumPy may compute it in the dtype of the array",
            instead="store it with `a[...] = result`",
        )
    return value


def mask_like(where: Any, x: Any) -> Any:
    """A mask as one of the shape of the array `x`."""
    return np.broadcast_to(np.asarray(where, dtype=bool), x.shape)


def held_at(base: Any, index: Any) -> Any:
    """The item of a container at an index; None for a key that a dict does not have."""
    return base.get(index) if isinstance(base, dict) else base[index]


def captured_part(d: Any, key: str, x: Any) -> Any:
    """The part of the adjoint of a function that belongs to a captured variable with value `x`; zero for a
    function that was never called.
    """
    part = None if d is None else d[key]
    return zeros_like(x) if part is None else part


def captured_alone(dx: Any, d: Any, key: str) -> Any:
    """An adjoint of a function like `d`: `dx` for one captured variable, zero for the others."""
    return None if d is None else {k: dx if k == key else zeros_like(v) for k, v in d.items()}


def zero_item(base: Any, value: Any) -> Any:
    """The zero tangent of an inactive `value` that is stored into `base`."""
    return 0 if has_dtype(base) else zeros_like(value)


def own_tangent(dx: Any, x: Any) -> Any:
    """A copy of the tangent of an argument that is changed, in the memory layout of the argument."""
    if isinstance(x, np.ndarray):
        new = np.empty_like(x)
        new[...] = dx
        return new
    return copy_adjoint(dx)


def kept(x: Any) -> Any:
    """A copy of an argument that is changed after the call, as a residual of the call.

    Raises UnsupportedSyntaxError for a function or another object, which may hold a changed array.
    """
    if isinstance(x, (tuple, list, dict)):
        return map_structure(kept, x)
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, (int, float, complex, np.generic, str, bytes)) or x is None:
        return x
    raise UnsupportedSyntaxError(
        f"a call with an object of type {type(x).__name__} that may hold an array that is changed later",
        why="the derivative of the call needs the old values",
        instead="make a new array in the place of the change",
    )


def refuse_shared(x: Any) -> None:
    """Raises UnsupportedSyntaxError if an in-place operator changes the object `x`: it may have aliases."""
    if isinstance(x, (int, float, complex, np.generic, tuple, str, bytes, frozenset)) or x is None:
        return
    library = library_of(x)
    if library is not None and library.rebinds:
        return
    raise UnsupportedSyntaxError(
        f"an in-place update of an object of type {type(x).__name__} that others may hold",
        why="the change would be seen there, and following it is not supported",
        instead="write `x = x + ...`, which makes a new object",
    )


def refuse_no_list(x: Any) -> None:
    """Raises UnsupportedSyntaxError if `x` does not append items and take the last one as a list does."""
    cls: Any = type(x)
    is_list = isinstance(x, list) or (isinstance(x, deque) and x.maxlen is None)
    if not is_list or own_methods(cls):
        raise UnsupportedSyntaxError(
            f"`append` or `pop` of a {cls.__name__}, whose class is known at run time only",
            why="what the method changes is not known",
            instead="use a list",
        )


def refuse_no_array(x: Any, name: str) -> None:
    """Raises NonDifferentiableError if the attribute of `x`, which is read as an array's, may be another one
    that carries a derivative.
    """
    found = lookup(type(x), name) if isinstance(x, np.ndarray) else None
    function = found.fget if isinstance(found, property) else found
    own = isinstance(function, FunctionType) and not function.__module__.startswith("numpy")
    if not own and (isinstance(x, (int, float, complex)) or has_dtype(x)):
        return
    if shadows_fields(member := lookup(type(x), name)) and member is lookup(object, name):
        return  # `__class__`, of all objects
    held = fields_of(x) if is_plain(type(x)) else {}
    if name not in held or zeros_like(held[name]) is not None:
        raise NonDifferentiableError(
            f"the attribute `{name}` of a {type(x).__name__}, whose class is known at run time only",
            why="arrays have an attribute of this name, and this one may carry a derivative",
            instead="give the attribute another name, or pass its value as an argument of its own",
        )


def refuse_held(base: Any, index: Any) -> None:
    """Raises UnsupportedSyntaxError if the item that an augmented assignment changes may have aliases."""
    if not has_dtype(base):
        refuse_shared(base[index])


def outer_array(x: Any) -> Any:
    """An array of an outer scope that the function writes to."""
    return x


OVERLAP = (
    "two arguments share memory, and the function writes to one of them",
    None,
    "they would have one gradient between them",
    "pass copies, or the array once",
)


def refuse_overlap(written: tuple[Any, ...], others: tuple[Any, ...]) -> None:
    """Raises NonDifferentiableError if one of the written arguments shares memory with another argument or
    with an array of an outer scope.
    """
    _refuse_overlap([a for x in written for a in held_in(x)], held_in(others, True))


def refuse_held_twice(written: tuple[Any, ...], others: tuple[Any, ...]) -> None:
    """As `refuse_overlap`, where lists, dicts or deques of the written arguments are changed; raises
    NonDifferentiableError also if these hold one in two places, or something else holds it.
    """
    _refuse_functions(written)
    changed, rest = [a for x in written for a in held_in(x)], held_in(others, True)
    _refuse_overlap(changed, rest)
    seen = {id(x) for x in rest}
    for x in changed:
        if isinstance(x, CONTAINERS):
            if id(x) in seen:
                raise NonDifferentiableError(
                    f"a {type(x).__name__} that is held in two places, and that the function may change",
                    why="the change would be seen in both, and following it is not supported",
                    instead="pass copies, or return the new value",
                )
            seen.add(id(x))


def _refuse_functions(written: tuple[Any, ...]) -> None:
    """Raises NonDifferentiableError if a function that the written arguments hold reads a part of them."""
    parts: set[int] = set()
    functions: list[Any] = []
    todo: list[Any] = [*written]
    while todo:
        x = todo.pop()
        if isinstance(x, FUNCTIONS):
            functions.append(x)
        elif id(x) not in parts and not isinstance(x, (str, np.ndarray)):
            held = [*held_by(x)]
            parts |= {id(x)} if held else set()
            todo += held
    seen: set[int] = set()
    while functions:
        x = functions.pop()
        if id(x) in parts:
            raise NonDifferentiableError(
                f"a held function that reads a {type(x).__name__}, of which the function may change a part",
                why="the change would be seen there, and following it is not supported",
                instead="make it a method, or pass it the value as an argument",
            )
        if id(x) not in seen:
            seen.add(id(x))
            functions += held_by(x)


def _refuse_overlap(changed: list[Any], rest: list[Any]) -> None:
    arrays = [a for a in changed if isinstance(a, np.ndarray)]
    others = [a for a in rest if isinstance(a, np.ndarray)] if arrays else []
    for k, a in enumerate(arrays):
        if any(_overlap(a, b) for b in (*arrays[k + 1 :], *others)):
            raise NonDifferentiableError(*OVERLAP)


def _overlap(a: Any, b: Any) -> bool:
    shares_memory: Any = np.shares_memory  # releases of NumPy disagree about the type of `max_work`
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(shares_memory(a, b, max_work=10_000))
    except np.exceptions.TooHardError:
        return True


def shares_alike(out: Any, dout: Any, given: tuple[Any, ...], tangents: tuple[Any, ...]) -> bool:
    """Whether the tangent of the result of a call shares memory with those of the operands as the result does
    with the operands; False where the result shares none.

    Raises UnsupportedSyntaxError where the result shares memory and its tangent does not, or not as it does.
    """

    held, dheld = _holders(out), _holders(dout)
    pairs = [(held[k], dheld[k]) for k in held.keys() & dheld.keys()]
    operands = [(_holders(x).values(), _holders(dx).values()) for x, dx in zip(given, tangents, strict=True)]
    expected = [[any(_is_shared(x, y) for y in mine) for mine, _ in operands] for x, _ in pairs]
    if expected == [[any(_is_shared(dx, y) for y in mine) for _, mine in operands] for _, dx in pairs]:
        return True
    if any(map(any, expected)):
        raise UnsupportedSyntaxError(
            "a call whose result shares memory with an argument, where one of them is changed in place",
            why="the tangent of the result does not share the memory of the argument's tangent",
            instead="return a copy of the argument, or make a new array in the place of the change",
        )
    return False


def _is_shared(a: Any, b: Any) -> bool:
    are_arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return np.may_share_memory(a, b) if are_arrays else a is b


def _holders(x: Any) -> dict[tuple[Any, ...], Any]:
    """The arrays and the mutable containers and objects in a value, by their places in it; for a function
    those that it has captured.
    """
    found: dict[tuple[Any, ...], Any] = {}
    seen: set[int] = set()
    todo: list[tuple[tuple[Any, ...], Any]] = [((), x)]
    while todo:
        place, x = todo.pop()
        parts: Any = ()
        match x:
            case np.ndarray():
                found[place] = x
            case dict():
                parts = x.items()
            case list() | tuple():
                parts = enumerate(x)
            case FunctionType():
                cells = [cell.cell_contents for cell in x.__closure__ or ()]
                parts = enumerate([*cells, x.__defaults__, x.__kwdefaults__])
            case _ if is_plain(type(x)):
                parts = fields_of(x).items()
        if parts and id(x) not in seen:
            seen.add(id(x))
            if not isinstance(x, (tuple, FunctionType)):
                found[place] = x
            todo += [((*place, key), part) for key, part in parts]
    return found


def writable(view: Any) -> Any:
    """A view that NumPy makes read-only, made writable."""
    view.flags.writeable = True
    return view


def add_into(dx: Any, v: Any) -> None:
    """Adds the adjoint `v` to the arrays and lists that the adjoint `dx` of a container or object holds."""
    if is_plain(type(dx)):
        held = fields_of(dx)
        add_into(held, fields_of(v))
        for name, value in held.items():
            object.__setattr__(dx, name, value)
        return
    for key in dx if isinstance(dx, dict) else range(len(dx)):
        part = v[key]
        if part is None:
            continue
        if isinstance(dx[key], np.ndarray):
            dx[key][...] += part
        elif isinstance(dx[key], (list, tuple, dict)) or is_plain(type(dx[key])):
            add_into(dx[key], part)
        else:
            dx[key] = add(dx[key], part)


def pack_like(x: Any, *parts: Any) -> Any:
    """The adjoint of `x` from those of the parts that it was unpacked into."""
    if is_any_array(x):
        packed = zeros_like(x)
        for k, part in enumerate(parts):
            packed[k] = part
        return packed
    if isinstance(x, list):
        return list(parts)
    if isinstance(x, tuple):
        return x._make(parts) if hasattr(x, "_make") else tuple(parts)
    raise UnsupportedSyntaxError(
        f"an object of type {type(x).__name__} that is taken apart into values that carry derivatives",
        why="what its iterator does with it is not followed",
        instead="read its attributes by name",
    )


def repeated(x: Any, count: Any) -> Any:
    """`x * count` for a sequence and an integer."""
    return x * count


def times_repeated(count: Any, x: Any) -> Any:
    """`count * x` for an integer and a sequence."""
    return count * x


def add_parts(parts: Any, x: Any) -> Any:
    """The adjoint of the sequence `x` from that of the sequence in which it is repeated."""
    total: Any = [None] * len(x)
    for k, part in enumerate(parts):
        total[k % len(x)] = add(total[k % len(x)], part)
    total = [zeros_like(v) if t is None else t for t, v in zip(total, x, strict=True)]
    return total if isinstance(x, list) else tuple(total)


def of_elements(dx: Any, x: Any) -> Any:
    """The tangents of the elements that a loop over `x` binds: zeros for the keys of a dict, None where `x`
    has no tangent.
    """
    if isinstance(x, Mapping):
        return [*map(zeros_like, x)]
    return repeat(None) if dx is None else dx


def of_sequence(d: Any, dx: Any, x: Any) -> Any:
    """The transpose of `of_elements`: the cotangent of the tangent `dx` from that of the elements."""
    return zeros_like(dx) if isinstance(x, Mapping) or dx is None else d


def refuse_lookup(base: Any) -> None:
    """Raises UnsupportedSyntaxError if `base` is no array or container: `base[x]` may compute anything of x.
    """
    if not isinstance(base, (np.ndarray, np.generic, Sequence, Mapping)) and not hasattr(base, "__array__"):
        raise UnsupportedSyntaxError(
            f"a look-up by a value that carries a derivative, in a {type(base).__name__}",
            why="the object may compute anything from the value",
            instead="call a function that has a rule or readable source",
        )


def refuse_other_array(x: Any, shown: str, is_changed: bool = False) -> None:
    """Raises NonDifferentiableError if `x`, the expression `shown`, is an array with operations of its own,
    or a list or tuple with one; with `is_changed` also for one of objects or with fields, whose adjoint is
    none.
    """
    cls = type(x)
    if is_changed and cls is np.ndarray and x.dtype.kind in "VO":
        raise NonDifferentiableError(
            f"a value that carries a derivative is stored in `{shown}`, an array of type {x.dtype}",
            why="only the elements of arrays of numbers have derivatives",
            instead="store it in an array of floats, one for each field, or in a list",
        )
    if cls is list or cls is tuple:
        for k, item in enumerate(x):
            if type(item) not in PLAIN:
                refuse_other_array(item, f"{shown}[{k}]")
    elif cls not in PLAIN and is_other_array(cls):
        what, why, instead = other_array(cls, shown)
        raise NonDifferentiableError(what, why=why, instead=instead)


PLAIN = frozenset({float, int, bool, complex, np.ndarray, np.float64})


NO_PAIR = (
    "with `has_aux=True` the function returns a tuple of two, (value, aux)",
    "it returns something else",
    "return `value, aux`, or leave `has_aux` out",
)


def refuse_no_pair(out: Any) -> None:
    """Raises UnsupportedSyntaxError if `out` is no `(value, aux)`."""
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        what, why, instead = NO_PAIR
        raise UnsupportedSyntaxError(what, why=why, instead=instead)


def refuse_key(base: Any, key: Any, heap: Any = None) -> None:
    """Raises UnsupportedSyntaxError if `base` is a dict with a key of active numbers: a cache, whose value
    depends on them. A dict that the function itself made is accepted.
    """
    is_outer = isinstance(base, Mapping) and (heap is None or not heap.is_own(base))
    if is_outer and _has_numbers(key) and key in base:
        raise UnsupportedSyntaxError(
            "a look-up by a value that carries a derivative, in a dict that carries none",
            why="the dict may be a cache, whose items an earlier call computed from such a value: their "
            "derivative is lost",
            instead="empty the cache, or compute the value; for a table look it up by an integer or a string",
        )


def refuse_element(x: Any) -> None:
    """Raises UnsupportedSyntaxError for an element of a set that carries a derivative, or may hold one."""
    if isinstance(x, (tuple, frozenset)):
        for part in x:
            refuse_element(part)
    elif is_differentiable(x) or is_plain(type(x)):
        raise UnsupportedSyntaxError(
            "a set of values that carry derivatives",
            why="its elements have no order, and so derivatives have no place",
            instead="use a list or a dict",
        )


def refuse_elements(xs: Any) -> None:
    """As `refuse_element`, for each of the items that a set is made of; the keys of a dict carry none."""
    if not isinstance(xs, (dict, str)):
        refuse_iterator(xs)
        for x in xs:
            refuse_element(x)


def refuse_new_key(*keys: Any) -> None:
    """Raises UnsupportedSyntaxError for keys with floating-point numbers; a list is one of keys or pairs."""
    if any(map(_has_numbers, keys)) or any(isinstance(k, list) and any(map(_has_numbers, k)) for k in keys):
        raise UnsupportedSyntaxError(
            "a value that carries a derivative as a key of a dict, where keys are read",
            why="the keys of a dict carry no derivative",
            instead="keep the values in a list, and give the dict their positions",
        )


def _has_numbers(key: Any) -> bool:
    if isinstance(key, (tuple, frozenset)):
        return any(map(_has_numbers, key))
    return isinstance(key, (float, complex, np.inexact)) or (is_plain(type(key)) and _is_by_value(key))


def _is_by_value(key: Any) -> bool:
    """Whether an object compares by its numbers, and not by identity."""
    is_same = getattr(type(key), "__eq__", None) is object.__eq__
    return not is_same and any(map(_has_numbers, fields_of(key).values()))


def of_operand(dx: Any, x: Any) -> Any:
    """The tangent `dx` of `x`, an operand; zero for an integer without one, and for a text.

    Raises NonDifferentiableError for the tangent of an object with operators of its own, and for a number
    whose tangent is not known, as an estimate of an error.
    """
    if dx is not None:
        refuse_operators(x)
        return dx
    if _is_integer(x):
        return zeros_like(x)
    if isinstance(x, (str, bytes)):
        return 0.0
    if (has_dtype(x) or isinstance(x, (int, float, complex))) and zeros_like(x) is not None:
        raise NonDifferentiableError(
            f"a derivative through a value of type {type(x).__name__} that a function returned",
            why="the rule of the function gives no derivative for this part of its result",
            instead="use the other parts, or stop_gradient",
        )
    return None


def without_integers(dx: Any, x: Any) -> Any:
    """The derivative `dx` of `x` as users get it: None in the place of integers and booleans, and of objects
    without any other numbers.
    """
    if dx is None or _is_integer(x):
        return None
    if not (isinstance(x, (tuple, list, dict)) or is_plain(type(x))):
        return dx
    made = _paired(without_integers, dx, x)
    is_nothing = is_plain(type(x)) and all(v is None for v in fields_of(made).values())
    return None if is_nothing else made


def with_zeros(dx: Any, x: Any) -> Any:
    """The transpose of `without_integers`: the derivative of `x` with zeros in the place of integers."""
    if dx is None or _is_integer(x):
        return zeros_like(x)
    return _paired(with_zeros, dx, x) if isinstance(x, (tuple, list, dict)) or is_plain(type(x)) else dx


def recorded(x: Any) -> Any:
    """The argument itself; a mark, for the value that is stored where nothing reads it."""
    return x


def _is_integer(x: Any) -> bool:
    """Whether a value is an integer, a boolean, or an array of these."""
    return isinstance(x, int) or (has_dtype(x) and x.dtype.kind in "iub")


def _paired(f: Callable[[Any, Any], Any], dx: Any, x: Any) -> Any:
    """The container `x`, or an adjoint of the object `x`, with `f` of each part and its derivative."""
    match x:
        case tuple() | list():
            items = [f(d, v) for d, v in zip(dx, x, strict=True)]
            return items if isinstance(x, list) else x._make(items) if hasattr(x, "_make") else tuple(items)
        case dict():
            return dict_like(x, {k: f(dx[k], v) for k, v in x.items()})
    held = fields_of(dx)
    return mirror(x, {k: f(held[k], v) for k, v in fields_of(x).items()})
