"""Checks of the tangents and cotangents that users pass.

Contract: the result has the structure, shapes, dtypes and memory layouts of its primal, so that generated
code need not check. All raise NonDifferentiableError.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

import numpy as np

from ..source.pickling import pickled_function, restored_function
from ..transforms.errors import NonDifferentiableError
from ..values.libraries import has_dtype, is_other_array, library_of, other_array
from ..values.objects import dict_like, fields_of, make
from .adjoints import zeros_like
from .border import refuse_crash, show_users_frames
from .saved import SavedValues, saved_by

__all__ = ["Bprop", "cotangent_like", "tangent_like", "unshared"]


def tangent_like(primal: Any, tangent: Any, name: str, what: str = "tangent") -> Any:
    """The tangent with the structure and the dtypes of `primal`. Errors call these `what` and `name`.

    The tangent None is zero, and that of an inactive value None or zero. The tangent of any other object,
    such as a function, is returned as it is.
    """
    if tangent is None and what == "tangent":
        return zeros_like(primal)
    cls = type(primal)
    is_same = cls is type(tangent)
    if is_same and cls in (float, np.float64):
        return tangent
    if is_same and cls is np.ndarray and is_alike(primal, tangent):
        return tangent if tangent.strides == primal.strides else _in_layout(primal, tangent)
    if isinstance(primal, (tuple, list, dict)) or _is_dataclass(primal):
        return _mirrored(primal, tangent, name, what)
    dtype = primal.dtype if has_dtype(primal) else None
    if dtype is None:
        if not isinstance(primal, (bool, int, float, complex, str, bytes, type(None))):
            return tangent
        dtype = np.result_type(primal) if isinstance(primal, (bool, int, float, complex)) else None
    elif tangent is None and not hasattr(primal, "__array__"):  # an operator, which has the dtype of arrays
        return None
    if dtype is not None and dtype.kind == "O" and tangent is not None:
        raise NonDifferentiableError(
            f"a {what} was given for `{name}`, an array of objects",
            why="what its elements carry is not followed",
            instead="use a list, or an array of floats",
        )
    if dtype is None or dtype.kind not in "fc":
        if what == "tangent":
            _refuse_nonzero(primal, tangent, name)
        return zeros_like(primal)
    return _number(primal, dtype, tangent, name, what)


def _in_layout(primal: Any, tangent: Any) -> Any:
    """The tangent in the memory layout of its primal: where that has a view without a copy, so has this."""
    made = np.empty_like(primal)
    if tangent.strides == made.strides:
        return tangent
    made[...] = tangent
    return made


def is_alike(x: Any, y: Any) -> bool:
    """Whether two arrays are of one floating dtype and shape."""
    return x.dtype is y.dtype and x.shape == y.shape and x.dtype.kind in "fc"


def _number(primal: Any, dtype: Any, tangent: Any, name: str, what: str) -> Any:
    """The tangent of a number or array of this floating dtype."""
    if tangent is None:
        raise NonDifferentiableError(
            f"the {what} of `{name}` is None", instead="give zeros, of the shape of the result"
        )
    if is_other_array(type(tangent)):
        told, why, _ = other_array(type(tangent), f"the {what} of {name}")
        raise NonDifferentiableError(told, why=why, instead="give an array of NumPy's")
    if library_of(tangent) != library_of(primal):
        if np.ndim(primal) == 0 and isinstance(tangent, (int, float, complex)):
            return np.full_like(primal, tangent)
        raise NonDifferentiableError(
            f"the {what} of `{name}` is a {type(tangent).__name__}, `{name}` itself is a "
            f"{type(primal).__name__}",
            instead=f"give a {what} of that type",
        )
    if has_dtype(tangent):
        if tangent.dtype == dtype and tangent.shape == np.shape(primal):
            return tangent
        given = tangent
    else:
        if type(tangent) is float and isinstance(primal, float):
            return tangent
        given = np.asarray(tangent)
    if given.shape != np.shape(primal):
        raise NonDifferentiableError(
            f"the {what} of `{name}` has shape {given.shape}, `{name}` itself {np.shape(primal)}",
            instead=f"give a {what} of that shape",
        )
    if given.dtype.kind not in ("biufc" if dtype.kind == "c" else "biuf"):
        raise NonDifferentiableError(
            f"the {what} of `{name}` is of type {_type_name(tangent)}, `{name}` itself of type {dtype}",
            instead=f"give a {what} of that type",
        )
    if not has_dtype(primal):
        return float(tangent) if isinstance(primal, float) else complex(tangent)
    made = given.astype(dtype)
    return made[()] if isinstance(primal, np.generic) else made


def _refuse_nonzero(primal: Any, tangent: Any, name: str) -> None:
    """Raises unless the tangent of an inactive value, such as an integer, is None or zero."""
    if tangent is None or (_is_number(tangent) and library_of(tangent) is None and not np.any(tangent)):
        return
    raise NonDifferentiableError(
        f"a tangent was given for `{name}`, which is of type {_type_name(primal)}",
        why="integers, booleans and other values that are not floating-point numbers carry no derivative",
        instead=f"pass a float (or an array of floats) for `{name}`, or None as its tangent",
    )


def _mirrored(primal: Any, tangent: Any, name: str, what: str) -> Any:
    """The tangent of a container: the same container, of tangents."""
    is_dict = isinstance(primal, dict) and isinstance(tangent, dict)
    if type(tangent) is not type(primal) and not is_dict:
        if tangent is None and not _has_floats(primal):
            return zeros_like(primal)
        raise _misfit(f"is a {_type_name(tangent)}, `{name}` itself a {_type_name(primal)}", name, what)
    if isinstance(primal, dict):
        if tangent.keys() != primal.keys():
            raise _misfit(f"has the keys {[*tangent]}, `{name}` itself {[*primal]}", name, what)
        items = {k: tangent_like(v, tangent[k], f"{name}[{k!r}]", what) for k, v in primal.items()}
        return dict_like(primal, items)
    if _is_dataclass(primal):
        parts = {n.name: (getattr(primal, n.name), getattr(tangent, n.name)) for n in fields(primal)}
        given = {k: tangent_like(*v, f"{name}.{k}", what) for k, v in parts.items()}
        return make(type(tangent), {**fields_of(tangent), **given})
    if len(tangent) != len(primal):
        raise _misfit(f"has {len(tangent)} elements, `{name}` itself {len(primal)}", name, what)
    pairs = enumerate(zip(primal, tangent, strict=True))
    found = [tangent_like(p, t, f"{name}[{k}]", what) for k, (p, t) in pairs]
    if isinstance(primal, list):
        return found
    return type(primal)._make(found) if hasattr(primal, "_make") else tuple(found)


def _misfit(how: str, name: str, what: str) -> NonDifferentiableError:
    return NonDifferentiableError(f"the {what} of `{name}` {how}", instead=f"give a {what} of that structure")


# ---------------------------------------------------------------- cotangents


def cotangent_like(dout: Any, out: Any, name: str) -> Any:
    """The cotangent with the structure and the dtypes of the result of `name`; None for inactive values."""
    if type(out) is int and isinstance(dout, (int, float)):
        return float(dout)  # `max(0, x)` is an int on one path, a float on the other
    return tangent_like(out, dout, f"{name}(...)", "cotangent")


class Bprop:
    # A `bprop` for users; it checks the cotangent and calls `__wrapped__`, the generated function.

    __slots__ = ("__wrapped__", "_function", "_name", "_out", "_qualname")

    def __init__(self, bprop: Any, out: Any, name: str, qualname: str) -> None:
        self.__wrapped__, self._out, self._name, self._qualname = bprop, out, name, qualname
        self._function: Callable[[Any], Any] | None = None

    def __call__(self, dout: Any) -> Any:
        try:
            try:
                return self.__wrapped__(cotangent_like(dout, self._out, self._name))
            except Exception as error:
                refuse_crash(error, f"in the `bprop` of {self._name}")
                raise
        except Exception as error:
            show_users_frames(error)
            raise  # bare: it adds no frame

    @property
    def function(self) -> Callable[[Any], Any]:
        """A plain function that does the same as a call, to be differentiated."""
        if self._function is not None:
            return self._function
        if not isinstance(self.__wrapped__, FunctionType):
            raise NonDifferentiableError(
                f"{self!r} is compiled, and is differentiated",
                why="what it reads is in machine code's memory",
                instead="leave `compile` out",
            )
        bprop, out, name = self.__wrapped__, self._out, self._name

        def checked(dout: Any) -> Any:
            return bprop(cotangent_like(dout, out, name))

        self._function = checked
        return checked

    @property
    def saved(self) -> SavedValues:
        """What it holds for its calls: the name, the bytes and the line of each variable, largest first."""
        return saved_by(self.__wrapped__)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return (
            f"Takes a cotangent like the result of `{self._name}` to the cotangents of its arguments: a "
            "tuple, with None for what carries no derivative; for a single `argnums` just that one. It may "
            "be called any number of times."
        )

    def __get__(self, instance: Any, owner: type | None = None) -> Bprop:
        return self  # it binds nothing; `help` takes what has this for a function

    def __getattr__(self, name: str) -> Any:
        if name in ("__name__", "__qualname__", "__module__"):
            return getattr(self.__wrapped__, name)
        raise AttributeError(f"{self!r} has no attribute {name!r}")

    def __reduce__(self) -> Any:
        if not isinstance(self.__wrapped__, FunctionType):
            raise NonDifferentiableError(
                f"{self!r} is compiled, and is pickled or copied",
                why="what it reads is in machine code's memory",
                instead="call `vjp` again where it is needed, or leave `compile` out",
            )
        return _restored_bprop, (pickled_function(self.__wrapped__), self._out, self._name, self._qualname)

    def __repr__(self) -> str:
        return f"<bprop of {self._qualname}>"


def _restored_bprop(packed: Any, out: Any, name: str, qualname: str) -> Bprop:
    return Bprop(restored_function(packed), out, name, qualname)


# ---------------------------------------------------------------- results


def unshared(tangent: Any, given: tuple[Any, ...]) -> Any:
    """The tangent of a result, its arrays copied where they are views of tangents that were given."""
    if type(tangent) in (float, np.float64):
        return tangent
    owners: set[int] = set()
    for part in given:
        _note_owners(part, owners)
    return _copied(tangent, owners) if owners else tangent


def _note_owners(x: Any, owners: set[int]) -> None:
    if isinstance(x, np.ndarray):
        owners.add(id(_owner(x)))
    elif isinstance(x, (tuple, list, dict)):
        for part in x.values() if isinstance(x, dict) else x:
            _note_owners(part, owners)
    elif _is_dataclass(x):
        for n in fields(x):
            _note_owners(getattr(x, n.name), owners)


def _copied(x: Any, owners: set[int]) -> Any:
    if isinstance(x, np.ndarray):
        return x.copy() if id(_owner(x)) in owners else x
    if isinstance(x, dict):
        return {k: _copied(v, owners) for k, v in x.items()}
    if isinstance(x, (tuple, list)):
        items = [_copied(v, owners) for v in x]
        return type(x)._make(items) if hasattr(x, "_make") else type(x)(items)
    if _is_dataclass(x):
        return make(type(x), {k: _copied(v, owners) for k, v in fields_of(x).items()})
    return x


def _owner(x: Any) -> Any:
    """The object whose memory an array is a view of."""
    while isinstance(x, np.ndarray) and x.base is not None:
        x = x.base
    return x


def _has_floats(x: Any) -> bool:
    if isinstance(x, (tuple, list, dict)):
        return any(map(_has_floats, x.values() if isinstance(x, dict) else x))
    if _is_dataclass(x):
        return any(_has_floats(getattr(x, n.name)) for n in fields(x))
    return isinstance(x, (float, complex)) or (has_dtype(x) and x.dtype.kind in ("f", "c"))


def _is_dataclass(x: Any) -> bool:
    return is_dataclass(x) and not isinstance(x, type)


def _is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex)) or has_dtype(x)


def _type_name(x: Any) -> str:
    return str(x.dtype) if has_dtype(x) else type(x).__name__
