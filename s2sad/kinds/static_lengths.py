"""Lengths of arguments that a derivative is made for, beside their kinds: of `p` in `model(x, *p)`.

Kinds do not tell how long arrays are. Code that cannot do without raises LengthWanted, where who generates
can do it over with kinds that tell; elsewhere it goes on without.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ..values.length_wanted import LengthWanted
from .lattice import Dim, Sym

__all__ = ["LengthWanted", "lengths_offered", "offered_lengths", "want_length"]


_offers = threading.local()


@contextmanager
def lengths_offered(lengths: Mapping[str, int]) -> Iterator[None]:
    """Within it the lengths of axes of these names may be asked for."""
    before = offered_lengths()
    _offers.lengths = lengths
    try:
        yield
    finally:
        _offers.lengths = before


def offered_lengths() -> Mapping[str, int]:
    """The lengths of axes that may be asked for now, by the names of the axes."""
    found: Mapping[str, int] = getattr(_offers, "lengths", {})
    return found


def want_length(dim: Dim) -> None:
    """Raises LengthWanted for an axis of which the kinds could tell how long it is, and do not."""
    offered = offered_lengths()
    if isinstance(dim, Sym) and not dim.offset and dim.name in offered:
        raise LengthWanted(offered[dim.name])
