"""Arrays and tables with operations of their own: masked arrays, matrices, subclasses, columns, units.

An operation with what carries a derivative is refused, at the expression and in both modes; anything else may
be done with them.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program

X = np.array([0.5, 1.0, 1.5])
DATA = np.array([2.0, 3.0, 5.0])


class Log(np.ndarray):
    """A subclass whose `*` adds."""

    def __mul__(self, other: Any) -> Any:
        return np.asarray(self) + np.asarray(other)

    __rmul__ = __mul__


class Hooked(np.ndarray):
    """A subclass that takes over NumPy's functions."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(x)[::-1] if isinstance(x, Hooked) else x for x in inputs]
        return getattr(ufunc, method)(*plain, **options)


class Column:
    """As a column of a table: it aligns by labels."""

    def __init__(self, values: Any, labels: Any = (2, 0, 1)) -> None:
        self.values, self.labels = np.asarray(values), labels

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)

    def to_numpy(self) -> Any:
        return self.values

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [x.values[list(x.labels)] if isinstance(x, Column) else x for x in inputs]
        made = getattr(ufunc, method)(*plain, **options)
        return Column(made) if np.ndim(made) else made

    def __mul__(self, other: Any) -> Any:
        return np.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return np.multiply(other, self)

    def __rsub__(self, other: Any) -> Any:
        return np.subtract(other, self)

    def map(self, f: Callable[[Any], Any]) -> Any:
        return Column([f(v) for v in self.values])

    def dot(self, other: Any) -> Any:
        return np.sum(self * other)


class Table(dict[str, Column]):
    """Columns by name."""


