"""Compares syntax trees, positions aside.

Trees of `ast` are compared rather than of `gast`, which is stricter: gast's are a function of these, and
converting costs more than all the rest. Constants are equal only if their types and all digits are the same
(0.0 is not -0.0).
"""
from __future__ import annotations

import ast

__all__ = ["difference"]


def difference(a: object, b: object) -> str | None:
    """Where and how two trees differ, or None."""
    if type(a) is not type(b):
        return f": {type(a).__name__} or {type(b).__name__}"
    if isinstance(a, ast.AST):
        for name in a._fields:
            found = difference(getattr(a, name, None), getattr(b, name, None))
            if found is not None:
                return f".{name}{found}"
        return None
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return f": {len(a)} or {len(b)} items"
        for x, y in zip(a, b, strict=True):
            found = difference(x, y)
            if found is not None:
                return found
        return None
    if isinstance(a, int) and isinstance(b, int):  # Python refuses to write very long ones in decimal
        return None if a == b else f": {a:#x} or {b:#x}"
    return None if repr(a) == repr(b) else f": {a!r} or {b!r}"
