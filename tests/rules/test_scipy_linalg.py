"""Functions of `scipy.linalg` take stacks of matrices, vectors and numbers, too, where their rules do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad

linalg = pytest.importorskip("scipy.linalg")

MATRIX = np.array([[2.0, 0.3, 0.5], [0.4, 3.0, 0.1], [0.2, 0.6, 1.5]])
STACK = np.array([MATRIX, MATRIX.T, MATRIX + 1.0])
REFUSED = r"matrices|vectors|columns"
CALLS = [
    (linalg.solve_sylvester, (MATRIX, MATRIX, 0.3)),  # a number is one times the identity
    (linalg.solve_discrete_lyapunov, (0.1 * MATRIX[:1, 0], MATRIX)),
    (linalg.solve_triangular, (STACK, MATRIX[0])),
    (lambda a, b: linalg.cho_solve((a, False), b), (STACK, MATRIX[0])),
    (lambda a, b: linalg.solve_banded((1, 1), a, b), (STACK, MATRIX)),
    (linalg.sqrtm, (0.6,)),
    (linalg.expm, (0.6,)),
    (linalg.lu, (MATRIX[:, :2],)),
    (linalg.lu_factor, (MATRIX[0],)),
    (linalg.circulant, (MATRIX,)),
    (linalg.block_diag, (STACK, MATRIX)),
    (lambda a, b: linalg.eigh(a, b, eigvals_only=True), (STACK @ STACK.swapaxes(1, 2), np.eye(3))),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: getattr(call[0], "__name__", ""))
def test_what_is_not_one_matrix_is_refused(call: Any) -> None:
    f, args = call
    with pytest.raises(s2sad.S2sadError, match=REFUSED):
        out, bprop = s2sad.vjp(f, *args)
        bprop(out)
    if f is not linalg.circulant and f is not linalg.block_diag:  # linear, and right
        with pytest.raises(s2sad.S2sadError, match=REFUSED):
            s2sad.jvp(f, args, args)
