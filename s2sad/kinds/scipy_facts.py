"""What is known of functions of SciPy by their names: nothing of it is imported."""

from __future__ import annotations

from typing import Any

__all__ = ["has_known_shape", "makes_new"]

# They make new arrays, unless they are told to overwrite one.
_NEW = {
    f"{module}.{name}"
    for module, names in {
        "linalg": """
            block_diag cho_factor cho_solve cholesky circulant det eig eigh eigh_tridiagonal eigvals eigvalsh
            expm inv logm lstsq lu_factor lu_solve norm pinv qr solve solve_banded solve_circulant
            solve_toeplitz solve_triangular solveh_banded sqrtm svd svdvals toeplitz
        """,
        "fft": "dct dctn dst dstn fft fft2 fftn idct idctn idst idstn ifft ifft2 ifftn irfft rfft",
        "integrate": "cumulative_trapezoid romb simpson trapezoid",
        "signal": "convolve convolve2d correlate fftconvolve lfilter oaconvolve sosfilt",
        "stats": "cdf isf logcdf logpdf logsf pdf ppf sf",
        "special": "log_softmax logsumexp softmax",
    }.items()
    for name in names.split()
}

# The shapes or dtypes of their results depend on values; the last ends the process on an empty array.
_BY_VALUES = {"linalg.eig", "linalg.logm", "linalg.lstsq", "linalg.pinv", "linalg.sqrtm", "signal.convolve2d"}


def _name(function: Any) -> str:
    package, _, rest = (getattr(function, "__module__", None) or "").partition(".")
    name = getattr(function, "__name__", "")  # which a spline, or a distribution, does not have
    return f"{rest.partition('.')[0]}.{name}" if package == "scipy" else ""


def makes_new(function: Any) -> bool:
    """Whether the function makes new arrays, unless it is told to overwrite one."""
    return _name(function) in _NEW


def has_known_shape(function: Any) -> bool:
    """Whether the kind of the function's result follows from those of its arguments."""
    return _name(function) in _NEW - _BY_VALUES
