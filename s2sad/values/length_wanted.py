"""What asks who generates for kinds that tell a length: see `s2sad/kinds/static_lengths.py`."""

from __future__ import annotations

__all__ = ["LengthWanted"]


class LengthWanted(Exception):
    """The kinds of arguments are to tell which axes are so long."""

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length
