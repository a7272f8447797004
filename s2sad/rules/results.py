"""Results of several parts, of which some have a derivative that is known: dicts by names, as SciPy's are,
and tuples with the value first where more was asked for.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import zeros_like
from ..values.objects import Items
from ..values.pytree import flatten

__all__ = ["cotangent", "first", "first_cotangent", "first_tangent", "tangents"]


def check_parts(d: Any, names: tuple[Any, ...]) -> None:
    """Raises where another part than those named has a cotangent."""
    for name, value in _items(d):
        if name not in names and _is_nonzero(value):
            Items().__missing__(name)


def _items(x: Any) -> list[tuple[Any, Any]]:
    return list(x.items() if isinstance(x, dict) else enumerate(x))


def _is_nonzero(d: Any) -> bool:
    return any(np.any(part != 0) for part in flatten(d))


def _is_inert(value: Any) -> bool:
    """Whether a part carries no derivative."""
    zero = None if isinstance(value, dict) else zeros_like(value)
    return zero is None or (isinstance(zero, (list, tuple)) and all(z is None for z in zero))


def _inert_parts(out: dict[str, Any]) -> dict[str, None]:
    return dict.fromkeys(k for k, v in out.items() if _is_inert(v))


nondifferentiable([check_parts])


# ---------------------------------------------------------------- dicts


def cotangent(d: dict[str, Any], name: str, names: tuple[str, ...]) -> Any:
    """That of one of the parts `names`, which alone may have one."""
    check_parts(d, names)
    return d[name]


def placed(part: Any, name: str, d: dict[str, Any]) -> dict[str, Any]:
    """Zeros like `d`, but for one part."""
    return Items({**zeros_like(d), name: part})


def tangents(changes: dict[str, Any], out: Any) -> Any:
    """The tangents of a result, from those of some of its parts."""
    return Items({**_inert_parts(out), **changes})


def parts_of(d: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The cotangents of those parts, which alone may have any."""
    check_parts(d, names)
    return Items({name: d.get(name) for name in names})


@bprop(cotangent, "linear", samples=[({"x": 1.5, "y": None}, "x", ("x",))])
def cotangent_(d, name, names, out, dout):
    return placed(dout, name, d), None, None


@bprop(placed, "linear", samples=[(1.5, "x", {"x": 0.0, "y": 0.0})])
def placed_(part, name, d, out, dout):
    return dout[name], None, None


@bprop(tangents, samples=[({"x": 1.5}, {"x": 0.0, "success": True})])
def tangents_(changes, out_, *, out, dout):
    return parts_of(dout, tuple(changes)), None


@tangents_.jvp
def tangents_jvp(out_, out, dchanges):
    return tangents(dchanges, out_)


@bprop(parts_of, "linear", samples=[({"x": 1.5}, ("x",))])
def parts_of_(d, names, out, dout):
    return dout, None


# ---------------------------------------------------------------- tuples, if more was asked for


def first(out: Any, more: Any) -> Any:
    """The value."""
    return out[0] if more else out


def first_cotangent(d: Any, more: Any) -> Any:
    """That of the value, which alone may have one."""
    if more:
        check_parts(d, (0,))
        return d[0]
    return d


def first_tangent(dx: Any, out: Any, more: Any) -> Any:
    """The tangent of what was returned, from that of the value."""
    return (dx, *untold(out)) if more else dx


def untold(out: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tangents of what comes behind the value."""
    return tuple(Items(_inert_parts(x)) if isinstance(x, dict) else None for x in out[1:])


nondifferentiable([untold])
