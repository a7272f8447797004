"""Polynomials by their coefficients, the highest power first: values, arithmetic, fits, roots."""
# mypy: allow-untyped-defs

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import broadcast_like, unbroadcast
from .containers import filled
from .creation import vander_slope
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- values


def powers_sum(d: Array, x: Array, p: Array) -> Array:
    """The cotangent of the coefficients `p` of a polynomial from that of its values at `x`."""
    return unbroadcast(np.ravel(d) @ np.vander(np.ravel(x), len(p)), p)


def slope(p: Array, x: Array) -> Array:
    """The derivative of a polynomial at `x`, in the dtype of its coefficients."""
    return np.polyval(np.asarray(np.polyder(np.asarray(p))).astype(np.asarray(p).dtype), x)


@bprop(
    np.polyval,
    samples=[
        given(A(4), A(5)),
        given(A(3), A(2, 3)),
        given(A(3), 0.7),
        given(A(1), A(3)),
        given(A(3, dtype="complex128"), A(2)),
        given(A(3, dtype="float32"), A(2, dtype="float32")),
    ],
)
def polyval(p, x, out, dout):
    return powers_sum(dout, x, p), unbroadcast(dout * slope(p, x), x)


@polyval.jvp
def polyval_jvp(p, x, out, dp, dx):
    return np.polyval(dp, x) + slope(p, x) * dx


# ---------------------------------------------------------------- sums and products


def last_part(d: Array, x: Any) -> Any:
    """The cotangent of coefficients `x` that were filled with zeros in front."""
    return unbroadcast(np.reshape(d[np.size(d) - np.size(x) :], np.shape(x)), x)


SUMS = [given(A(4), A(2)), given(A(2), A(4)), given(A(3), A(3)), given(A(3), 0.7)]


@bprop(np.polyadd, "linear", runs=False, samples=SUMS)
def polyadd(x, y, out, dout):
    return last_part(dout, x), last_part(dout, y)


@bprop(np.polysub, "linear", runs=False, samples=SUMS)
def polysub(x, y, out, dout):
    return last_part(dout, x), last_part(-dout, y)


@bprop(
    np.polymul, runs=False,
    samples=[given(A(4), A(2)), given(A(2), A(4)), given(A(3), 0.7)],
)
def polymul(a1, a2, out, dout):
    d = np.pad(dout, (np.size(a1) + np.size(a2) - 1 - np.size(dout), 0))
    return (
        unbroadcast(np.reshape(np.convolve(d, np.ravel(a2)[::-1], "valid"), np.shape(a1)), a1),
        unbroadcast(np.reshape(np.convolve(d, np.ravel(a1)[::-1], "valid"), np.shape(a2)), a2),
    )


# Zeros in front are cut off the factors, and not off their tangents.
@polymul.jvp
def polymul_jvp(a1, a2, out, da1, da2):
    change = np.convolve(np.ravel(da1), np.ravel(a2)) + np.convolve(np.ravel(a1), np.ravel(da2))
    return change[np.size(change) - np.size(out) :]


# ---------------------------------------------------------------- derivatives and integrals


def falling(n: int, m: int) -> Array:
    """What differentiating a polynomial of `n` coefficients `m` times multiplies those that are left with."""
    return np.array([math.perm(n - 1 - k, m) for k in range(max(n - m, 0))], dtype=float)


def below_one(m: int) -> Array:
    """What the constants of `m` integrations are multiplied with."""
    return np.array([1 / math.factorial(m - 1 - i) for i in range(m)])


nondifferentiable([falling, below_one])


@bprop(np.polyder, "linear", sharing={"m": "maybe"},
    samples=[given(A(4)), given(A(5), 2), given(A(2), 3), given(A(3), 0)])
def polyder(x, m=1, *, out, dout):
    return (unbroadcast(np.pad(dout * falling(len(x), m), (0, min(m, len(x)))), x),)


@bprop(
    np.polyint,
    samples=[given(A(4)), given(A(3), 2), given(A(3), 2, A(2)), given(A(3), k=0.7), given(A(3), 2, A(1))],
)
def polyint(p, m=1, k=None, *, out, dout):
    dp = unbroadcast(dout[: len(p)] / falling(len(out), m), p)
    if k is None:
        return dp, None, None
    return dp, None, constants_dx(dout[len(p) :] * below_one(m), k)


@polyint.jvp
def polyint_jvp(m, k, out, dp, dk):
    if k is None:
        return np.polyint(dp, m)
    return np.polyint(dp, m, filled(dk, k))


def constants_dx(d: Array, k: Any) -> Any:
    """The cotangent of the constants of integration; one number may stand for all."""
    return unbroadcast(np.reshape(np.sum(d), np.shape(k)), k) if np.size(k) == 1 else unbroadcast(d, k)


# ---------------------------------------------------------------- fits


def design(x: Array, deg: int, w: Any) -> Array:
    """The matrix whose product with the coefficients are the weighted values at `x`."""
    columns = np.vander(x, deg + 1)
    return columns if w is None else columns * np.expand_dims(w, -1)


def as_rows(y: Array, w: Any) -> Array:
    """The weighted values, with an axis for the fits at once."""
    columns = np.reshape(y, (np.shape(y)[0], -1))
    return columns if w is None else columns * np.expand_dims(w, -1)


def pseudoinverse(a: Array) -> Array:
    """The pseudoinverse of a matrix of full rank, its columns scaled first, as `np.polyfit` does."""
    scale = np.sqrt(np.sum(a * a, axis=0))
    return np.linalg.pinv(a / scale) / np.expand_dims(scale, -1)


