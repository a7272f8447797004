"""`scipy.spatial.distance`: the distances between the points of two sets, or of one; `minkowski_distance`."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import distance, minkowski_distance

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable, refuse
from ..runtime.adjoints import unbroadcast
from .constant import named
from .norms import vector_norm_slope
from .samples import A, given

Array = Any  # any type with NumPy's protocols

METRICS = ("euclidean", "sqeuclidean", "cityblock")


def check_metric(metric: Any) -> Any:
    """The metric; refuses those without a rule."""
    if metric not in METRICS:
        raise NonDifferentiableError(
            f"the derivative of distances by the metric {metric!r}",
            why=f"only {', '.join(METRICS)} have a rule",
            instead="write the distance out",
        )
    return metric


nondifferentiable([check_metric])


def slopes(metric: str, differences: Array, distances: Array) -> Array:
    """The derivatives of distances by the differences of the points; of points that are the same zero."""
    if metric == "sqeuclidean":
        return 2 * differences
    if metric == "cityblock":
        return np.sign(differences)
    distances = np.expand_dims(distances, -1)
    return np.where(distances == 0, 0.0, differences / np.where(distances == 0, 1.0, distances))


def between(x: Array, y: Array) -> Array:
    """All differences of a point of the one set and a point of the other."""
    return np.expand_dims(x, 1) - np.expand_dims(y, 0)


PAIRS = [given(A(3, 2), A(4, 2), metric) for metric in METRICS]


@bprop(distance.cdist, samples=[given(A(3, 2), A(4, 2)), *PAIRS])
def cdist(XA, XB, metric="euclidean", *, out, dout):
    d = np.expand_dims(dout, -1) * slopes(check_metric(metric), between(XA, XB), out)
    return unbroadcast(np.sum(d, axis=1), XA), unbroadcast(-np.sum(d, axis=0), XB)


@cdist.jvp
def cdist_jvp(XA, XB, metric, out, dXA, dXB):
    return np.sum(slopes(check_metric(metric), between(XA, XB), out) * between(dXA, dXB), axis=-1)


def firsts(X: Array) -> Array:
    """The first points of all pairs, in the order of `pdist`."""
    return np.triu_indices(len(X), 1)[0]


def seconds(X: Array) -> Array:
    """The second points of all pairs."""
    return np.triu_indices(len(X), 1)[1]


nondifferentiable([firsts, seconds])


def of_pairs(X: Array) -> Array:
    """The differences of all pairs of points."""
    return np.take(X, firsts(X), 0) - np.take(X, seconds(X), 0)


def gathered(d: Array, X: Array) -> Array:
    """The cotangent of the points, from that of the differences of all pairs: the transpose of `of_pairs`."""
    dX = np.zeros_like(X, dtype=d.dtype)
    np.add.at(dX, firsts(X), d)
    np.subtract.at(dX, seconds(X), d)
    return dX


@bprop(gathered, "linear", samples=[given(A(6, 2), np.zeros((4, 2)))])
def gathered_(d, X, out, dout):
    return of_pairs(dout), None


@bprop(distance.pdist, samples=[given(A(4, 2)), *(given(A(4, 2), metric) for metric in METRICS)])
def pdist(X, metric="euclidean", *, out, dout):
    d = np.expand_dims(dout, -1) * slopes(check_metric(metric), of_pairs(X), out)
    return (unbroadcast(gathered(d, X), X),)


@pdist.jvp
def pdist_jvp(X, metric, out, dX):
    return np.sum(slopes(check_metric(metric), of_pairs(X), out) * of_pairs(dX), axis=-1)


# ---------------------------------------------------------------- along the last axis


def norm_slope(x: Array, y: Array, p: float, out: Array) -> Array:
    """The derivatives of distances by the differences of the points; of points that are the same zero."""
    return vector_norm_slope(x - y, np.expand_dims(out, -1), p, -1)


@bprop(
    minkowski_distance,
    samples=[
        given(A(3, 2), A(3, 2)),
        given(A(3, 1, 2), A(4, 2)),
        *(given(A(2), A(3, 2), p) for p in (1, 3, np.inf)),
    ],
)
def minkowski(x, y, p=2.0, *, out, dout):
    d = np.expand_dims(dout, -1) * norm_slope(x, y, p, out)
    return unbroadcast(d, x), unbroadcast(-d, y)


@minkowski.jvp
def minkowski_jvp(x, y, p, out, dx, dy):
    return np.sum(norm_slope(x, y, p, out) * (dx - dy), axis=-1)


# ---------------------------------------------------------------- between two shapes of the same distances


def both_triangles(d: Array) -> Array:
    """The sums of the elements of a matrix that are opposite to each other, in the order of `pdist`."""
    return distance.squareform(d + np.transpose(d), checks=False)


def one_triangle(d: Array) -> Array:
    """The elements above the diagonal of a matrix, from their order in `pdist`."""
    return np.triu(distance.squareform(d))


def squareform_dx(d: Array) -> Array:
    """The cotangent of `X` in `squareform(X)`; `X` may be a number, too."""
    return both_triangles(d) if np.ndim(d) == 2 else one_triangle(d)


@bprop(distance.squareform, "linear", samples=[given(A(6)), given(1.5), given(A(3, 3), checks=False)])
def squareform(X, force="no", checks=True, *, out, dout):
    return (unbroadcast(squareform_dx(dout), X),)


refuse(
    named(
        distance,
        """
    dice directed_hausdorff hamming jaccard rogerstanimoto russellrao sokalmichener sokalsneath yule kulsinski
    kulczynski1
    """,
    ),
    "it compares for equality: it changes by steps",
)
nondifferentiable(named(distance, "is_valid_dm is_valid_y num_obs_dm num_obs_y"))
