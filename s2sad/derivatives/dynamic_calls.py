"""Dynamic calls: `f(x)` where `f` is an argument, an element of a list, or a nested function passed on.

The adjoint (and the tangent) of a function has the structure of its layout: see `lift`. The derivatives of
dynamic calls are plain functions, so that they can be differentiated again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any

from ..kinds import domain
from ..kinds.abstraction import kind_of
from ..primitives.provided import provide
from ..primitives.record import bprop
from ..rules.functional import parts_of
from ..runtime.adjoints import add, zeros_like
from ..runtime.records import snapshot_of
from ..source.compiling import make_function
from ..transforms.trees.program import Scope, identifier
from .closure_conversion import CALLED, Key, Layout, Lifted, Recursive, cached, leaves, lift, moved
from .derivative import Derivative
from .star_calls import STAR_CALLS

__all__ = ["close_recursion", "fprop_of", "jvp_of", "open_recursion"]


def fprop_of(
    f: Any,
    own: bool = False,
    keys: tuple[Key, ...] | None = None,
    careful: bool = False,
    outlived: bool = False,
) -> Callable[..., tuple[Any, Callable[[Any], tuple[Any, dict[Key, Any]]]]]:
    """The reverse derivative of any callable: `fprop(*args, **keywords)` is `(result, bprop)`, and
    `bprop(dout)` is the adjoint of `f` itself (None unless `own`) and a dict of the adjoints of the arguments
    with positions and names `keys` (None: all). With `careful` it raises all exceptions that `f` raises;
    with `outlived`, the objects that it is given may be changed before `bprop` is called.

    Raises MissingRuleError for a C function without a rule.
    """
    return _Fprop(f, own, keys, careful, outlived)


def jvp_of(f: Any, change: Any, changes: dict[Key, Any]) -> Callable[..., tuple[Any, Any]]:
    """The forward derivative of any callable, given its own tangent and those of some of its arguments:
    `(result, tangent)` when called.
    """
    return _Push(f, change, changes)


def _is_differentiable(value: Any) -> bool:
    return domain.is_differentiable(kind_of(value, "x")) is not False


def _is_number(value: Any) -> bool:
    return domain.may_hold_numbers(kind_of(value, "x"))


class _Fprop:
    def __init__(
        self, f: Any, own: bool, keys: tuple[Key, ...] | None, careful: bool, outlived: bool
    ) -> None:
        self.f, self.own, self.keys, self.careful, self.outlived = f, own, keys, careful, outlived

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        call = self.lift_call(args, keywords)
        return call.function(*call.values)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        """The call of `f` in reverse mode as one of a plain function; adjoints have the call's layouts."""
        call = lift(self.f, args, keywords)
        returned = call.own if self.own else None
        keys = call.arguments if self.keys is None else self.keys
        wanted = {k: call.arguments[k] for k in keys}
        positions = tuple(
            k for k in sorted({*leaves(returned), *leaves(wanted)}) if _is_differentiable(call.values[k])
        )
        given = _given(self.f, call)
        zeros = tuple(k for k in leaves(wanted) if k not in positions and _is_number(call.values[k]))
        how = self.careful, given, self.outlived
        key = (call.function, positions, zeros, repr((returned, wanted)), *how)
        function = cached(key, lambda: _fprop_function(call, returned, wanted, positions, zeros, *how))
        return replace(call, function=function)


def _given(f: Any, call: Lifted) -> frozenset[int]:
    """The values whose changes the caller does not follow: the arguments, and those bound to the function."""
    bound = isinstance(f, (functools.partial, MethodType))
    return frozenset(leaves(dict(call.arguments)) + leaves(call.own if bound else None))


def _fprop_function(
    call: Lifted,
    returned: Layout,
    wanted: dict[Key, Layout],
    positions: tuple[int, ...],
    zeros: tuple[int, ...],
    careful: bool,
    given: frozenset[int],
    outlived: bool,
) -> FunctionType:
    """`def f_fprop_of(...)`: calls the derivative of the lifted function with respect to the values at
    `positions`, and returns adjoints in the layouts, zero at the positions `zeros`. The function must not
    change the values `given`.
    """
    name = identifier(call.function.__name__)
    values = ", ".join(f"x{k}" for k in range(len(call.values)))
    adjoints = {k: f"dx{k}" for k in positions}
    unpacked = f"{''.join(f'{a}, ' for a in adjoints.values())}= " if adjoints else ""
    adjoints |= {k: f"zeros_like(x{k})" for k in zeros}
    copies = "".join(f"    x{k} = snapshot_of(x{k})\n" for k in zeros) if outlived else ""
    text = f"""def {name}_fprop_of({values}):
    out, bprop = {name}_fprop({values})
{copies}    def {name}_bprop_of(dout):
        {unpacked}bprop(dout)
        return {_written(returned, adjoints)}, {_written(wanted, adjoints)}
    return out, {name}_bprop_of
"""
    derivative = _derivative(call.function, "vjp", positions, careful, given, outlived)
    bindings = {f"{name}_fprop": derivative, "close_recursion": close_recursion}
    bindings |= {"zeros_like": zeros_like, "snapshot_of": snapshot_of}
    return make_function(text, f"{name}_fprop_of", Scope({}), bindings)


