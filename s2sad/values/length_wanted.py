"""The exception that asks for kinds with a static length: see `s2sad/kinds/static_lengths.py`."""

from __future__ import annotations

__all__ = ["LengthWanted"]


class LengthWanted(Exception):
    """Asks for kinds of arguments that contain which axes have this length."""

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length
