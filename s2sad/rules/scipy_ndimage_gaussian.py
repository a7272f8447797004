"""`scipy.ndimage`: Gaussian filters, by the array and by the widths of the bells."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import stop_gradient, unbroadcast
from .functional import pulled_back
from .implicit import changed
from .samples import A, given
from .scipy_ndimage import along, correlate_dx, each_axis

Array = Any  # any type with NumPy's protocols


def reach_of(sigma: Any, truncate: float, radius: int | None) -> int:
    """How many weights lie on either side of the middle one."""
    return int(truncate * float(sigma) + 0.5) if radius is None else radius


def is_wide(sigma: Any) -> bool:
    """Whether a bell is no needle: those are left out."""
    return bool(sigma > 1e-15)


def numbered_axes(x: Array, axes: Any, order: Any, mode: Any, radius: Any) -> list[tuple[Any, ...]]:
    """The axes of a filter, counted, each with its options."""
    return [(k, *options) for k, options in enumerate(each_axis(x, axes, order, mode, radius))]


nondifferentiable([reach_of, is_wide, numbered_axes])


def gaussian_row(sigma: Any, order: int, reach: int) -> Array:
    """The weights of `ndimage.gaussian_filter1d`, backwards: a bell of sum one, or its derivative.

    That of some order is `q(x) bell(x)`, and the polynomials go on by `q -> q' - x q / sigma**2`.
    """
    x = np.arange(reach, -reach - 1, -1)
    bell = np.exp(-0.5 * (x / sigma) ** 2)
    bell = bell / np.sum(bell)
    if order == 0:
        return bell
    following = np.diag(np.arange(1.0, order + 1), 1) - np.eye(order + 1, k=-1) / sigma**2
    q = np.eye(order + 1)[0]
    for _ in range(order):
        q = following @ q
    return np.vander(x, order + 1, increasing=True) @ q * bell


def gaussian_dx(
    d: Array, x: Array, sigma: Any, order: Any, mode: Any, truncate: float, radius: Any, axes: Any
) -> Array:
    """The cotangent of the array in `ndimage.gaussian_filter`."""
    for k, axis, degree, how, reach in numbered_axes(x, axes, order, mode, radius)[::-1]:
        width = sigma if np.ndim(sigma) == 0 else sigma[k]
        if is_wide(width):
            row = gaussian_row(width, degree, reach_of(width, truncate, reach))
            d = correlate_dx(d, x, along(row, x, axis), how, 0)
    return unbroadcast(d, x)


def filtered(call: tuple[Any, ...]) -> Array:
    """`ndimage.gaussian_filter`, of its arguments."""
    x, sigma, order, mode, cval, truncate, radius, axes = call
    for k, axis, degree, how, reach in numbered_axes(x, axes, order, mode, radius):
        width = sigma if np.ndim(sigma) == 0 else sigma[k]
        if is_wide(width):
            row = gaussian_row(width, degree, reach_of(width, truncate, reach))
            x = ndimage.correlate1d(x, row, axis, mode=how, cval=stop_gradient(cval))
    return x


def gaussian_dsigma(d: Array, call: tuple[Any, ...]) -> Any:
    """The cotangent of the widths; that the number of weights steps with them is left out."""
    return pulled_back(filtered, d, call)[1]


@bprop(
    ndimage.gaussian_filter,
    lists=["sigma"],
    samples=[
        given(A(6), 0.8),
        given(A(5, 4), (0.7, 1.1), mode="nearest"),
        given(A(5, 4), 0.6, 1, mode=("wrap", "mirror"), truncate=3.0),
        given(A(5, 4), 0.6, (0, 2), mode="constant", cval=1.5, radius=2),
        given(A(5, 4), 0.6, axes=(1,)),
        given(A(5, 4), (0, 0.6)),
        given(A(4, dtype="float32"), 0.6),
        given(A(6), 0.9, 3),
    ],
)
def gaussian_filter(
    input, sigma, order=0, *, mode="reflect", cval=0.0, truncate=4.0, radius=None, axes=None, out, dout
):
    dsigma = gaussian_dsigma(dout, (input, sigma, order, mode, cval, truncate, radius, axes))
    return gaussian_dx(dout, input, sigma, order, mode, truncate, radius, axes), dsigma


@gaussian_filter.jvp
def gaussian_filter_jvp(input, sigma, order, mode, cval, truncate, radius, axes, out, dinput, dsigma):
    if dsigma is None:
        return ndimage.gaussian_filter(
            dinput, sigma, order, mode=mode, truncate=truncate, radius=radius, axes=axes
        )
    call = (input, sigma, order, mode, cval, truncate, radius, axes)
    return changed(filtered, (dinput, dsigma, None, None, None, None, None, None), call)


@bprop(
    ndimage.gaussian_filter1d,
    samples=[given(A(6), 0.8), given(A(5, 4), 0.7, 0, 1, mode="nearest", truncate=3.0, radius=2),
             given(A(5), 0.7, mode="constant", cval=0.5)],
)  # fmt: skip
def gaussian_filter1d(
    input, sigma, axis=-1, order=0, *, mode="reflect", cval=0.0, truncate=4.0, radius=None, out, dout
):
    dsigma = gaussian_dsigma(dout, (input, sigma, order, mode, cval, truncate, radius, axis))
    return gaussian_dx(dout, input, sigma, order, mode, truncate, radius, axis), dsigma


@gaussian_filter1d.jvp
def gaussian_filter1d_jvp(input, sigma, axis, order, mode, cval, truncate, radius, out, dinput, dsigma):
    if dsigma is None:
        return ndimage.gaussian_filter1d(
            dinput, sigma, axis, order, mode=mode, truncate=truncate, radius=radius
        )
    call = (input, sigma, order, mode, cval, truncate, radius, axis)
    return changed(filtered, (dinput, dsigma, None, None, None, None, None, None), call)
