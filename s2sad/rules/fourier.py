"""Fourier transforms.

The matrix of a transform is symmetric, so that complex ones are their own transposes, up to the lengths to
which their arguments are cut or filled. Those between real and half-complex arrays count what stands for two
conjugate numbers twice. Cotangents multiply without conjugation.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, declare, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- lengths


def fitted(d: Array, x: Array) -> Array:
    """The cotangent of `x` where each axis was cut or filled with zeros to the lengths of `d`."""
    kept = tuple(slice(0, min(m, n)) for m, n in zip(np.shape(d), np.shape(x), strict=True))
    widths = [(0, max(n - m, 0)) for m, n in zip(np.shape(d), np.shape(x), strict=True)]
    return unbroadcast(np.pad(d[kept], widths), x)


@bprop(
    fitted, "linear", sharing="fresh",
    samples=[given(A(3, 5), np.zeros((4, 2))), given(A(3, dtype="complex128"), np.zeros(4))],
)
def fitted_(d, x, out, dout):
    return fitted(dout, d), None


def transformed_axes(x: Array, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes of `x` that a transform goes along."""
    if axes is not None:
        return tuple(axes)
    return tuple(range(-(np.ndim(x) if s is None else len(s)), 0))


def lengths(x: Array, s: Any, axes: Any) -> tuple[int, ...]:
    """The lengths of a real transform of `x` along its axes; -1 leaves one as it is."""
    over = transformed_axes(x, s, axes)
    s = (-1,) * len(over) if s is None else s
    return tuple(np.shape(x)[a] if n == -1 else n for a, n in zip(over, s, strict=True))


def swapped(norm: Any) -> Any:
    """The normalisation of the inverse transform that is wanted of a forward one, and the other way round."""
    return {"ortho": "ortho", "forward": "backward"}.get(norm, "forward")


