"""`scipy.fft`: cosine and sine transforms.

Orthogonal ones are transposed by their inverses. So are all others, if the elements at the ends, which these
transforms count once where they count all others twice, are weighted before or after.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .fourier import fitted, swapped, transformed_axes
from .samples import A, given

Array = Any  # any type with NumPy's protocols

# By transform and type: the elements at the ends, and by what they are weighted before and after.
ENDS: dict[tuple[str, int], tuple[tuple[int, ...], float, float]] = {
    ("dct", 1): ((0, -1), 2.0, 0.5),
    ("dct", 2): ((0,), 2.0, 1.0),
    ("dct", 3): ((0,), 1.0, 0.5),
    ("idct", 1): ((0, -1), 2.0, 0.5),
    ("idct", 2): ((0,), 1.0, 0.5),
    ("idct", 3): ((0,), 2.0, 1.0),
    ("dst", 2): ((-1,), 2.0, 1.0),
    ("dst", 3): ((-1,), 1.0, 0.5),
    ("idst", 2): ((-1,), 1.0, 0.5),
    ("idst", 3): ((-1,), 2.0, 1.0),
}


def end_weights(d: Array, axis: int, transform: tuple[str, int], after: bool) -> Array:
    """The weights of the elements along an axis of `d`."""
    ends, *factors = ENDS.get(transform, ((), 1.0, 1.0))
    weights = np.ones_like(np.real(d), shape=np.shape(d)[axis])
    weights[list(ends)] = factors[after]
    return np.expand_dims(weights, tuple(k for k in range(np.ndim(d)) if k != axis % np.ndim(d)))


def is_orthogonal(norm: Any, orthogonalize: Any) -> bool:
    """Whether the rows of a transform are orthogonal, and of one length."""
    return norm == "ortho" if orthogonalize is None else bool(orthogonalize)


nondifferentiable([end_weights, is_orthogonal])


def weighted(d: Array, axes: Any, transform: tuple[str, int], after: bool) -> Array:
    """`d` with the elements at the ends weighted."""
    for axis in axes:
        d = d * end_weights(d, axis, transform, after)
    return d


def transposed(d: Array, name: str, type: int, axes: Any, norm: Any, orthogonalize: Any) -> Array:
    """The transpose of a transform along some axes, through its inverse."""
    weigh = not is_orthogonal(norm, orthogonalize)
    if weigh:
        d = weighted(d, axes, (name, type), False)
    d = inverse_of(name, d, type, axes, swapped(norm), orthogonalize)
    return weighted(d, axes, (name, type), True) if weigh else d


def inverse_of(name: str, d: Array, type: int, axes: Any, norm: Any, orthogonalize: Any) -> Array:
    """The inverse of the transform of this name."""
    if name == "dct":
        return fft.idctn(d, type, axes=axes, norm=norm, orthogonalize=orthogonalize)
    if name == "idct":
        return fft.dctn(d, type, axes=axes, norm=norm, orthogonalize=orthogonalize)
    if name == "dst":
        return fft.idstn(d, type, axes=axes, norm=norm, orthogonalize=orthogonalize)
    return fft.dstn(d, type, axes=axes, norm=norm, orthogonalize=orthogonalize)


ONE = [
    given(A(5)),
    given(A(5), norm="ortho"),
    given(A(2, 5), 3, 6, axis=1, norm="ortho"),
    given(A(4, 2), 1, 3, axis=0),
    given(A(4, 2), 3, 6, 0, norm="forward"),
    given(A(4), 4, norm="backward"),
    given(A(4), 1, norm="ortho"),
    given(A(4), 2, norm="ortho", orthogonalize=False),
    given(A(4, dtype="float32")),
    given(A(3, dtype="complex128"), 1),
]
ALL = [
    given(A(3, 4)),
    given(A(3, 4), 3, norm="ortho"),
    given(A(2, 3, 4), 2, (5, 3), axes=(2, 0), norm="forward"),
    given(A(3, 4), 1, (2, 5)),
    given(A(3, 4), 2, axes=[1], norm="ortho", orthogonalize=False),
    given(A(3, dtype="float32"), 4),
]


def declare(name: str, inverse_name: str) -> None:
    """Declares the rules of a transform along one axis, and along several."""
    inverse, inverse_of_all = getattr(fft, inverse_name), getattr(fft, f"{inverse_name}n")

    @bprop(getattr(fft, name), "linear", runs=True, samples=ONE)
    def along_one(x, type=2, n=None, axis=-1, norm=None, *, orthogonalize=None, out, dout):
        if norm == "ortho" and orthogonalize is None:
            dx = inverse(dout, type, axis=axis, norm=norm)
        else:
            dx = transposed(dout, name, type, (axis,), norm, orthogonalize)
        if n is None:
            return (unbroadcast(dx, x),)
        return (fitted(dx, x),)

    @bprop(getattr(fft, f"{name}n"), "linear", runs=True, samples=ALL)
    def along_all(x, type=2, s=None, axes=None, norm=None, *, orthogonalize=None, out, dout):
        if norm == "ortho" and orthogonalize is None:
            dx = inverse_of_all(dout, type, axes=axes, norm=norm)
        else:
            dx = transposed(dout, name, type, transformed_axes(x, s, axes), norm, orthogonalize)
        if s is None:
            return (unbroadcast(dx, x),)
        return (fitted(dx, x),)


for _name, _inverse in (("dct", "idct"), ("idct", "dct"), ("dst", "idst"), ("idst", "dst")):
    declare(_name, _inverse)
