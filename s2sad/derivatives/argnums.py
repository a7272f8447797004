"""Checks of the arguments of a derivative: which are differentiated, and whether they can be.

All raise NonDifferentiableError.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np

from ..kinds import domain
from ..kinds.abstraction import kind_of
from ..transforms.errors import NonDifferentiableError, SourceLocation
from ..values.code_state import own_signature
from ..values.libraries import is_other_array, other_array

__all__ = [
    "Argnums",
    "bound_arguments",
    "check_call",
    "check_input",
    "misfit",
    "plain_parameters",
    "plain_signature",
    "positions",
]

Argnums = int | str | tuple[int | str, ...] | None


def plain_signature(f: Any) -> inspect.Signature:
    """The signature of a function that takes no variable number of arguments."""
    signature = own_signature(f)
    plain_parameters(signature, f)
    return signature


def plain_parameters(signature: inspect.Signature, f: Any) -> list[str]:
    for p in signature.parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise NonDifferentiableError(
                f"{getattr(f, '__qualname__', f)} takes a variable number of arguments (`{p}`)",
                why="argnums cannot name them",
                instead="wrap it in a function with named parameters",
            )
    return list(signature.parameters)


def positions(argnums: Argnums, parameters: tuple[str, ...], bound: int, f: Any) -> tuple[int, ...]:
    """The positions, among all parameters, of the arguments to differentiate."""
    found: list[int] = []
    free = parameters[bound:]
    for a in argnums if isinstance(argnums, tuple) else () if argnums is None else (argnums,):
        if isinstance(a, str) and a in free:
            position = free.index(a)
        elif isinstance(a, int) and not isinstance(a, bool) and -len(free) <= a < len(free):
            position = a % len(free)
        else:
            name = getattr(f, "__qualname__", repr(f))
            if not isinstance(a, (int, str)) or isinstance(a, bool):
                raise NonDifferentiableError(
                    f"the second argument, or argnums, is {_described(a)}",
                    why="it says which parameters are differentiated, by position or name",
                    instead=f"give arguments in a second call: `grad({name})({', '.join(free)})`",
                )
            raise NonDifferentiableError(
                f"argnums={argnums!r} does not fit {name}({', '.join(free)})",
                why=f"{a!r} is not one of its parameters",
                instead="give a position from 0, the name of a parameter, or a tuple of such",
            )
        if position + bound in found:
            raise NonDifferentiableError(
                f"argnums={argnums!r} names a parameter twice", instead="name each parameter once"
            )
        found.append(position + bound)
    return tuple(found)


def check_input(name: str, value: Any, function: str) -> None:
    """Raises NonDifferentiableError for an argument that carries no derivative."""
    check_carrier(name, value, function)
    kind = kind_of(value, name)
    if domain.is_differentiable(kind) is False and not (isinstance(value, (tuple, list, dict)) and not value):
        text = repr(value) if len(repr(value)) < 40 else f"of type {type(value).__name__}"
        raise NonDifferentiableError(
            f"{function}: the derivative with respect to `{name}` was asked for, and `{name}` is {text}",
            why="integers, booleans and other values that are not floating-point numbers carry no derivative",
            instead=f"pass a float (or an array of floats), or leave `{name}` out of argnums",
        )


def check_carrier(name: str, value: Any, function: str) -> None:
    """Raises for a value, or one in a container, that is no float, complex number or NumPy array of these."""
    if isinstance(value, (tuple, list, dict)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            is_plain = item.dtype.kind in "biufc" if type(item) is np.ndarray else type(item) is float
            if not is_plain:
                check_carrier(f"{name}[{key!r}]", item, function)
        return
    if is_other_array(type(value)):
        what, why, way_out = other_array(type(value), name)
        raise NonDifferentiableError(what, why=why, instead=way_out)
    instead = _way_out(name, value)
    if instead is not None:
        raise NonDifferentiableError(
            f"{function}: the derivative with respect to `{name}` was asked for, and `{name}` is "
            f"{_described(value)}",
            why="derivatives are with respect to floats, complex numbers, NumPy's arrays of them, and "
            "containers and objects of these",
            instead=instead,
        )


def _way_out(name: str, value: Any) -> str | None:
    """What to pass instead of a value that cannot carry a derivative; None for others."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biufc":
            return None
        if value.dtype.names:
            return f"pass its fields as arrays of their own, {name}[{value.dtype.names[0]!r}]"
        return f"pass an array of floats, {name}.astype(float)"
    if isinstance(value, numbers.Number) and not isinstance(value, (int, float, complex, np.generic)):
        return f"pass float({name})"
    if isinstance(value, (Set, range, Iterator)):
        return f"pass an array of floats, np.array([*{name}], dtype=float)"
    return None


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray) and type(value) is np.ndarray:
        return f"an array of dtype {value.dtype}"
    cls = type(value)
    return f"a {cls.__module__}.{cls.__qualname__}".replace("builtins.", "")


def bound_arguments(
    signature: inspect.Signature,
    f: Any,
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    calling: str = "",
) -> inspect.BoundArguments:
    """The arguments of a call of `f`, bound to the parameters of the signature, with defaults.

    Raises NonDifferentiableError, with Python's own message, for a call that does not fit; `calling` is its
    advice, if given.
    """
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        raise misfit(f, signature, error, calling) from None
    bound.apply_defaults()
    return bound


def misfit(
    f: Any, signature: inspect.Signature, error: TypeError, calling: str = ""
) -> NonDifferentiableError:
    """The error for a call that does not fit `f`, with Python's own message."""
    name = getattr(f, "__qualname__", None) or repr(f)
    instead = calling or "call it with the arguments of the function"
    return NonDifferentiableError(f"{name}{signature}: {error}", instead=instead)


def check_call(function: Any, count: int, keywords: list[str], where: SourceLocation) -> None:
    """Raises for a call with `count` positional arguments and these keywords that does not fit."""
    try:
        own_signature(function).bind(*[None] * count, **dict.fromkeys(keywords))
    except TypeError as error:
        raise NonDifferentiableError(
            f"{function.__qualname__}: {error}", where, instead="call it as it is defined"
        ) from None
