"""Arrays of no known library, around NumPy's: strict ones, which NumPy's protocols reach and nothing else.

Every implicit conversion is an error, as with arrays on a GPU: to NumPy's arrays, of arrays with axes to
numbers, and by operands that are NumPy's arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["Lazy", "Strict", "plain", "wrapped"]

NUMBERS = (bool, int, float, complex, np.generic)


class Strict:
    """A strict array. Slices are views, and arithmetic never gives a number."""

    __slots__ = ("_data",)
    _data: Any

    def __init__(self, data: Any) -> None:
        self._data = np.asarray(data)

    shape = property(lambda self: self._data.shape)
    dtype = property(lambda self: self._data.dtype)
    ndim = property(lambda self: self._data.ndim)
    size = property(lambda self: self._data.size)
    itemsize = property(lambda self: self._data.itemsize)
    nbytes = property(lambda self: self._data.nbytes)
    T = property(lambda self: type(self)(self._data.T))
    mT = property(lambda self: type(self)(self._data.mT))
    real = property(lambda self: type(self)(self._data.real))
    imag = property(lambda self: type(self)(self._data.imag))

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise TypeError("implicit conversion to a NumPy array")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"

    def _number(self, convert: Callable[[Any], Any]) -> Any:
        if self.ndim:
            raise TypeError("only an array without axes is a number")
        return convert(self._data[()])

    def __float__(self) -> float:
        return float(self._number(float))

    def __int__(self) -> int:
        return int(self._number(int))

    def __complex__(self) -> complex:
        return complex(self._number(complex))

    def __bool__(self) -> bool:
        return bool(self._number(bool))

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return self._wrap(self._data[self._operand(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, (*NUMBERS, type(self))):
            raise TypeError(f"a {type(value).__name__} is stored into a {type(self).__name__}")
        self._data[self._operand(index)] = self._operand(value)

    def _operand(self, x: Any) -> Any:
        """What NumPy computes with in place of an operand, or of a part of an argument."""
        if isinstance(x, Strict):
            if type(x) is not type(self):
                raise TypeError("arrays of two libraries")
            return x._data
        if isinstance(x, np.ndarray):
            raise TypeError(f"a NumPy array meets a {type(self).__name__}")
        if isinstance(x, (tuple, list)):
            return type(x)(map(self._operand, x))
        return x

    def _wrap(self, x: Any) -> Any:
        if isinstance(x, (np.ndarray, np.generic)):
            return type(self)(x)
        if isinstance(x, tuple) and hasattr(x, "_make"):
            return x._make(map(self._wrap, x))
        return type(x)(map(self._wrap, x)) if isinstance(x, (tuple, list)) else x

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        if any(not isinstance(x, (*NUMBERS, type(self))) for x in inputs) and method in ("__call__", "outer"):
            return NotImplemented
        given = {k: self._operand(v) for k, v in options.items()}
        if method not in ("__call__", "reduce", "accumulate", "outer") or out is not None:
            return NotImplemented
        return self._wrap(getattr(ufunc, method)(*map(self._operand, inputs), **given))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        given = {k: self._operand(v) for k, v in options.items()}
        return self._wrap(function(*map(self._operand, args), **given))


def _applied(f: Any, x: Any, y: Any) -> Any:
    if any(isinstance(v, np.ndarray) for v in (x, y)):
        raise TypeError("unsupported operand: a NumPy array")
    return f(x, y)


def _add_operator(name: str, f: Any) -> None:
    setattr(Strict, f"__{name}__", lambda x, y: _applied(f, x, y))
    if name not in COMPARED:
        setattr(Strict, f"__r{name}__", lambda x, y: _applied(f, y, x))


def _add_method(name: str) -> None:
    def method(self: Strict, *args: Any, **options: Any) -> Any:
        given = {k: self._operand(v) for k, v in options.items()}
        return self._wrap(getattr(self._data, name)(*map(self._operand, args), **given))

    setattr(Strict, name, method)


COMPARED = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal"}
COMPARED |= {"ne": "not_equal"}
BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "pow": "power"}
BINARY |= {"floordiv": "floor_divide", "mod": "remainder", "matmul": "matmul"}
BINARY |= {name: f"bitwise_{name}" for name in ("and", "or", "xor")}
METHODS = """reshape astype copy transpose sum mean prod max min var std dot cumsum cumprod squeeze swapaxes
ravel
    flatten clip round conj any all argmax argmin argsort take repeat diagonal trace nonzero __neg__ __pos__
    __abs__
    __invert__"""
for operator_, ufunc_ in {**BINARY, **COMPARED}.items():
    _add_operator(operator_, getattr(np, ufunc_))
for method_ in METHODS.split():
    _add_method(method_)


class Lazy(Strict):
    """An array that is computed later: no number may be asked of it, and slices are no views."""

    __slots__ = ()
    __s2sad_lazy__ = True

    def _number(self, convert: Callable[[Any], Any]) -> Any:
        raise TypeError("the number is not computed yet")

    def __getitem__(self, index: Any) -> Any:
        return self._wrap(self._data[self._operand(index)].copy())

    def __setitem__(self, index: Any, value: Any) -> None:
        self._data = self._data.copy()
        super().__setitem__(index, value)


def wrapped(x: Any, cls: type[Strict]) -> Any:
    """A value whose arrays, also in lists, tuples and dicts, are of this class."""
    if isinstance(x, np.ndarray):
        return cls(x)
    if isinstance(x, dict):
        return {k: wrapped(v, cls) for k, v in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_make"):
        return x._make(wrapped(v, cls) for v in x)
    return type(x)(wrapped(v, cls) for v in x) if type(x) in (list, tuple) else x


def plain(x: Any) -> Any:
    """A value whose arrays are NumPy's again."""
    if isinstance(x, Strict):
        return x._data
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return type(x)(map(plain, x)) if type(x) in (list, tuple) else x