class Tensor:
    """As arrays of a library with functions of its own."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values

    def __mul__(self, other: Any) -> Any:
        return Tensor(self.values * np.asarray(other) * 2.0)

    __rmul__ = __mul__
    __array_priority__ = 1000


def pandas_series(values: Any) -> Any:
    return pytest.importorskip("pandas").Series(values, index=[2, 0, 1])


MAKERS: dict[str, Callable[[Any], Any]] = {
    "masked": lambda v: np.ma.masked_array(v, mask=[False, True, False]),
    "matrix": lambda v: v.view(np.matrix),
    "subclass": lambda v: v.view(Log),
    "hooks": lambda v: v.view(Hooked),
    "column": Column,
    "tensor": Tensor,
    "pandas": pandas_series,
    "polars": lambda v: pytest.importorskip("polars").Series(v),
    "xarray": lambda v: pytest.importorskip("xarray").DataArray(v, dims="k"),
    "pint": lambda v: pytest.importorskip("pint").UnitRegistry().Quantity(v, "m"),
}
SHOWN: Any = None


# ---------------------------------------------------------------- where they are held


class Holder:
    def __init__(self, w: Any) -> None:
        self.w, self.inner = w, types.SimpleNamespace(w=w)
        self.items, self.table, self.many = [w], {"w": w}, [w] * 40
        self.pairs = [(0, w), (1, w)]

    def get(self) -> Any:
        return self.w

    @property
    def own(self) -> Any:
        return self.w


def by_argument(w: Any) -> Any:
    return lambda p: of_argument(p, w)


def of_argument(p: Any, w: Any) -> Any:
    return np.sum(p * w)


def by_default(w: Any) -> Any:
    def f(p: Any, w: Any = w) -> Any:
        return np.sum(p * w)

    return f


def by_attribute(w: Any) -> Any:
    h = Holder(w)
    return lambda p: np.sum(p * h.w)


def by_inner_attribute(w: Any) -> Any:
    h = Holder(w)
    return lambda p: np.sum(p * h.inner.w)


def by_property(w: Any) -> Any:
    h = Holder(w)
    return lambda p: np.sum(p * h.own)


def by_method(w: Any) -> Any:
    h = Holder(w)
    return lambda p: np.sum(p * h.get())


def by_item(w: Any) -> Any:
    h = Holder(w)
    return lambda p: np.sum(p * h.items[0])


def by_key(w: Any) -> Any:
    h = Holder(w)
    return lambda p: np.sum(p * h.table["w"])


def by_long_list(w: Any) -> Any:
    h = Holder(w)
    return lambda p: np.sum(p * h.many[3])


def by_loop(w: Any) -> Any:
    h = Holder(w)

    def f(p: Any) -> Any:
        total = 0.0
        for k, v in h.pairs:
            total = total + k * np.sum(p * v)
        return total

    return f


def by_long_loop(w: Any) -> Any:
    h = Holder(w)

    def f(p: Any) -> Any:
        total = 0.0
        for v in h.many:
            total = total + np.sum(p * v)
        return total

    return f


def by_function(w: Any) -> Any:
    made = {"w": w}
    return lambda p: np.sum(p * made.get("w"))


def by_global(w: Any) -> Any:
    globals()["SHOWN"] = w
    return of_global


def of_global(p: Any) -> Any:
    return np.sum(p * SHOWN)


def by_partial(w: Any) -> Any:
    import functools

    return functools.partial(of_argument, w=w)


def by_dynamic_call(w: Any) -> Any:
    fs = [of_argument]
    return lambda p: fs[0](p, w)


def by_branch(w: Any) -> Any:
    def f(p: Any) -> Any:
        v = w if p[0] > 0 else 2.0
        return np.sum(p * v)

    return f


def by_recursion(w: Any) -> Any:
    def f(p: Any, n: Any = 2) -> Any:
        if n == 0:
            return np.sum(p * w)
        return f(p * 2.0, n - 1)

    return f


PLACES = {f.__name__.removeprefix("by_"): f for f in (
    by_argument, by_default, by_attribute, by_inner_attribute, by_property, by_method, by_item, by_key,
    by_long_list, by_loop, by_long_loop, by_function, by_global, by_partial, by_dynamic_call, by_branch,
    by_recursion,
)}  # fmt: skip


def refused(f: Callable[[Any], Any], words: str = r"`.+` is an? \S+") -> None:
    """Both modes refuse a function."""
    for run in (s2sad.grad(f), lambda x: s2sad.vjp(f, x), lambda x: s2sad.jvp(f, (x,), (np.ones(3),))):
        with pytest.raises(s2sad.NonDifferentiableError, match=words):
            run(X.copy())


@pytest.mark.parametrize("made", ["masked", "column", "pandas"])
@pytest.mark.parametrize("place", PLACES)
def test_wherever_they_are_held(place: str, made: str) -> None:
    refused(PLACES[place](MAKERS[made](DATA)))


# ---------------------------------------------------------------- what is done with them

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda p, w: np.sum(p * w),
    "product from the left": lambda p, w: np.sum(w * p),
    "difference": lambda p, w: np.mean((p[0] - w) ** 2),
    "sum": lambda p, w: np.sum(p + w),
    "matrix product": lambda p, w: np.sum(p @ w),
    "matrix product from the left": lambda p, w: np.sum(w @ p),
    "dot": lambda p, w: np.sum(np.dot(w, p)),
    "a function": lambda p, w: np.sum(np.multiply(p, w)),
    "choice": lambda p, w: np.sum(np.where(w > 2.0, p, 0.0)),
    "chosen": lambda p, w: np.sum(np.where(p > 1.0, p, w)),
    "a list": lambda p, w: np.sum(np.stack([p, w])),
    "power": lambda p, w: np.sum(p**w),
    "update": lambda p, w: updated(p, w),
    "update of a part": lambda p, w: updated_part(p, w),
    "a computed one": lambda p, w: np.sum(p * (w * 2.0)),
}


def updated(p: Any, w: Any) -> Any:
    y = p * 2.0
    y += w
    return np.sum(y * y)


def updated_part(p: Any, w: Any) -> Any:
    y = p * 2.0
    y[1:] *= w[1:]
    return np.sum(y * y)


def refused_or_right(f: Callable[[Any], Any]) -> bool:
    """Whether both modes refuse a function; else their results are right."""
    try:
        refused(f)
    except pytest.fail.Exception:
        check_program(f, (X.copy(),), (0,))
        return False
    return True


@pytest.mark.parametrize("made", MAKERS)
def test_whatever_is_done_with_them(made: str) -> None:
    """Where the function itself can do it: only what is computed with plain arrays is not refused."""
    w = MAKERS[made](DATA)
    h, count = Holder(w), 0
    for f in OPERATIONS.values():
        try:
            f(X.copy(), w)
        except Exception:
            continue
        for g in (lambda p, f=f: f(p, w), lambda p, f=f: f(p, h.w), lambda p, f=f: f(p, h.many[0])):
            count += refused_or_right(g)
    assert count > 10


# ---------------------------------------------------------------- stores, tangents, and what may be done


def stored(w: Any) -> Any:
    def f(p: Any) -> Any:
        y = w.copy()
        y[0] = p[0]
        return np.mean(y * y)

    return f


def stored_in_result(w: Any) -> Any:
    def f(p: Any) -> Any:
        y = w * 2.0
        y[0] = p[0]
        return np.mean(y * y)

    return f


def by_own_method(w: Any) -> Any:
    return lambda p: np.sum(w.dot(p))


@pytest.mark.parametrize("make", [stored_in_result, by_own_method])
def test_stores_and_methods_are_refused(make: Any) -> None:
    refused(make(MAKERS["masked"](DATA)))


def test_a_store_into_a_copy_is_refused() -> None:
    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(stored(MAKERS["masked"](DATA)))(X)


def test_cotangents_and_tangents_are_plain_arrays() -> None:
    w = MAKERS["masked"](DATA)
    with pytest.raises(s2sad.NonDifferentiableError, match=r"cotangent of .* is a numpy\.ma\.MaskedArray"):
        s2sad.vjp(lambda p: p * 2.0, X)[1](w)
    with pytest.raises(s2sad.NonDifferentiableError, match=r"tangent of p` is a numpy\.ma\.MaskedArray"):
        s2sad.jvp(lambda p: p * 2.0, (X,), (w,))


class Named(np.ndarray):
    """A subclass that only adds methods: an array."""

    def first(self) -> Any:
        return np.asarray(self)[0] * 2.0


def test_what_only_reads_them_stays_as_it_stands() -> None:
    column, tensor, masked = Column(DATA), Tensor(DATA), MAKERS["masked"](DATA)
    named = DATA.view(Named)

    def f(p: Any) -> Any:
        y = np.sum(np.asarray(tensor) * p) + np.sum(p * column.to_numpy()) * len(column)
        y = y + masked.filled(0.0) @ p + np.sum(p[column.to_numpy() > 2.5] ** 2)
        return y + float(np.sum(p * named)) * named.first()

    expected = [(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2sad.grad(f)(X), expected, rtol=1e-5)
    tangents = [s2sad.jvp(f, (X,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(np.array(tangents, float), expected, rtol=1e-5)
