"""Functions of `scipy.optimize` whose source takes ways of SciPy's own, written out: calls of these are
differentiated in their place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from ..primitives.record import stands_in


@stands_in(optimize.rosen_hess)
def rosen_hess(x: Any) -> Any:
    x = np.atleast_1d(x)
    if x.dtype.kind != "f":
        x = x.astype(float)
    beside = 400 * x[:-1]
    hessian = np.diag(-beside, 1) - np.diag(beside, -1)
    diagonal = np.zeros(x.shape[0], dtype=x.dtype)
    diagonal[0] = 1200 * x[0] ** 2 - 400 * x[1] + 2
    diagonal[-1] = 200
    diagonal[1:-1] = 202 + 1200 * x[1:-1] ** 2 - 400 * x[2:]
    return hessian + np.diag(diagonal)
