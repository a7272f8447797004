"""Compilers of generated code: machine code for derivatives.

A target is a module here whose `compiled_for(function, settings, form)` gives an object with
`version_for(args)`: the function that runs for arguments of these types.
"""

from typing import NamedTuple

__all__ = ["TARGETS", "Settings"]


class Settings(NamedTuple):
    """How a derivative is compiled."""

    fastmath: bool = False
    cache: bool = False
    parallel: bool = False


# By the name that `compile=` is given: the module.
TARGETS = {"numba": "numba_target"}
