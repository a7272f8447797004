"""Methods and attributes of arrays, as functions of the array first; those that change the array are not
among them.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from .containers import filled
from .indexing import chosen, untake
from .samples import A, given
from .shaping import inverse_axes, memory_order

Array = Any  # any type with NumPy's protocols

__all__ = [
    "ATTRIBUTES",
    "METHODS",
    "compress_method",
    "item",
    "item_at",
    "reshape_method",
    "to_list",
    "transpose_method",
    "view_method",
]


def reshape_method(x: Array, *shape: Any, order: Any = "C", copy: Any = None) -> Array:
    """`x.reshape(*shape)`."""
    return x.reshape(*shape, order=order)


@bprop(reshape_method, sharing="maybe",
    samples=[given(A(2, 3), 3, 2), given(A(6), (2, -1)), given(A(2, 3), 6, order="F")])
def reshape_method_(x, *shape, order="C", copy=None, out, dout):
    if order == "C":
        return np.reshape(dout, np.shape(x)), None
    return np.reshape(dout, np.shape(x), memory_order(order)), None


@reshape_method_.for_ranks(1)
def reshape_method_vector(x, *shape, order="C", copy=None, out, dout):
    if order == "C":
        return np.ravel(dout), None
    return np.ravel(dout, memory_order(order)), None


@reshape_method_.jvp
def reshape_method_jvp(order, out, dx):
    return np.reshape(dx, np.shape(out), order)


def transpose_method(x: Array, *axes: Any) -> Array:
    """`x.transpose(*axes)`."""
    return x.transpose(*axes)


@bprop(
    transpose_method, sharing="view",
    samples=[given(A(2, 3)), given(A(2, 3, 4), 1, 2, 0), given(A(2, 3, 4), (1, -1, 0)), given(A(2, 3), None)],
)
def transpose_method_(x, *axes, out, dout):
    return np.transpose(dout, undone(axes)), None


@transpose_method_.jvp
def transpose_method_jvp(*axes, out, dx):
    return dx.transpose(*axes)


def undone(axes: tuple[Any, ...]) -> Any:
    """The axes that undo `x.transpose(*axes)`."""
    if not axes or axes[0] is None:
        return None
    return inverse_axes(axes[0] if np.ndim(axes[0]) else axes)


nondifferentiable([undone])


def view_method(x: Array) -> Array:
    """`x.view()`, of the same dtype."""
    return x.view()


@bprop(view_method, "linear", sharing="view", samples=[given(A(2, 3)), given(A(3))])
def view_method_(x, out, dout):
    return (dout,)


def item(x: Array, *index: Any) -> Any:
    """`x.item(*index)`."""
    return x.item(*index)


def item_at(x: Any, index: tuple[Any, ...]) -> Any:
    """`x.item(*index)`; the tangent of a NumPy number may be Python's."""
    return x.item(*index) if isinstance(x, (np.ndarray, np.generic)) else x


def item_dx(d: Any, x: Array, index: tuple[Any, ...]) -> Array:
    """Zeros like `x`, but for `d` at the element that `x.item(*index)` reads."""
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    dx = np.zeros_like(x)
    if len(index) == 1:
        dx.flat[index[0]] = d
    else:
        dx[index or ...] = d
    return dx


@bprop(
    item,
    samples=[given(A()), given(A(2, 3), 4), given(A(2, 3), 1, -1), given(A(2, 3), (0, 2)), given(A(1, 1))],
)
def item_(x, *index, out, dout):
    return item_dx(dout, x, index), None


@item_.jvp
def item_jvp(*index, out, dx):
    return item_at(dx, index)


@bprop(item_at, "linear", samples=[given(A(2, 3), (1, -1)), given(A(2, 3), (-1,))])
def item_at_(x, index, out, dout):
    return (item_dx(dout, x, index),)


@bprop(item_dx, "linear", sharing="fresh",
    samples=[given(1.5, np.zeros((2, 3)), (1, -1)), given(1.5, np.zeros(()), ())])
def item_dx_(d, x, index, out, dout):
    return item_at(dout, index), None


def to_list(x: Array) -> Any:
    """`x.tolist()`."""
    return x.tolist()


@bprop(to_list, "linear", runs=False, samples=[given(A(3)), given(A(2, 2)), given(A())])
def to_list_(x, out, dout):
    return (np.asarray(filled(dout, np.zeros_like(x).tolist()), dtype=x.dtype),)  # `out` may have changed


def compress_method(x: Array, condition: Any, axis: int | None = None) -> Array:
    """`x.compress(condition, axis)`."""
    return x.compress(condition, axis)


@bprop(
    compress_method,
    "linear", runs=False,
    samples=[given(A(3), [True, False, True]), given(A(2, 3), [False, True], axis=0)],
)
def compress_method_(x, condition, axis=None, *, out, dout):
    return (untake(dout, x, chosen(condition), axis, "raise"),)


METHODS: dict[str, Callable[..., Any]] = {
    "reshape": reshape_method,
    "transpose": transpose_method,
    "item": item,
    "tolist": to_list,
    "compress": compress_method,
    "flatten": np.ravel,
    "ravel": np.ravel,
    "copy": np.copy,
    "__copy__": np.copy,
    "__deepcopy__": np.copy,
    "astype": np.astype,
    "conj": np.conj,
    "conjugate": np.conj,
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "var": np.var,
    "std": np.std,
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "dot": np.dot,
    "squeeze": np.squeeze,
    "swapaxes": np.swapaxes,
    "take": np.take,
    "choose": np.choose,
    "repeat": np.repeat,
    "diagonal": np.diagonal,
    "trace": np.trace,
    "clip": np.clip,
    "round": np.round,
    "all": np.all,
    "any": np.any,
    "argmax": np.argmax,
    "argmin": np.argmin,
    "argsort": np.argsort,
    "argpartition": np.argpartition,
    "nonzero": np.nonzero,
    "searchsorted": np.searchsorted,
}

ATTRIBUTES: dict[str, Callable[..., Any]] = {
    "T": np.transpose,
    "mT": np.matrix_transpose,
    "real": np.real,
    "imag": np.imag,
    "shape": np.shape,
    "ndim": np.ndim,
    "size": np.size,
}

_INERT: tuple[str, ...] = ("dtype", "device", "itemsize", "nbytes", "strides", "flags", "tobytes", "dumps")
_INERT += ("__len__", "__contains__", "__bool__", "__int__", "__index__")

nondifferentiable([getattr(np.ndarray, name) for name in _INERT])
nondifferentiable([np.ndarray.dump, np.ndarray.tofile], pure=False)
