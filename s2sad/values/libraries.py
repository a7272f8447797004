"""Arrays of libraries other than NumPy, which NumPy's functions and operators are passed on to.

An array is followed if its class has NumPy's protocols, `__array_ufunc__` and `__array_function__`. What else
must be known of a library stands in one table.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..transforms.errors import NonDifferentiableError

__all__ = [
    "Library",
    "is_any_array",
    "is_lazy",
    "library_of",
    "library_of_class",
    "reason_for_refusal",
    "refuse_libraries",
]


@dataclass(frozen=True)
class Library:
    """What is known of the arrays of a library.

    `name` is the module whose functions NumPy's calls reach, or a class. `is_lazy`: values are computed
    later, so that no number or truth value may be asked of an array. `rebinds`: `x += v` is `x = x + v`, and
    changes no array. `is_complete`: a function of NumPy that the module lacks is an error; else its arguments
    would be converted.
    """

    name: str
    is_lazy: bool = False
    rebinds: bool = False
    is_complete: bool = True

    def implements(self, function: Any) -> bool:
        """Whether a function of NumPy is passed on to the library, rather than that arguments are converted.
        """
        if self.is_complete or not isinstance(function, type(np.sum)):
            return True
        found: Any = sys.modules.get(self.name)
        for part in (*function.__module__.split(".")[1:], function.__name__):
            found = getattr(found, part, None)
        return found is not None and found is not function


KNOWN = {
    "dask.array": Library("dask.array", is_lazy=True, rebinds=True, is_complete=False),
    "cupy": Library("cupy"),
}

# Arrays that NumPy's operators mean something else for, or that its functions do not know: why.
_BY_NAMES = "its axes go by names, and operations align them"
_REFUSED = {
    "xarray": (_BY_NAMES, "pass the array that it holds, {}.data"),
    "pint": ("units are not followed", "pass the number or the array that it holds, {}.magnitude"),
}


def library_of(value: Any) -> Library | None:
    """The library of an array; None for NumPy's, for arrays that are not followed, and for other objects.

    >>> library_of(np.ones(2)), library_of(1.5)
    (None, None)
    """
    cls: type = type(value)
    return library_of_class(cls)


@lru_cache(maxsize=1024)
def library_of_class(cls: type) -> Library | None:
    """The library of a class of arrays."""
    if issubclass(cls, np.ndarray) or not has_protocols(cls) or reason_for_refusal(cls) is not None:
        return None
    for base in cls.__mro__:
        for name, library in KNOWN.items():
            if f"{base.__module__}.".startswith(f"{name}."):
                return library
    return Library(f"{cls.__module__}.{cls.__qualname__}", getattr(cls, "__s2sad_lazy__", False))


def is_lazy(x: Any) -> bool:
    """Whether a value is an array that is computed later, so that no truth value may be asked of it."""
    library = None if type(x) is np.ndarray else library_of(x)
    return library is not None and library.is_lazy


def is_any_array(x: Any) -> bool:
    """Whether a value is an array, of NumPy's or of a library."""
    return isinstance(x, np.ndarray) or library_of(x) is not None


def refuse_libraries(x: Any, what: str, instead: str) -> None:
    """Raises NonDifferentiableError for an array of a library, also in a list, tuple or dict, of which `what`
    was asked.
    """
    if isinstance(x, (list, tuple, dict)):
        for part in x.values() if isinstance(x, dict) else x:
            refuse_libraries(part, what, instead)
        return
    library = library_of(x)
    if library is not None:
        raise NonDifferentiableError(
            f"{what} was asked of an array of {library.name}",
            why="it is put together of NumPy's arrays, element by element",
            instead=instead,
        )


def has_protocols(cls: type) -> bool:
    """Whether NumPy's functions and ufuncs are passed on to a class of arrays."""
    both = (getattr(cls, name, None) for name in ("__array_function__", "__array_ufunc__"))
    return all(map(callable, both)) and hasattr(cls, "shape") and hasattr(cls, "dtype")


def reason_for_refusal(cls: type) -> tuple[str, str] | None:
    """Why arrays of a class are not followed, and what to pass instead of one; None for all others."""
    for base in cls.__mro__:
        found = _REFUSED.get(base.__module__.partition(".")[0])
        if found is not None and hasattr(cls, "__mul__"):
            return found
    if hasattr(cls, "magnitude") and hasattr(cls, "units"):
        return _REFUSED["pint"]
    is_numpy = issubclass(cls, (np.ndarray, np.generic))
    if hasattr(cls, "__array_namespace__") and not has_protocols(cls) and not is_numpy:
        why = "the functions of its arrays are those of `x.__array_namespace__()`, which have no rules"
        return why, "use np.asarray({})"
    return None
