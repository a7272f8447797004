"""The arguments of a derivative: which are differentiated, and whether they can be.

All raise NonDifferentiableError.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from . import domain
from .kind_values import kind_of
from .transforms.errors import NonDifferentiableError, SourceLocation

__all__ = [
    "Argnums",
    "check_call",
    "check_input",
    "check_type",
    "plain_parameters",
    "plain_signature",
    "positions",
]

Argnums = int | str | tuple[int | str, ...] | None


def plain_signature(f: Any) -> inspect.Signature:
    """The signature of a function that takes no variable number of arguments."""
    signature = inspect.signature(f)
    plain_parameters(signature, f)
    return signature


def plain_parameters(signature: inspect.Signature, f: Any) -> list[str]:
    for p in signature.parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise NonDifferentiableError(
                f"{getattr(f, '__qualname__', f)} takes a variable number of arguments (`{p}`)",
                why="which of them to differentiate cannot be told",
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
            raise NonDifferentiableError(
                f"argnums={argnums!r} does not fit {name}({', '.join(free)})",
                why=f"{a!r} is not one of its parameters",
                instead="give positions from 0, or names of parameters",
            )
        if position + bound in found:
            raise NonDifferentiableError(
                f"argnums={argnums!r} names a parameter twice", instead="name each parameter once"
            )
        found.append(position + bound)
    return tuple(found)


def check_input(name: str, value: Any, function: str) -> None:
    """Raises NonDifferentiableError for an argument that carries no derivative."""
    check_type(name, value)
    kind = kind_of(value, name)
    if domain.is_differentiable(kind) is False and not (isinstance(value, (tuple, list, dict)) and not value):
        text = repr(value) if len(repr(value)) < 40 else f"of type {type(value).__name__}"
        raise NonDifferentiableError(
            f"{function}: the derivative with respect to `{name}` was asked for, and `{name}` is {text}",
            why="integers, booleans and other values that are not floating-point numbers carry no derivative",
            instead=f"pass a float (or an array of floats), or leave `{name}` out of argnums",
        )


def check_type(name: str, value: Any) -> None:
    """Raises for arrays whose operators mean something else than those of np.ndarray."""
    if isinstance(value, (np.matrix, np.ma.MaskedArray)):
        raise NonDifferentiableError(
            f"`{name}` is a {type(value).__name__}",
            why="its operators mean something else than those of arrays",
            instead=f"use np.asarray({name})",
        )


def check_call(function: Any, count: int, keywords: list[str], where: SourceLocation) -> None:
    """Raises Python's own complaint about a call with `count` positional arguments and these keywords."""
    try:
        inspect.signature(function).bind(*[None] * count, **dict.fromkeys(keywords))
    except TypeError as error:
        raise NonDifferentiableError(
            f"{function.__qualname__}: {error}", where, instead="call it as it is defined"
        ) from None
