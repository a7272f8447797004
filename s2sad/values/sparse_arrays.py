"""Sparse arrays of SciPy, without SciPy."""

from __future__ import annotations

from typing import Any

__all__ = ["is_sparse"]


def is_sparse(value: Any) -> bool:
    """Whether the value is a sparse array or matrix; SciPy need not be imported to tell."""
    return hasattr(type(value), "tocsr")
