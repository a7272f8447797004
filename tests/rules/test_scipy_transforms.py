"""The rules of `scipy.fft` and `scipy.spatial.distance`, alone and in programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.signal
from scipy.spatial import distance

import s2sad
from s2sad.primitives.record import find_rule
from s2sad.rules.scipy_fft import SHARED
from s2sad.testing.check_rules import check_rule
from s2sad.transforms.errors import NonDifferentiableError
from tests.support.compare import check_program, check_second

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


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("orthogonalize", [None, False, True])
def test_cosine_and_sine_transforms_are_transposed(
    name: str, kind: int, norm: Any, orthogonalize: Any
) -> None:
    transform = getattr(scipy.fft, name)
    rule = find_rule(transform)
    assert rule is not None
    options = {"type": kind, "norm": norm, "orthogonalize": orthogonalize}
    matrix = transform(np.eye(5), **options, axis=0)
    (dx,) = rule.template.function(np.zeros((5, 5)), **options, axis=0, out=matrix, dout=np.eye(5))
    np.testing.assert_allclose(dx, matrix.T, atol=1e-13)


def test_an_orthogonal_transform_is_transposed_by_its_inverse() -> None:
    def f(x: Any) -> Any:
        return scipy.fft.dctn(x, norm="ortho")

    source = s2sad.vjp(f).source_for(np.ones((2, 3)))
    assert 'dx = idctn(dout, norm="ortho")\n' in source


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


@pytest.mark.parametrize("mode", [s2sad.grad, s2sad.jacfwd])
def test_filters_that_look_for_a_state_are_refused(mode: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(scipy.signal.filtfilt([1.0, 0.5], [1.0, 0.2], x, method="gust"))

    def g(x: Any) -> Any:
        return np.sum(scipy.signal.savgol_filter(x, 4, 2, mode="mirror"))

    with pytest.raises(NonDifferentiableError, match="method='gust'"):
        mode(f)(np.ones(9))
    with pytest.raises(NonDifferentiableError, match="even length"):
        s2sad.grad(g)(np.ones(9))
