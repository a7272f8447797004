"""The functions of NumPy whose results carry no derivative, by topic.

Functions of elements that step, compare or count are with the others in `arithmetic`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..primitives.record import declare, nondifferentiable

__all__ = ["RANDOM", "named"]


def named(module: Any, names: str) -> Iterator[Any]:
    """The functions of these names, those that this version of NumPy has."""
    return (getattr(module, name) for name in names.split() if name in dir(module))


# Made from nothing but shapes and integers.
nondifferentiable(named(np, """
    zeros ones empty eye identity tri indices diag_indices diag_indices_from
    tril_indices tril_indices_from triu_indices triu_indices_from mask_indices ravel_multi_index
    unravel_index broadcast_shapes ndindex hanning hamming blackman bartlett einsum_path
    """))
nondifferentiable([np.zeros_like, np.ones_like], shape_only=(0,), data=1, like=0)
nondifferentiable([np.empty_like], data=1, like=0)
nondifferentiable([np.shape, np.size, np.ndim], shape_only=(0,))

nondifferentiable(
    getattr(getattr(np.polynomial, family), name) for family, names in {
        "chebyshev": ("chebgauss", "chebpts1", "chebpts2"), "hermite": ("hermgauss",),
        "hermite_e": ("hermegauss",), "laguerre": ("laggauss",), "legendre": ("leggauss",)}.items()
    for name in names)

# What is asked of shapes, types and memory, and how things are written.
nondifferentiable(named(np, """
    iterable isfortran isscalar may_share_memory shares_memory result_type can_cast
    promote_types min_scalar_type common_type issubdtype isdtype mintypecode typename finfo iinfo dtype
    base_repr binary_repr array_repr array_str array2string format_float_positional format_float_scientific
    """))

# Whole numbers and truth values.
nondifferentiable(named(np, """
    argmax argmin nanargmax nanargmin argsort lexsort argpartition argwhere nonzero flatnonzero searchsorted
    digitize count_nonzero all any allclose isclose array_equal array_equiv isin in1d isneginf isposinf
    iscomplex isreal iscomplexobj isrealobj packbits unpackbits
    """), sharing="fresh")
nondifferentiable([np.linalg.matrix_rank])
declare([np.argmax, np.argmin, np.argsort, np.count_nonzero, np.all, np.any], data=1)
declare([np.searchsorted, np.array_equal, np.round, np.around], data=2)
declare([np.isclose, np.allclose], data=99)

# The shapes of these depend on values.
declare(named(np, """
    hamming hanning bartlett blackman argwhere nonzero flatnonzero unique union1d intersect1d setdiff1d
    setxor1d histogram_bin_edges histogram2d histogramdd
    """), runs=False)
declare([np.ndarray.item, np.ndarray.tolist, np.ndarray.compress], runs=False)

# Dates, and the days on which business is done.
nondifferentiable(named(np, """
    datetime64 timedelta64 datetime_as_string datetime_data busday_count busday_offset busdaycalendar
    is_busday
    """))

# Casts to integers, truth values, text; and the classes that dtypes are sorted by.
nondifferentiable(named(np, """
    int8 int16 int32 int64 uint8 uint16 uint32 uint64 byte short int_ long longlong ubyte ushort uint ulong
    ulonglong intp uintp intc uintc bool bool_ str_ bytes_ generic number integer signedinteger
    unsignedinteger inexact floating complexfloating flexible character ufunc
    """))
nondifferentiable([np.linalg.LinAlgError])

# Functions with effects outside of arrays, or with inputs other than their arguments.
nondifferentiable(named(np, """
    errstate seterr geterr seterrcall geterrcall setbufsize getbufsize printoptions set_printoptions
    get_printoptions save savez savez_compressed savetxt load loadtxt genfromtxt fromstring
    fromfile fromregex info show_config show_runtime get_include test
    """), pure=False)
nondifferentiable([getattr(module, "test") for module in (np.linalg, np.fft)], pure=False)  # noqa: B009

# Distributions with parameters have a derivative by these, so they are with what is refused; so is what puts
# given numbers into another order.
_RANDOM = """
    seed get_state set_state rand randn random random_sample ranf sample randint random_integers bytes
    standard_normal standard_exponential standard_cauchy default_rng RandomState Generator SeedSequence
    integers spawn
    """
RANDOM = tuple(_RANDOM.split())
_SOURCES = (np.random, np.random.Generator, np.random.RandomState)

nondifferentiable([getattr(s, n) for n in RANDOM for s in _SOURCES if hasattr(s, n)], pure=False)
