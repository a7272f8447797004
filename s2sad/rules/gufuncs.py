"""Products of stacks of matrices with stacks of vectors, which NumPy has since 2.2."""
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from ..primitives.record import bprop
from ..runtime.adjoints import unbroadcast
from .samples import A, given

MATVEC = [given(A(2, 3), A(3)), given(A(5, 2, 3), A(3)), given(A(2, 3), A(5, 3)),
          given(A(2, 3, dtype="float32"), A(3)),
          given(A(2, 3, dtype="complex128"), A(3, dtype="complex128"))]
VECMAT = [given(A(2), A(2, 3)), given(A(2), A(5, 2, 3)), given(A(5, 2), A(2, 3)),
          given(A(2, dtype="float32"), A(2, 3)),
          given(A(2, dtype="complex128"), A(2, 3, dtype="complex128"))]

if hasattr(np, "matvec"):
    @bprop(np.matvec, "bilinear", samples=MATVEC)
    def matvec(x, y, *, out, dout):
        dx = np.expand_dims(dout, -1) * np.expand_dims(y, -2)
        return unbroadcast(dx, x), unbroadcast(np.matvec(np.swapaxes(x, -1, -2), dout), y)

    # The vector is conjugated, as in `np.vecdot`.
    @bprop(np.vecmat, "bilinear", samples=VECMAT)
    def vecmat(x, y, *, out, dout):
        dy = np.expand_dims(np.conj(x), -1) * np.expand_dims(dout, -2)
        return unbroadcast(np.conj(np.matvec(y, dout)), x), unbroadcast(dy, y)
