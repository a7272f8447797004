"""Arrays of libraries other than NumPy, which NumPy's functions and operators are passed on to.

An array is followed if its class has NumPy's protocols, `__array_ufunc__` and `__array_function__`. What else
must be known of a library stands in one table.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..transforms.errors import NonDifferentiableError

__all__ = [
    "OUTLINES",
    "Library",
    "has_dtype",
    "is_any_array",
    "is_lazy",
    "is_other_array",
    "library_of",
    "library_of_class",
    "other_array",
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

# Subclasses of NumPy's arrays whose elements are computed with as those of arrays, whatever they define.
_SAME = (np.ndarray, np.memmap, np.recarray)
# What a subclass of NumPy's arrays may define anew: none of it takes part in a computation.
_OWN_WORDS = frozenset(
    ("__annotations__", "__class_getitem__", "__copy__", "__deepcopy__", "__dict__", "__dir__", "__doc__",
     "__firstlineno__", "__format__", "__getstate__", "__hash__", "__init__", "__init_subclass__",
     "__module__", "__new__", "__qualname__", "__reduce__", "__reduce_ex__", "__repr__", "__setstate__",
     "__slots__", "__static_attributes__", "__str__", "__weakref__")
)  # fmt: skip
# How to write an array or table as an array of NumPy's, by the attribute that its class has.
_AS_NUMPY = {
    "filled": "{}.filled(...)",
    "to_numpy": "{}.to_numpy()",
    "to_array": "{}.to_array().to_numpy()",
    "magnitude": "{}.magnitude",
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
    if issubclass(cls, np.ndarray) or not has_protocols(cls) or _has_units(cls):
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


OUTLINES: set[type] = set()  # classes of what is left of an array: its shape and dtype


def has_dtype(x: Any) -> bool:
    """Whether a value is an array, dense or sparse, what is left of one, or a number of NumPy's: an object of
    another class may have an attribute `dtype`, too.

    >>> has_dtype(np.float32(1.5)), has_dtype(1.5)
    (True, False)
    """
    if isinstance(x, (np.ndarray, np.generic)):
        return True
    cls = type(x)
    return cls in OUTLINES or hasattr(cls, "tocsr") or library_of(x) is not None


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


def is_other_array(cls: Any) -> bool:
    """Whether objects of a class are arrays or tables whose operations mean something else than those of
    NumPy's arrays: of such a subclass, or of a class that NumPy's functions pass on to or convert.

    >>> is_other_array(np.ma.MaskedArray), is_other_array(np.memmap), is_other_array(np.float64)
    (True, False, False)
    """
    return _is_other_array(cls)


@lru_cache(maxsize=1024)
def _is_other_array(cls: Any) -> bool:
    if issubclass(cls, np.ndarray):
        own = {name for c in cls.__mro__ if c not in _SAME and issubclass(c, np.ndarray) for name in vars(c)}
        return not own.isdisjoint(_OF_ARRAYS)
    if issubclass(cls, (np.generic, np.poly1d)) or library_of_class(cls) is not None:
        return False
    has = partial(hasattr, cls)
    converts = has("__array__") or has("__array_namespace__")
    passes_on = callable(getattr(cls, "__array_ufunc__", None)) or _has_units(cls)
    return passes_on or (converts and has("__mul__"))


_OF_ARRAYS = frozenset(dir(np.ndarray)) - _OWN_WORDS


def _has_units(cls: type) -> bool:
    return hasattr(cls, "magnitude") and hasattr(cls, "units")


def other_array(cls: type, shown: str) -> tuple[str, str, str]:
    """What is wrong with an array or table of a class in an operation, why, and what to write instead;
    `shown` is the expression.
    """
    found = next((text for name, text in _AS_NUMPY.items() if hasattr(cls, name)), "np.asarray({})")
    what = f"`{shown}` is a {_public_name(cls)}"
    return what, "its class decides what operations with it mean", f"write `{found.format(shown)}`"


def _public_name(cls: type) -> str:
    """The shortest path to a class, `numpy.ma.MaskedArray`."""
    parts = cls.__module__.split(".")
    for count in range(1, len(parts)):
        module = ".".join(parts[:count])
        if getattr(sys.modules.get(module), cls.__qualname__, None) is cls:
            return f"{module}.{cls.__qualname__}"
    return f"{cls.__module__}.{cls.__qualname__}"
