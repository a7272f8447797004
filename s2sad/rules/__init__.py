"""The rules of Python and NumPy; importing this package declares them.

One module for each family of functions. Modules named `scipy_*` are not imported here but by the registry,
when SciPy is in use.
"""
from __future__ import annotations

import importlib
import pkgutil

for _module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
    if not _module.startswith("scipy_"):
        importlib.import_module(f"{__name__}.{_module}")