def multiplicities(d: Array, n: int, axis: int) -> Array:
    """How often each number of the half of a Hermitian row of `n` occurs in it, along `axis`, like `d`."""
    k = np.arange(n // 2 + 1)
    count = np.where((k == 0) | (2 * k == n), 1, 2)
    shape = [1] * np.ndim(d)
    shape[axis] = len(k)
    return np.reshape(count, shape).astype(d.dtype)


nondifferentiable([transformed_axes, lengths, swapped, multiplicities])


# ---------------------------------------------------------------- complex transforms

ONE = [
    given(A(2, 5), axis=0),
    given(A(4, dtype="complex128")),
    given(A(2, 5, dtype="complex128"), 3),
    given(A(2, 5), 7, 1, "ortho"),
    given(A(4), norm="forward"),
    given(A(4, dtype="float32"), norm="backward"),
]
ALL = [
    given(A(2, 3, 4), axes=(0, 2)),
    given(A(2, 3, dtype="complex128")),
    given(A(2, 4), (3, 3), (0, 1)),
    given(A(3, 2, 4), (4, 3), axes=(2, 0), norm="ortho"),
    given(A(2, 3), s=(-1, 4), axes=(0, 1), norm="forward"),
]


@bprop(np.fft.fft, "linear", samples=ONE)
def fft(x, n=None, axis=-1, norm=None, *, out, dout):
    if n is None:
        return (unbroadcast(np.fft.fft(dout, axis=axis, norm=norm), x),)
    return (fitted(np.fft.fft(dout, axis=axis, norm=norm), x),)


@bprop(np.fft.ifft, "linear", samples=ONE)
def ifft(x, n=None, axis=-1, norm=None, *, out, dout):
    if n is None:
        return (unbroadcast(np.fft.ifft(dout, axis=axis, norm=norm), x),)
    return (fitted(np.fft.ifft(dout, axis=axis, norm=norm), x),)


@bprop(np.fft.fftn, "linear", samples=ALL)
def fftn(x, s=None, axes=None, norm=None, *, out, dout):
    if s is None:
        return (unbroadcast(np.fft.fftn(dout, axes=axes, norm=norm), x),)
    return (fitted(np.fft.fftn(dout, axes=transformed_axes(x, s, axes), norm=norm), x),)


@bprop(np.fft.ifftn, "linear", samples=ALL)
def ifftn(x, s=None, axes=None, norm=None, *, out, dout):
    if s is None:
        return (unbroadcast(np.fft.ifftn(dout, axes=axes, norm=norm), x),)
    return (fitted(np.fft.ifftn(dout, axes=transformed_axes(x, s, axes), norm=norm), x),)


@bprop(np.fft.fft2, "linear", samples=ALL)
def fft2(x, s=None, axes=(-2, -1), norm=None, *, out, dout):
    if s is None:
        return (unbroadcast(np.fft.fft2(dout, axes=axes, norm=norm), x),)
    return (fitted(np.fft.fft2(dout, axes=axes, norm=norm), x),)


@bprop(np.fft.ifft2, "linear", samples=ALL)
def ifft2(x, s=None, axes=(-2, -1), norm=None, *, out, dout):
    if s is None:
        return (unbroadcast(np.fft.ifft2(dout, axes=axes, norm=norm), x),)
    return (fitted(np.fft.ifft2(dout, axes=axes, norm=norm), x),)


# ---------------------------------------------------------------- transforms of real arrays

REAL = [
    given(A(4)),
    given(A(5)),
    given(A(2, 5), axis=0),
    given(A(2, 5), 3),
    given(A(2, 5), 8, 1, "ortho"),
    given(A(4), norm="forward"),
    given(A(1)),
    given(A(4, dtype="float32")),
]
REALS = [
    given(A(2, 3)),
    given(A(2, 4)),
    given(A(2, 3, 4), axes=(0, 2)),
    given(A(3, 2, 4), (4, 3), axes=(2, 0), norm="ortho"),
    given(A(2, 3), s=(-1, 4), axes=(0, 1), norm="forward"),
]


@bprop(np.fft.rfft, "linear", samples=REAL)
def rfft(x, n=None, axis=-1, norm=None, *, out, dout):
    return (rfft_dx(dout, x, n, axis, norm),)


def rfft_dx(d: Array, x: Array, n: int | None, axis: int, norm: Any) -> Array:
    """The transpose of `np.fft.rfft`."""
    return fitted(np.fft.fft(d, np.shape(x)[axis] if n is None else n, axis, norm), x)


@bprop(np.fft.rfftn, "linear", samples=REALS)
def rfftn(x, s=None, axes=None, norm=None, *, out, dout):
    return (rfftn_dx(dout, x, s, axes, norm),)


@bprop(np.fft.rfft2, "linear", samples=REALS)
def rfft2(x, s=None, axes=(-2, -1), norm=None, *, out, dout):
    return (rfftn_dx(dout, x, s, axes, norm),)


def rfftn_dx(d: Array, x: Array, s: Any, axes: Any, norm: Any) -> Array:
    """The transpose of `np.fft.rfftn`."""
    return fitted(np.fft.fftn(d, lengths(x, s, axes), transformed_axes(x, s, axes), norm), x)


# ---------------------------------------------------------------- transforms to real arrays

HALF = [
    given(A(4), norm="forward"),
    given(A(4, dtype="complex128")),
    given(A(4, dtype="complex128"), 7),
    given(A(2, 5, dtype="complex128"), axis=0),
    given(A(2, 5, dtype="complex128"), 4),
    given(A(2, 5, dtype="complex128"), 12, 1, "ortho"),
    given(A(3, dtype="float32")),
]
HALVES = [
    given(A(2, 3), s=(-1, 4), axes=(0, 1), norm="forward"),
    given(A(2, 3, dtype="complex128")),
    given(A(2, 3, 4, dtype="complex128"), axes=(0, 2)),
    given(A(3, 2, 4, dtype="complex128"), (4, 5), axes=(2, 0), norm="ortho"),
]


@bprop(np.fft.irfft, "linear", samples=HALF)
def irfft(x, n=None, axis=-1, norm=None, *, out, dout):
    return (irfft_dx(dout, x, axis, norm),)


def half_spectrum(d: Array, axis: int, norm: Any) -> Array:
    """The cotangent of the half of a Hermitian row from that of its transform `d`, whose length it has."""
    half = np.conj(np.fft.rfft(d, None, axis, swapped(norm)))
    return half * multiplicities(half, np.shape(d)[axis], axis)


def irfft_dx(d: Array, x: Array, axis: int, norm: Any) -> Array:
    """The transpose of `np.fft.irfft`."""
    return fitted(half_spectrum(d, axis, norm), x)


@bprop(np.fft.irfftn, "linear", samples=HALVES)
def irfftn(x, s=None, axes=None, norm=None, *, out, dout):
    return (irfftn_dx(dout, x, s, axes, norm),)


@bprop(np.fft.irfft2, "linear", samples=HALVES)
def irfft2(x, s=None, axes=(-2, -1), norm=None, *, out, dout):
    return (irfftn_dx(dout, x, s, axes, norm),)


def irfftn_dx(d: Array, x: Array, s: Any, axes: Any, norm: Any) -> Array:
    """The transpose of `np.fft.irfftn`."""
    over = transformed_axes(x, s, axes)
    half = half_spectrum(d, over[-1], norm)
    return fitted(np.fft.ifftn(half, axes=over[:-1], norm=norm) if len(over) > 1 else half, x)


@bprop(np.fft.hfft, "linear", samples=HALF)
def hfft(x, n=None, axis=-1, norm=None, *, out, dout):
    return (np.conj(irfft_dx(dout, x, axis, swapped(norm))),)


@bprop(np.fft.ihfft, "linear", samples=REAL)
def ihfft(x, n=None, axis=-1, norm=None, *, out, dout):
    return (rfft_dx(np.conj(dout), x, n, axis, swapped(norm)),)


# ---------------------------------------------------------------- orders and frequencies

SHIFTS = [given(A(5)), given(A(3, 4)), given(A(3, 4), 1), given(A(3, 4), axes=(0, 1))]


@bprop(np.fft.fftshift, "linear", samples=SHIFTS)
def fftshift(x, axes=None, *, out, dout):
    return (np.fft.ifftshift(dout, axes),)


@bprop(np.fft.ifftshift, "linear", samples=SHIFTS)
def ifftshift(x, axes=None, *, out, dout):
    return (np.fft.fftshift(dout, axes),)


@bprop(np.fft.fftfreq, np.fft.rfftfreq, samples=[given(5, 0.7), given(4, 1.3)])
def fftfreq(n, d=1.0, *, out, dout):
    return None, unbroadcast(-dout * out / d, d)


@fftfreq.jvp
def fftfreq_jvp(d, out, dd):
    return -dd * out / d


declare([rfft_dx, rfftn_dx, irfft_dx, irfftn_dx], sharing="fresh")
