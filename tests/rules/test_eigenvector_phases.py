"""Vectors of complex matrices: their phases are those that LAPACK gives them, and have derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.primitives.record import find_rule
from s2sad.transforms.errors import NonDifferentiableError
from tests.support.build import build
from tests.support.compare import check_program, check_second

RNG = np.random.default_rng(3)


def matrices(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    return RNG.standard_normal(shape), RNG.standard_normal(shape)


OF_HERMITIAN = [
    "w, v = np.linalg.eigh(a + np.conj(a.T))\nreturn np.sum(w * np.real(v[1]) + np.imag(v[2]) ** 2)",
    "w, v = np.linalg.eigh(a, 'U')\nreturn np.real(np.sum((v * w) ** 3))",
    "w, v = np.linalg.eigh(a)\nreturn np.sum(np.abs(v[0]) * w)",
    "u, s, vh = np.linalg.svd(a + np.conj(a.T), hermitian=True)\nreturn np.sum(np.real(u * s) + np.imag(vh))",
]
OF_ANY = [
    "u, s, vh = np.linalg.svd(a, full_matrices=False)\nreturn np.sum(np.real(u) ** 3) + np.sum(np.imag(vh))",
    "u, s, vh = np.linalg.svd(a, full_matrices=False)\nreturn np.sum(np.abs(u @ vh) ** 2 + np.real(u @ vh))",
]


@pytest.mark.parametrize("text", OF_HERMITIAN)
def test_hermitian_matrices(text: str) -> None:
    body = "".join(f"    {line}\n" for line in text.splitlines())
    f = build(f"def f(x, y):\n    a = x + 1j * y\n{body}")
    args = matrices(3, 3)
    check_program(f, args, (0, 1))
    check_second(f, args, (0, 1))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("text", OF_ANY)
def test_singular_vectors(text: str, shape: tuple[int, int]) -> None:
    body = "".join(f"    {line}\n" for line in text.splitlines())
    f = build(f"def f(x, y):\n    a = x + 1j * y\n{body}")
    args = matrices(*shape)
    check_program(f, args, (0, 1))
    check_second(f, args, (0, 1))


def test_a_phase_that_is_not_known_is_refused_unless_it_does_not_matter() -> None:
    x = np.array([[2.0, 0.0, 0.3], [0.0, 1.0, 0.0], [0.3, 0.0, 5.0]])  # a vector is zero along the first axis

    def real_part(x: Any, y: Any) -> Any:
        _, v = np.linalg.eigh(x + 1j * y)
        return np.sum(np.real(v) ** 3)

    def magnitude(x: Any) -> Any:
        _, v = np.linalg.eigh(x + 0j)
        return np.sum(np.abs(v) ** 4)

    assert np.any(np.linalg.eigh(x)[1][0] == 0)
    with pytest.raises(NonDifferentiableError, match="phases"):
        jvp(real_part, (x, 0 * x), (0 * x, np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.5], [0.0, -0.5, 0.0]])))
    change = (magnitude(x + 1e-6) - magnitude(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(np.sum(grad(magnitude)(x)), change, rtol=1e-6)


@pytest.mark.parametrize(
    ("f", "read"),
    [(np.linalg.eigh, {"UPLO": "L"}), (np.linalg.svd, {"a": None, "compute_uv": True, "hermitian": False})],
)
def test_another_choice_of_phases_is_refused(f: Any, read: dict[str, Any]) -> None:
    a = np.array([[2.0, 0.3 + 1j], [0.3 - 1j, -1.0]])
    out = f(a)
    turned = type(out)(*(x * np.exp(0.4j) if np.iscomplexobj(x) else x for x in out))
    rule = find_rule(f)
    assert rule is not None and rule.jvp_template is not None
    with pytest.raises(NonDifferentiableError, match="phases"):
        rule.template.function(a, out=turned, dout=type(out)(*map(np.ones_like, out)))
    with pytest.raises(NonDifferentiableError, match="phases"):
        rule.jvp_template.function(**read, out=turned, da=np.array([[0.3, 0.2j], [-0.2j, 0.1]]))
