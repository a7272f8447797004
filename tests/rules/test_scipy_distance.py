"""Distances of two points are differentiated as SciPy writes them, in both modes and twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial import distance

import s2sad
from s2sad.transforms.errors import MissingRuleError
from tests.support.compare import check_program, check_second

U, V, W = np.array([0.7, 1.3, 0.2]), np.array([0.4, 0.9, 0.8]), np.array([0.5, 1.5, 1.0])
POSITIVE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 1.5]])


def weighted(d: Callable[..., Any]) -> Callable[..., Any]:
    def f(u: Any, v: Any, w: Any) -> Any:
        return d(u, v) * d(u, v, w=w)

    f.__name__ = d.__name__
    return f


def mahalanobis(u: Any, v: Any, w: Any) -> Any:
    return distance.mahalanobis(u, v * w, POSITIVE * w)


def minkowski(u: Any, v: Any, w: Any) -> Any:
    return distance.minkowski(u, v, 3) * distance.minkowski(u, v, 2.5, w) + distance.minkowski(u, v, 1, w)


def jensenshannon(u: Any, v: Any, w: Any) -> Any:
    return distance.jensenshannon(u, v) * distance.jensenshannon(u, w, base=2.0)


def seuclidean(u: Any, v: Any, w: Any) -> Any:
    return distance.seuclidean(u, v, w)


def squareform(u: Any, v: Any, w: Any) -> Any:
    return distance.squareform(distance.squareform(u * v) * 2.0 @ np.diag(w), checks=False)


DISTANCES = [
    *map(
        weighted,
        [
            distance.braycurtis,
            distance.canberra,
            distance.chebyshev,
            distance.cityblock,
            distance.correlation,
            distance.cosine,
            distance.euclidean,
            distance.sqeuclidean,
        ],
    ),
    mahalanobis,
    minkowski,
    jensenshannon,
    seuclidean,
    squareform,
]


@pytest.mark.parametrize("f", DISTANCES, ids=lambda f: f.__name__)
def test_distances_of_two_points(f: Callable[..., Any]) -> None:
    check_program(f, (U, V, W), (0, 1, 2))
    check_second(f, (U, V, W), (0, 1, 2))


def test_of_a_point_and_itself_there_is_no_slope() -> None:
    assert s2sad.grad(distance.euclidean)(U, U).tolist() == [0, 0, 0]
    assert s2sad.grad(distance.cityblock)(U, U).tolist() == [0, 0, 0]


def test_single_precision_and_lists_stay() -> None:
    assert s2sad.grad(distance.euclidean)(U.astype("f"), V.astype("f")).dtype == np.float32
    assert s2sad.grad(distance.euclidean)([3.0, 4.0], [0.0, 0.0]) == pytest.approx([0.6, 0.8])


def test_comparisons_are_refused() -> None:
    with pytest.raises(MissingRuleError, match="steps"):
        s2sad.grad(lambda u: distance.hamming(u, V) * u[0])(U)
