"""The kinds of random numbers: `np.random.normal`, `rng.standard_normal(n)`.

Contract: as in result_kinds. Nothing is drawn to find them: a distribution gives float64, of its argument
`size`, or of the shape of its parameters.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from .creation import dims_of_shape
from .elementwise import elementwise_kind
from .lattice import RANDOM, UNKNOWN, Array, Kind, Literal, Scalar, Tuple, widen

__all__ = ["DRAWING", "draw_kind", "drawn_kind"]

# The parameters of each distribution of floats, before the size.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("random", "random_sample", "ranf", "sample", "standard_normal"), ()),
    **dict.fromkeys(("standard_cauchy", "standard_exponential"), ()),
    **dict.fromkeys(("normal", "laplace", "logistic", "gumbel"), ("loc", "scale")),
    "uniform": ("low", "high"),
    "lognormal": ("mean", "sigma"),
    "exponential": ("scale",),
    "rayleigh": ("scale",),
    "gamma": ("shape", "scale"),
    "standard_gamma": ("shape",),
    "beta": ("a", "b"),
    "chisquare": ("df",),
    "standard_t": ("df",),
    "weibull": ("a",),
    "pareto": ("a",),
    "power": ("a",),
    "triangular": ("left", "mode", "right"),
}
_BY_LENGTHS = ("rand", "randn")
_MAKERS = (np.random.default_rng, np.random.Generator, np.random.RandomState)
_OF_MODULE = {getattr(np.random, n): n for n in (*_PARAMETERS, *_BY_LENGTHS) if hasattr(np.random, n)}
DRAWING: frozenset[Any] = frozenset({*_MAKERS, *_OF_MODULE})


def draw_kind(function: Any, args: Sequence[Kind], keywords: Mapping[str, Kind]) -> Kind:
    """The kind of the result of one of `DRAWING`: functions of `np.random`."""
    if isinstance(function, Hashable) and function in _OF_MODULE:
        return drawn_kind(_OF_MODULE[function], args, keywords)
    return RANDOM


def drawn_kind(name: str, args: Sequence[Kind], keywords: Mapping[str, Kind]) -> Kind:
    """The kind of the result of a method of a generator of random numbers.

    >>> drawn_kind("normal", [Literal(0.0), Literal(1.0)], {"size": Literal(3)}).dims
    (Sym(name='=3', offset=0, not_one=True, large=False),)
    """
    if name in _BY_LENGTHS:
        return UNKNOWN if keywords else _of_size(Tuple(tuple(args))) if args else Scalar("float")
    parameters = _PARAMETERS.get(name)
    if parameters is None or len(args) > len(parameters) + 1:
        return UNKNOWN
    given = {**dict(zip((*parameters, "size"), args, strict=False)), **keywords}
    if not given.keys() <= {*parameters, "size"}:  # another dtype, or an array to fill
        return UNKNOWN
    size = given.pop("size", Literal(None))
    if size != Literal(None):
        return _of_size(size)
    kinds = [k for k in map(widen, given.values()) if not isinstance(k, Scalar)]
    if not kinds:
        return Scalar("float")
    made = kinds[0]
    for kind in kinds:
        made = elementwise_kind(operator.add, (made, kind))
    return Array("float64", made.dims) if isinstance(made, Array) and made.dims else UNKNOWN


def _of_size(size: Kind) -> Kind:
    dims = dims_of_shape(size)
    return UNKNOWN if dims is None else Array("float64", dims)