def polyfit_grads(d: Array, x: Array, y: Array, deg: int, w: Any, out: Array) -> tuple[Array, Array, Any]:
    """The cotangents of `x`, `y` and the weights of `np.polyfit`."""
    a, c = design(x, deg, w), np.reshape(out, (deg + 1, -1))
    p = pseudoinverse(a)
    u = np.transpose(p) @ np.reshape(d, (deg + 1, -1))
    rest = as_rows(y, w) - a @ c
    da = rest @ np.transpose(p @ u) - u @ np.transpose(c)
    if w is None:
        return np.sum(da * vander_slope(x, deg + 1, False), axis=1), np.reshape(u, np.shape(y)), None
    wide = np.expand_dims(w, -1)
    dw = np.sum(da * np.vander(x, deg + 1), axis=1) + np.sum(u * np.reshape(y, (len(x), -1)), axis=1)
    dx = np.sum(da * wide * vander_slope(x, deg + 1, False), axis=1)
    return dx, np.reshape(u * wide, np.shape(y)), dw


def polyfit_tangent(dx: Array, dy: Array, dw: Any, x: Array, y: Array, deg: int, w: Any, out: Array) -> Array:
    """The tangent of `np.polyfit`."""
    a, c = design(x, deg, w), np.reshape(out, (deg + 1, -1))
    da = vander_slope(x, deg + 1, False) * np.expand_dims(dx, -1)
    change = np.reshape(dy, (len(x), -1))
    if w is not None:
        da = da * np.expand_dims(w, -1) + np.vander(x, deg + 1) * np.expand_dims(dw, -1)
        change = change * np.expand_dims(w, -1) + np.reshape(y, (len(x), -1)) * np.expand_dims(dw, -1)
    p = pseudoinverse(a)
    rest = as_rows(y, w) - a @ c
    return np.reshape(p @ (change - da @ c) + p @ np.transpose(p) @ (np.transpose(da) @ rest), np.shape(out))


APART = np.array([-1.0, -0.4, 0.1, 0.7, 1.3])


# The matrix of the powers is taken to be of full rank; what `full` and `cov` return besides is not covered.
@bprop(
    np.polyfit,
    samples=[
        given(APART, A(5), 2),
        given(APART, A(5, 2), 1),
        given(APART, A(5), 2, w=A(5, low=0.5)),
        given(APART, A(5), 1, 1e-9),
    ],
)
def polyfit(x, y, deg, rcond=None, *, w=None, out, dout):
    dx, dy, dw = polyfit_grads(dout, x, y, deg, w, out)
    return unbroadcast(dx, x), unbroadcast(dy, y), None, None, dw


@polyfit.jvp
def polyfit_jvp(x, y, deg, w, out, dx, dy, dw):
    return polyfit_tangent(dx, dy, dw, x, y, deg, w, out)


# ---------------------------------------------------------------- roots


def check_row(x: Array) -> None:
    """Refuses matrices, which stand for their eigenvalues."""
    if np.ndim(x) > 1:
        raise NonDifferentiableError(
            "np.poly of a matrix is not differentiated", instead="use np.poly(np.linalg.eigvals(a))"
        )


nondifferentiable([check_row])


def without_each(x: Array) -> Array:
    """For each root the coefficients of the monic polynomial that has all the others."""
    check_row(x)
    n = len(x)
    rows = []
    for k in range(n):
        row = np.ones_like(x[:1])
        for j in range(n):
            if j != k:
                row = np.convolve(row, np.stack([np.ones_like(x[j]), -x[j]]))
        rows.append(row)
    return np.stack(rows)


@bprop(
    np.poly, runs=False,
    samples=[given(A(4)), given(A(1)), given(np.array([1.5, 1.5, 0.0])), given(A(3, dtype="complex128"))],
)
def poly(seq_of_zeros, out, dout):
    return (unbroadcast(-without_each(seq_of_zeros) @ dout[1:], seq_of_zeros),)


@poly.jvp
def poly_jvp(seq_of_zeros, out, dseq_of_zeros):
    return broadcast_like(np.pad(-dseq_of_zeros @ without_each(seq_of_zeros), (1, 0)), out)


def root_slopes(p: Array, out: Array) -> Array:
    """The derivatives of simple roots `out` of a polynomial, in rows, by its coefficients.

    From p(r) = 0: dr = -dp(r) / p'(r).
    """
    slopes = np.polyval(np.polyder(p), out)
    check_simple(slopes, p)
    return -np.vander(out, len(p)) / np.expand_dims(slopes, -1)


def check_simple(slopes: Array, p: Array) -> None:
    """Refuses roots at which the slope of the polynomial is zero."""
    if np.any(np.abs(slopes) <= 1e-12 * np.max(np.abs(p), initial=0)):
        raise NonDifferentiableError("multiple roots of a polynomial have no derivative")


nondifferentiable([check_simple])


@bprop(
    np.roots, runs=False,
    samples=[
        given(np.array([1.0, 0.5, 1.0, 0.3])),
        given(np.array([2.0, -3.0, -2.0])),
        given(np.array([2.0, 1.0 + 1j, 0.5])),
    ],
)
def roots(p, out, dout):
    return (unbroadcast(dout @ root_slopes(p, out), p),)


@roots.jvp
def roots_jvp(p, out, dp):
    return broadcast_like(root_slopes(p, out) @ dp, out)
