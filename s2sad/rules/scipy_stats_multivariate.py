"""`scipy.stats`: the multivariate normal density.

A covariance may be a matrix, of which the lower triangle is read, and has the gradient; a row of variances;
or one variance.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .factorisations import from_triangle, onto_triangle, positive
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def dimension(mean: Any, cov: Any) -> int:
    """The number of variables; refuses covariances that are not arrays."""
    if not isinstance(cov, (int, float, list)) and not hasattr(cov, "dtype"):
        raise NonDifferentiableError(
            f"a density with a covariance of type {type(cov).__name__}",
            why="what it depends on is not known", instead="pass the covariance matrix")
    return int(np.size(mean)) if mean is not None else np.shape(cov)[0] if np.ndim(cov) else 1


def check_regular(cov: Any, allow_singular: Any) -> None:
    """Refuses singular covariances."""
    if not allow_singular or np.ndim(cov) == 0:
        return
    if np.linalg.matrix_rank(np.diag(cov) if np.ndim(cov) == 1 else np.asarray(cov)) < len(cov):
        raise NonDifferentiableError(
            "the derivative of a density with a singular covariance",
            why="it is a density on a part of the space, which changes with the covariance")


nondifferentiable([dimension])
nondifferentiable([check_regular], pure=False)


def matrix_of(cov: Array, n: int) -> Array:
    """The covariance matrix that a covariance, however it is given, stands for."""
    if np.ndim(cov) == 0:
        return cov * np.eye(n)
    if np.ndim(cov) == 1:
        return np.diag(cov)
    return from_triangle(cov, "L")


def vectors_of(x: Array, n: int) -> Array:
    """The points, along the last axis; numbers are points of one variable."""
    if n > 1 and np.ndim(x) == 1:
        return np.expand_dims(x, 0)
    return np.expand_dims(x, -1) if n == 1 and np.ndim(x) < 2 else x


def weighted(x: Array, mean: Any, cov: Array) -> Array:
    """For each point, the inverse covariance times its difference from the mean."""
    n = dimension(mean, cov)
    r = vectors_of(x, n) if mean is None else vectors_of(x, n) - mean
    return np.linalg.solve(matrix_of(cov, n), np.expand_dims(r, -1))[..., 0]


def onto_covariance(s: Array, cov: Array) -> Array:
    """The cotangent of a covariance as it was given, from that of the matrix."""
    if np.ndim(cov) == 0:
        return np.trace(s)
    return np.diagonal(s) if np.ndim(cov) == 1 else onto_triangle(s, "L")


def gradients(d: Array, x: Array, mean: Any, cov: Array, allow_singular: Any) -> tuple[Array, Array, Array]:
    """The cotangents of the arguments of a log-density."""
    check_regular(cov, allow_singular)
    n = dimension(mean, cov)
    w = weighted(x, mean, cov)
    dw = np.expand_dims(np.reshape(d, np.shape(w)[:-1]), -1) * w
    rows, drows = np.reshape(w, (-1, n)), np.reshape(dw, (-1, n))
    s = (np.transpose(rows) @ drows - np.sum(d) * np.linalg.inv(matrix_of(cov, n))) / 2
    dmean = None if mean is None else unbroadcast(np.reshape(np.sum(drows, axis=0), np.shape(mean)), mean)
    return unbroadcast(np.reshape(-dw, np.shape(x)), x), dmean, unbroadcast(onto_covariance(s, cov), cov)


def tangent(
    x: Array, mean: Any, cov: Array, allow_singular: Any, out: Array, dx: Array, dmean: Any, dcov: Array
) -> Array:
    """The tangent of a log-density."""
    check_regular(cov, allow_singular)
    n = dimension(mean, cov)
    w = weighted(x, mean, cov)
    dr = vectors_of(dx, n) if mean is None else vectors_of(dx, n) - dmean
    ds = matrix_of(dcov, n)
    change = np.sum(w * ((w @ ds) / 2 - dr), axis=-1) - np.trace(np.linalg.solve(matrix_of(cov, n), ds)) / 2
    if np.ndim(out) == 0:
        return np.sum(change)
    return unbroadcast(np.reshape(change, np.shape(out)), out)


SAMPLES = [given(A(3), A(3), positive(3, 3)), given(A(4, 2), A(2), positive(2, 2), True),
           given(A(4, 2), A(2), A(2, low=0.5)), given(A(5, 4, 2), None, positive(2, 2)),
           given(A(4), 0.3, 1.7), given(0.7), given(A(4, 2), mean=A(2)), given(A(4, 1), A(1), A(1, low=0.5))]


@bprop(stats.multivariate_normal.logpdf, samples=SAMPLES)
def multivariate_normal_logpdf(x, mean=None, cov=1, allow_singular=False, *, out, dout):
    d = gradients(dout, x, mean, cov, allow_singular)
    return d[0], d[1], d[2]


@multivariate_normal_logpdf.jvp
def multivariate_normal_logpdf_jvp(x, mean, cov, allow_singular, out, dx, dmean, dcov):
    return tangent(x, mean, cov, allow_singular, out, dx, dmean, dcov)


@bprop(stats.multivariate_normal.pdf, samples=SAMPLES)
def multivariate_normal_pdf(x, mean=None, cov=1, allow_singular=False, *, out, dout):
    d = gradients(dout * out, x, mean, cov, allow_singular)
    return d[0], d[1], d[2]


@multivariate_normal_pdf.jvp
def multivariate_normal_pdf_jvp(x, mean, cov, allow_singular, out, dx, dmean, dcov):
    return out * tangent(x, mean, cov, allow_singular, out, dx, dmean, dcov)
