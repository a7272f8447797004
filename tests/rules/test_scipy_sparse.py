"""Constant sparse matrices within programs; what of them is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve

import s2sad
from s2sad.kinds.abstraction import kind_of
from s2sad.kinds.lattice import SPARSE
from s2sad.runtime.adjoints import zeros_like
from s2sad.transforms.errors import MissingRuleError
from tests.support.build import build
from tests.support.compare import check_program, check_second

DENSE = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0], [5.0, 0.0, 6.0]])
FORMATS = [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.dia_matrix, sparse.dok_array]
X = np.array([0.3, -0.7, 1.1])

PRODUCTS = {
    "vector": ("A @ x", X),
    "matrix": ("A @ x", np.outer(X, [1.0, 2.0])),
    "from the left": ("x @ A", X),
    "rows from the left": ("x @ A", np.outer([1.0, 2.0], X)),
    "transpose": ("A.T @ x", X),
    "dot": ("A.dot(x)", X),
    "dot of transpose": ("A.T.dot(x)", X),
    "multiple": ("(2.0 * A) @ x", X),
    "sum": ("(A + A) @ x", X),
    "power": ("A @ (A @ x)", X),
    "made inside": ("sparse.diags(np.ones(3)) @ x", X),
    "class called inside": ("sparse.csr_array(D) @ x", X),
    "solve": ("spsolve(C, x)", X),
}


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_products(case: str) -> None:
    text, x = PRODUCTS[case]
    names: dict[str, Any] = {
        "A": sparse.csr_array(DENSE),
        "sparse": sparse,
        "spsolve": spsolve,
        "D": DENSE,
        "C": sparse.csc_array(DENSE),
    }
    f = build(f"def f(x):\n    return {text}\n", **names)
    check_program(f, (x,), (0,))
    check_second(f, (x,), (0,))


@pytest.mark.parametrize("kind", FORMATS, ids=lambda c: c.__name__)
def test_all_formats_as_arguments_within_loops(kind: Any) -> None:
    text = "def f(A, x):\n    for _ in range(3):\n        x = np.tanh(A @ x) + A.dot(x)\n    return sum(x)\n"
    f, matrix = build(text), kind(DENSE / 4)
    expected = s2sad.grad(f, 1)(DENSE / 4, X)
    np.testing.assert_allclose(s2sad.grad(f, 1)(matrix, X), expected, rtol=1e-13)


def test_sparse_matrices_have_a_kind_of_their_own() -> None:
    assert all(kind_of(kind(DENSE), "x") is SPARSE for kind in FORMATS)


REFUSED = [
    "A * x",
    "x * A",
    "A.T * x",
    "(2.0 * A) * x",
    "(x[0] * A) @ x",
    "A / x[0]",
    "sparse.diags(x) @ x",
    "sparse.csr_matrix((x, ([0, 1, 2], [0, 1, 2]))) @ x",
    "sparse.kron(A, x[:, None]) @ x",
    "sparse.eye(3) * x" if hasattr(sparse, "eye") else "A * x",
]


@pytest.mark.parametrize("text", REFUSED)
@pytest.mark.parametrize("mode", [s2sad.jacobian, s2sad.jacfwd])
def test_what_would_multiply_by_elements_or_differentiate_by_them_is_refused(text: str, mode: Any) -> None:
    f = build(f"def f(x, A):\n    return {text}\n", sparse=sparse)
    with pytest.raises(MissingRuleError):
        mode(f)(X, sparse.csr_matrix(DENSE))


def test_sparse_arguments_are_constants() -> None:
    f = build("def f(x, A):\n    return np.sum(A @ x)\n")
    dx, da = s2sad.grad(f, (0, 1))(X, sparse.csr_matrix(DENSE))
    np.testing.assert_allclose(dx, DENSE.sum(axis=0))
    assert da is None
    assert zeros_like(sparse.csr_array(DENSE)) is None


def test_a_refused_product_says_what_to_write() -> None:
    f = build("def f(x, A):\n    return np.sum(A * x)\n")
    with pytest.raises(MissingRuleError, match="write `A @ x`"):
        s2sad.grad(f)(X, sparse.csr_matrix(DENSE))


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize(
    "of", [lambda a: a.tocsc(), lambda a: a[:2], lambda a: a.T.copy(), lambda a: a.multiply(2.0)]
)
def test_a_star_of_what_methods_of_sparse_matrices_give_is_refused(make: Any, of: Any) -> None:
    a, x = make(np.array([[1.0, 2.0], [3.0, 4.0]])), np.array([[0.5, 2.0], [1.0, 3.0]])
    with pytest.raises(MissingRuleError, match="of sparse matrices multiplies"):
        s2sad.grad(lambda x, a: np.sum(of(a) * x))(x, a)
    with pytest.raises(MissingRuleError, match="of sparse matrices multiplies"):
        s2sad.jvp(lambda x, a: np.sum(x * of(a)), argnums=0)(x, a, x)
