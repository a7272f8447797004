"""The fields of the named tuples that functions of NumPy return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program, check_second

MATRIX = np.array([[2.0, 0.3, -0.1], [0.4, 3.5, 0.2], [0.1, -0.3, 5.0]])


def of_a_determinant(x: Any) -> Any:
    return np.linalg.slogdet(x).logabsdet


def of_a_factor(x: Any) -> Any:
    return np.linalg.qr(x).R


def of_vectors(x: Any) -> Any:
    return np.linalg.eigh(x + x.T).eigenvectors ** 2


def of_singular_vectors(x: Any) -> Any:
    return np.linalg.svd(x, full_matrices=False).Vh ** 2


def by_name_and_place(x: Any) -> Any:
    found = np.linalg.eigh(x + x.T)
    return found.eigenvalues * found[1] ** 2


def unpacked(x: Any) -> Any:
    values, vectors = np.linalg.eigh(x + x.T)
    return values * vectors**2


def unpacked_and_named(x: Any) -> Any:
    found = np.linalg.eigh(x + x.T)
    values, vectors = found
    return values * vectors**2 + found.eigenvalues


def of_either(x: Any) -> Any:
    found = np.linalg.eigh(x + x.T) if x[0, 0] > 0 else np.linalg.eigh(x @ x.T)
    return found.eigenvalues


def general_vectors(x: Any) -> Any:
    return np.abs(np.linalg.eig(x).eigenvectors)


def general_pairs(x: Any) -> Any:
    values, vectors = np.linalg.eig(x)
    return np.abs(vectors * values)


def passed_on(x: Any) -> Any:
    return values_of(np.linalg.eigh(x + x.T))


def values_of(found: Any) -> Any:
    return found.eigenvalues


PROGRAMS = [
    of_a_determinant,
    of_a_factor,
    of_vectors,
    of_singular_vectors,
    by_name_and_place,
    unpacked,
    unpacked_and_named,
    of_either,
    general_vectors,
    general_pairs,
    passed_on,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_fields_of_named_results(f: Any) -> None:
    check_program(f, (MATRIX,), (0,))
    check_second(f, (MATRIX,), (0,))


def test_what_is_unpacked_is_no_named_tuple_again() -> None:
    assert "pack_like" not in s2sad.vjp(unpacked).source_for(MATRIX)


def test_named_results_of_stacks() -> None:
    stack = np.stack([MATRIX, MATRIX.T + 1.0])
    check_program(of_a_determinant, (stack,), (0,))
    check_program(of_a_factor, (stack,), (0,))


def test_the_real_part_of_a_complex_array_has_a_complex_gradient() -> None:
    z = np.array([1.0 + 2.0j, 3.0])
    for f in (lambda z: np.sum(np.real(z) * 2.0), lambda z: np.sum(z.real**2)):
        assert s2sad.grad(f)(z).dtype == complex
