"""The default of a parameter whose value a callable object holds."""

from __future__ import annotations

__all__ = ["absent"]


class absent:
    """What a parameter is whose default is held by the closure."""