def _derivative(
    function: FunctionType,
    form: str,
    positions: tuple[int, ...],
    careful: bool = False,
    unchanged: frozenset[int] = frozenset(),
    outlived: bool = False,
) -> Derivative:
    """The derivative of a function that must not change its arguments at the positions `unchanged`."""
    key = (function, form, positions, careful, unchanged, outlived)
    options: dict[str, Any] = {"careful": careful, "unchanged": unchanged, "is_linked": True}
    options["outlived"] = outlived
    made: Derivative = cached(key, lambda: Derivative(function, form, positions, **options))
    return made


def _written(layout: Layout, names: Mapping[int, str]) -> str:
    """The expression of a layout with names in place of positions; None for a position without a name."""
    if isinstance(layout, dict):
        text = "{" + ", ".join(f"{k!r}: {_written(v, names)}" for k, v in layout.items()) + "}"
        for name in layout.names if isinstance(layout, Recursive) else ():
            text = f"close_recursion({text}, {name!r})"
        return text
    if isinstance(layout, tuple):
        return "(" + "".join(f"{_written(v, names)}, " for v in layout) + ")"
    return "None" if layout is None else names.get(layout, "None")


class _Push:
    def __init__(self, f: Any, change: Any, changes: dict[Key, Any]) -> None:
        self.f, self.change, self.changes = f, change, changes

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        call = self.lift_call(args, keywords)
        return call.function(*call.values)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        """The call of `f` in forward mode as one of a plain function; tangents follow the values."""
        call = lift(self.f, args, keywords)
        tangents: list[Any] = [None] * len(call.values)
        _collect(call.own, self.change, tangents)
        for key, change in self.changes.items():
            _collect(call.arguments[key], change, tangents)
        positions = tuple(
            k for k, t in enumerate(tangents) if t is not None and _is_differentiable(call.values[k])
        )
        places = {position: len(call.values) + k for k, position in enumerate(positions)}
        own = (
            call.own,
            moved(call.own, places),
            {k: moved(call.arguments[k], places) for k in self.changes},
        )
        derivative = _derivative(call.function, "jvp", positions, unchanged=_given(self.f, call))
        values = (*call.values, *(tangents[k] for k in positions))
        return replace(call, function=derivative.function_of(call.values), values=values, own=own)


def _collect(layout: Layout, tangent: Any, found: list[Any]) -> None:
    """Stores the parts of a tangent in `found`, at the positions of a layout."""
    if tangent is None or layout is None:
        return
    if isinstance(layout, int):
        found[layout] = tangent
        return
    if isinstance(tangent, dict) and not tangent.keys() <= layout.keys():
        raise LookupError(f"tangents {[*tangent]} of a function that captures {[*layout]}")
    for key in layout if isinstance(layout, dict) else range(len(layout)):
        _collect(layout[key], tangent.get(key) if isinstance(tangent, dict) else tangent[key], found)
    for name in layout.names if isinstance(layout, Recursive) else ():
        found[layout[name]] = tangent


# ---------------------------------------------------------------- rules


def close_recursion(adjoint: dict[str, Any], name: str) -> dict[str, Any]:
    """The adjoint of a recursive function, whose free variable `name` is itself: the adjoint of that variable
    is added to the other parts.
    """
    inner = adjoint[name]
    if inner is None:
        return adjoint
    return {k: None if k == name else add(v, inner.get(k)) for k, v in adjoint.items()}


def open_recursion(dout: dict[str, Any], adjoint: dict[str, Any], name: str) -> dict[str, Any]:
    """The transpose of `close_recursion`."""
    if adjoint[name] is None:
        return dout
    return {**dout, name: {k: None if k == name else dout[k] for k in adjoint[name]}}


@bprop(
    close_recursion,
    "linear",
    samples=[({"a": 1.5, "f": {"a": 2.5, "f": None}}, "f"), ({"a": 1.5, "f": None}, "f")],
)
def close_recursion_(adjoint, name, out, dout):  # type: ignore[no-untyped-def]
    return open_recursion(dout, adjoint, name), None


@bprop(open_recursion, samples=[({"a": 1.5, "f": None}, {"a": 1.5, "f": {"a": 2.5, "f": None}}, "f")])
def open_recursion_(d, adjoint, name, out, dout):  # type: ignore[no-untyped-def]
    return close_recursion(dout, name), None, None


@open_recursion_.jvp
def open_recursion_jvp(adjoint, name, out, dd):  # type: ignore[no-untyped-def]
    return open_recursion(dd, adjoint, name)


@bprop(fprop_of, samples=[(abs,)])
def fprop_of_(f, own=False, keys=None, careful=False, outlived=False, *, out, dout):  # type: ignore[no-untyped-def]
    return (dout,)


@fprop_of_.jvp
def fprop_of_jvp(out, df):  # type: ignore[no-untyped-def]
    return df


@bprop(jvp_of, samples=[(abs, None, {})])
def jvp_of_(f, change, changes, out, dout):  # type: ignore[no-untyped-def]
    df, dchange, dchanges = parts_of(dout)
    return df, dchange, dchanges


@jvp_of_.jvp
def jvp_of_jvp(out, df, dchange, dchanges):  # type: ignore[no-untyped-def]
    return df, dchange, dchanges


CALLED.update(STAR_CALLS)
provide(fprop_of=fprop_of, jvp_of=jvp_of)
