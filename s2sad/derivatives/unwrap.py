"""Finds the plain function behind a callable, and the arguments that are bound to it."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, replace
from types import FunctionType, MethodType
from typing import Any

from ..kinds.wrapped_functions import unwrapped
from ..primitives.record import refusal
from ..source.compiling import make_function
from ..source.fixed_arity import has_stars
from ..source.getters import GETTERS, written_getter
from ..transforms.errors import NonDifferentiableError, missing_rule
from ..transforms.trees.program import Scope
from ..values.custom_rule import rule_of
from .argnums import plain_signature

__all__ = ["Target", "bound_like", "refuse_uncallable", "target_of"]


@dataclass(frozen=True)
class Target:
    """A plain function or a derivative, and the arguments already bound to it; `called` are the objects on
    the way to it that were called, each with the function in its class.
    """

    function: Any
    args: tuple[Any, ...] = ()
    keywords: tuple[tuple[str, Any], ...] = ()
    called: tuple[tuple[Any, FunctionType], ...] = ()

    def is_current(self) -> bool:
        """Whether the classes of these objects still have these functions."""
        return not self.called or all(type(x).__call__ is function for x, function in self.called)


def target_of(f: Any) -> Target:
    """The function behind a callable with Python source: a function, lambda, method, partial, callable object
    or derivative. A primitive needs a function for the form of its call first: see `variadic.fixed`.

    Raises MissingRuleError for a C function, NonDifferentiableError for an object that is not callable.
    """
    if hasattr(type(f), "lift_call"):
        return Target(_calling(f))
    if isinstance(f, FunctionType):
        return Target(_calling(f) if has_stars(f) or rule_of(f) is not None else f)
    if hasattr(type(f), "function_for_kinds"):
        bound: Target = f.target
        if not bound.args and not bound.keywords:
            return Target(f)
        return replace(bound, function=f.of(bound.function, len(bound.args)))
    if isinstance(f, MethodType):
        inner = target_of(f.__func__)
        return replace(inner, args=(*inner.args, f.__self__))
    inner_function = unwrapped(f)
    if inner_function is not None:
        return target_of(inner_function)
    if isinstance(f, functools.partial):
        inner = target_of(f.func)
        keywords = (*inner.keywords, *f.keywords.items())
        return replace(inner, args=(*inner.args, *f.args), keywords=keywords)
    if isinstance(f, (staticmethod, classmethod)):
        return target_of(f.__func__)
    if isinstance(f, GETTERS):
        return Target(written_getter(f))
    called = inspect.getattr_static(type(f), "__call__", None)
    if isinstance(called, FunctionType):
        inner = target_of(f.__call__)
        return replace(inner, called=((f, called), *inner.called))
    refuse_uncallable(f)
    raise missing_rule(f, refusal(f))


def refuse_uncallable(f: Any) -> None:
    """Raises NonDifferentiableError for an object that is not callable."""
    if not callable(f):
        raise NonDifferentiableError(
            f"{f!r} cannot be differentiated: it is not callable", instead="pass a function"
        )


def bound_like(f: Any, derivative: Any, instance: Any, owner: type | None) -> Any:
    """A derivative of `f` in a class, bound to an instance or class as `f` would be."""
    if isinstance(f, staticmethod):
        return derivative
    if isinstance(f, classmethod):
        return MethodType(derivative, owner)
    return derivative if instance is None else MethodType(derivative, instance)


@functools.lru_cache(maxsize=256)
def _calling(f: Any) -> FunctionType:
    """A Python function with the parameters of `f` whose body is a call of `f`."""
    name = f.__name__ if f.__name__.isidentifier() else "function"
    parameters = list(plain_signature(f).parameters.values())
    listed, passed, defaults = [], [], []
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and "*" not in listed:
            listed.append("*")
        has_default = p.default is not p.empty
        listed.append(f"{p.name}=None" if has_default else p.name)
        passed.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name)
        defaults += [p.default] if has_default and p.kind is not p.KEYWORD_ONLY else []
    keywords = {
        p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is not p.empty
    }
    text = f"def {name}_({', '.join(listed)}):\n    return {name}({', '.join(passed)})\n"
    return make_function(text, f"{name}_", Scope({}), {name: f}, tuple(defaults), keywords, like=f)
