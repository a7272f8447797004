"""The rules of `scipy.fft` and `scipy.spatial.distance`, alone and in programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
from scipy.spatial import distance

import s2sad
from s2sad.registry import find_rule
from s2sad.rules.scipy_fft import SHARED
from s2sad.testing import check_rule
from s2sad.transforms.errors import NonDifferentiableError
from tests.compare import check_program, check_second

POINTS = np.array([[0.3, 1.2], [-0.4, 0.9], [1.7, -0.2], [0.1, 0.4]])


@pytest.mark.parametrize("name", SHARED)
def test_the_transforms_that_numpy_has_too(name: str) -> None:
    rule = find_rule(getattr(scipy.fft, name))
    assert rule is not None
    check_rule(rule)


def filtered(x: Any) -> Any:
    return scipy.fft.irfft(scipy.fft.rfft(x) * np.array([1.0, 0.5, 0.2]), 4)


def smoothed(x: Any) -> Any:
    return scipy.fft.idct(scipy.fft.dct(x, norm="ortho") ** 2, norm="ortho")


def shifted(x: Any) -> Any:
    return np.abs(scipy.fft.fftshift(scipy.fft.fft2(np.outer(x, x)))) ** 2


@pytest.mark.parametrize("f", [filtered, smoothed, shifted], ids=lambda f: f.__name__)
def test_transforms_in_programs(f: Any) -> None:
    check_program(f, (np.array([0.3, 1.2, -0.7, 0.4]),), (0,))
    check_second(f, (np.array([0.3, 1.2, -0.7, 0.4]),), (0,))


def test_cosine_transforms_that_are_not_orthogonal_are_refused() -> None:
    with pytest.raises(NonDifferentiableError, match="orthogonal"):
        s2sad.grad(lambda x: np.sum(scipy.fft.dct(x)))(np.ones(3))


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock"])
def test_distances(metric: str) -> None:
    def kernel(x: Any, y: Any) -> Any:
        return np.exp(-distance.cdist(x, y, metric)) @ y

    def energy(x: Any) -> Any:
        return np.sum(1 / distance.pdist(x, metric))

    check_program(kernel, (POINTS, POINTS[:3] + 0.35), (0, 1))
    check_second(kernel, (POINTS, POINTS[:3] + 0.35), (0, 1))
    check_program(energy, (POINTS,), (0,))
    check_second(energy, (POINTS,), (0,))


def test_points_that_are_the_same_have_no_slope() -> None:
    found = s2sad.grad(lambda x: np.sum(distance.cdist(x, x)))(POINTS[[0, 0]])
    assert found.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert s2sad.grad(lambda x: np.sum(distance.pdist(x)))(np.array([[1.0, 2.0]])).tolist() == [[0.0, 0.0]]


def test_other_metrics_are_refused() -> None:
    with pytest.raises(NonDifferentiableError, match="cosine"):
        s2sad.grad(lambda x: np.sum(distance.pdist(x, "cosine")))(POINTS)
