"""Constant sparse matrices within programs; what of them is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg
from scipy.sparse.linalg import spsolve

import s2sad
from s2sad.kinds.abstraction import kind_of
from s2sad.kinds.lattice import SPARSE
from s2sad.runtime.adjoints import zeros_like
from s2sad.transforms.errors import MissingRuleError, UnsupportedSyntaxError
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
    "factors": ("linalg.factorized(C)(x)", X),
    "factors made outside": ("SOLVE(x)", X),
    "method of factors": ("LU.solve(LU.solve(x, 'T'), trans='H')", X),
    "factors, twice": ("linalg.splu(C).solve(SOLVE(x))", np.outer(X, [1.0, 2.0])),
    "incomplete factors": ("linalg.spilu(C).solve(x)", X),
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
        "linalg": linalg,
        "LU": linalg.splu(sparse.csc_array(DENSE)),
        "SOLVE": linalg.factorized(sparse.csc_array(DENSE)),
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
    "spsolve(sparse.csc_array(np.diag(np.exp(x))), np.ones(3))",
    "spsolve(sparse.csr_matrix(np.diag(x)).tocsc(), x)",
    "spsolve(sparse.diags([x], [0]).tocsc(), np.ones(3))",
    "spsolve(sparse.csc_array((x, [0, 1, 2], [0, 1, 2, 3])), np.ones(3))",
    "spsolve(A + x[0] * sparse.identity(3), np.ones(3))",
    "spsolve(sparse.csc_array(np.diag(x)).T, np.ones(3))",
    "linalg.factorized(sparse.csc_array(np.diag(x)))(np.ones(3))",
    "linalg.splu(x[0] * sparse.csc_array(A)).solve(np.ones(3))",
    "sparse.csr_array(np.diag(x)).dot(np.ones(3))",
    "sparse.csr_array(np.diag(x)).T @ np.ones(3)",
    "sparse.eye(3) * x" if hasattr(sparse, "eye") else "A * x",
]


@pytest.mark.parametrize("text", REFUSED)
@pytest.mark.parametrize("mode", [s2sad.jacobian, s2sad.jacfwd])
def test_what_would_multiply_by_elements_or_differentiate_by_them_is_refused(text: str, mode: Any) -> None:
    f = build(f"def f(x, A):\n    return {text}\n", sparse=sparse, spsolve=spsolve, linalg=linalg)
    with pytest.raises((MissingRuleError, UnsupportedSyntaxError)):
        mode(f)(X, sparse.csr_matrix(DENSE))


def of_a_linked_function(x: Any) -> Any:
    return np.sum(spsolve(made_again(x, 7), np.ones(3)))


def made_again(x: Any, n: int) -> Any:
    if n > 5:
        return made_again(x, n - 1)
    return sparse.csc_array(np.diag(x))


def of_elements_stored_one_by_one(x: Any) -> Any:
    A = sparse.lil_array((3, 3))
    for i in range(3):
        A[i, i] = x[i]
    return np.sum(spsolve(A.tocsc(), np.ones(3)))


def of_a_closure(x: Any) -> Any:
    A = sparse.csc_array(np.diag(x))

    def solve(b: Any) -> Any:
        return spsolve(A, b)

    return sum(np.sum(solve(b)) for b in [x, 2 * x])


@pytest.mark.parametrize("f", [of_a_linked_function, of_elements_stored_one_by_one, of_a_closure])
def test_a_sparse_array_made_elsewhere_of_what_is_differentiated_is_refused(f: Any) -> None:
    for derivative in (s2sad.grad(f), lambda x: s2sad.jvp(f)(x, x)):
        with pytest.raises(MissingRuleError):
            derivative(X)


def test_sparse_parts_of_arguments_are_constants() -> None:
    C = sparse.csc_array(DENSE)
    found = s2sad.grad(lambda p: np.sum(spsolve((2.0 * p["C"]).tocsc(), p["b"])))({"C": C, "b": X})
    assert found["C"] is None
    np.testing.assert_allclose(found["b"], np.linalg.solve(2 * DENSE.T, np.ones(3)))


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
