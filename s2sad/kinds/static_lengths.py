"""Static lengths of arguments, which kinds contain on demand: that of `p` in `model(x, *p)`.

Kinds hold no lengths of arrays. A pass that needs one calls `want_length`, which raises LengthWanted; the
driver then generates again with kinds that contain it. Where no length is offered, it returns.
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
    """A context in which these lengths, by the names of axes, may be asked for."""
    before = offered_lengths()
    _offers.lengths = lengths
    try:
        yield
    finally:
        _offers.lengths = before


def offered_lengths() -> Mapping[str, int]:
    """The lengths that may be asked for now, by the names of axes."""
    found: Mapping[str, int] = getattr(_offers, "lengths", {})
    return found


def want_length(dim: Dim) -> None:
    """Raises LengthWanted for an axis whose length is offered."""
    offered = offered_lengths()
    if isinstance(dim, Sym) and not dim.offset and dim.name in offered:
        raise LengthWanted(offered[dim.name])
