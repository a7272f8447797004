"""The functions of `scipy.special` that SciPy has as functions of real numbers in C, by its Cython API. Those
that warn of numbers that are no integers are left out.

Importing this module imports SciPy only if that is in use.
"""

from __future__ import annotations

import ctypes
import importlib
import re
import sys
from functools import cache
from typing import Any

import numpy as np

__all__ = ["is_special", "special_functions"]

SIGNATURE = re.compile(r"double \(((?:double, )+)int __pyx_skip_dispatch\)")


def is_special(function: Any) -> bool:
    """Whether a function is one of these."""
    return isinstance(function, np.ufunc) and function in special_functions()


def special_functions() -> dict[Any, int]:
    """The addresses of the functions in C, by SciPy's functions of arrays; none if SciPy is not in use."""
    return _found() if "scipy.special" in sys.modules else {}


@cache
def _found() -> dict[Any, int]:
    special = importlib.import_module("scipy.special")
    capsules = importlib.import_module("scipy.special.cython_special").__pyx_capi__
    found: dict[Any, int] = {}
    signatures = {key: _name_of(capsule) for key, capsule in capsules.items()}
    names = {key: re.sub(r"^__pyx_fuse_\d+", "", key) for key in signatures}
    warning = {names[key] for key, signature in signatures.items() if b"long" in signature}
    for key, name in names.items():
        function, match = getattr(special, name, None), SIGNATURE.fullmatch(signatures[key].decode())
        if match is None or not isinstance(function, np.ufunc) or name in warning:
            continue
        if (function.nin, function.nout) == (match[1].count("double"), 1):
            found[function] = _pointer_of(capsules[key], signatures[key])
    return found


_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.restype, _name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
