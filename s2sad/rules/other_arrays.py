"""Rules that are not for arrays of all libraries: their lines convert, or ask arrays for numbers.

Tests compare each rule's derivatives for arrays of NumPy's and of strict libraries: what is not declared here
is the same for all of them.
"""

from __future__ import annotations

import numpy as np

from ..primitives.record import declare

linalg = np.linalg

# Of NumPy's arrays alone.
declare(
    [
        np.apply_along_axis, np.corrcoef, np.cov, np.gradient, np.i0, np.interp, np.median, np.nanmedian,
        np.nanpercentile, np.nanquantile, np.percentile, np.piecewise, np.polyfit, np.polyval, np.quantile,
        np.vander, linalg.cholesky, linalg.eig, linalg.eigh, linalg.eigvalsh, linalg.qr, linalg.svd,
    ],
    arrays="numpy",
)  # fmt: skip
declare(
    [
        np.block, np.choose, np.compress, np.delete, np.extract, np.fft.hfft, np.fft.irfft, np.fft.irfft2,
        np.fft.irfftn, np.geomspace, np.insert, np.linspace, np.logspace, np.polyder, np.polyint, np.repeat,
        np.resize, np.select, np.take, np.take_along_axis, np.tile, np.unique, linalg.tensorsolve,
    ],
    arrays_in_reverse="numpy",
)  # fmt: skip

# Of libraries that compute at once, too.
declare([np.roots, linalg.det], arrays="eager")
declare([np.apply_over_axes, np.cumprod, np.einsum, np.nancumprod], arrays_in_reverse="eager")
if hasattr(np, "cumulative_prod"):
    declare([np.cumulative_prod], arrays_in_reverse="eager")
