"""Operators of sparse matrices: unlike those of arrays, `*` may be a matrix product.

Where the kind of an operand is sparse, an operator other than `@` resolves to `sparse_arithmetic`, which has
no rule.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ..primitives.record import refuse
from .lattice import SPARSE, UNKNOWN, Kind, Scalar, Sparse, widen

__all__ = ["GIVING_SPARSE", "kind_with_sparse", "makes_sparse", "sparse_arithmetic", "sparse_operator"]

_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_ARITHMETIC = frozenset(getattr(operator, prefix + name) for name in _NAMES for prefix in ("", "i"))


def sparse_arithmetic(x: Any, y: Any) -> Any:
    """Stands for an operator other than `@` with a sparse operand."""
    raise TypeError("this stands in analyses for what the program itself runs")


refuse(
    [sparse_arithmetic],
    "`*` of sparse matrices multiplies matrices or elements, as their class has it: write `A @ x`, "
    "or compute with `A.toarray()`",
)


def sparse_operator(function: Any, left: Kind, right: Kind) -> Any:
    """The function that an operator resolves to with a sparse operand; None where none is known to be sparse.
    """
    is_sparse = isinstance(left, Sparse) or isinstance(right, Sparse)
    return sparse_arithmetic if is_sparse and function in _ARITHMETIC else None


def makes_sparse(function: Any) -> bool:
    """Whether a function with a rule is a constructor of SciPy's sparse matrices."""
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    return module.startswith("scipy.sparse._") and name != "dot"


def kind_with_sparse(function: Any, args: Sequence[Kind]) -> Kind:
    """The kind of the result of a function of sparse matrices: sparse if all other arguments are numbers."""
    operators = (sparse_arithmetic, operator.matmul, operator.neg)
    alike = all(isinstance(widen(k), (Sparse, Scalar)) for k in args) and function in operators
    return SPARSE if alike or makes_sparse(function) else UNKNOWN


# Methods of sparse matrices that always return a sparse matrix.
GIVING_SPARSE = frozenset(
    {
        "asformat",
        "astype",
        "ceil",
        "conj",
        "conjugate",
        "copy",
        "expm1",
        "floor",
        "getcol",
        "getH",
        "getrow",
        "log1p",
        "maximum",
        "minimum",
        "multiply",
        "power",
        "reshape",
        "rint",
        "sign",
        "sqrt",
        "tobsr",
        "tocoo",
        "tocsc",
        "tocsr",
        "todia",
        "todok",
        "tolil",
        "transpose",
        "trunc",
    }
)

