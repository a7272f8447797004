"""Derivatives of functions with `*args` or `**kwargs`: one for each number of arguments that they are called
with.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, MethodType
from typing import Any

from .arguments import misfit
from .arity import has_stars, of_arity
from .border import at_border
from .lift import Lifted, lift
from .pickled import reduce_derivative
from .target import bound_like
from .transforms.errors import S2sadError

__all__ = ["Variadic", "is_variadic"]


def is_variadic(f: Any) -> bool:
    """Whether a Python function takes a variable number of arguments, and does not say that it stands for one
    that takes a fixed number (`functools.wraps`).
    """
    if isinstance(f, Variadic):
        return True
    if isinstance(f, functools.partial):
        return is_variadic(f.func)
    function = getattr(f, "__func__", f)
    if not has_stars(function):
        return False
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    return bool(kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})


class Variadic:
    """A transform of a function that takes a variable number of arguments.

    Call it like the transform of any function; `argnums` are positions among the arguments given, or names of
    parameters and of named arguments. `extra(options, count)` is how many of `count` positional arguments are
    not the function's own.
    """

    def __init__(
        self,
        transform: Callable[..., Any],
        f: Any,
        options: Mapping[str, Any],
        extra: Callable[[Any, int], int],
    ) -> None:
        self._transform, self._f, self._options, self._extra = transform, f, dict(options), extra
        self._made: dict[Any, Any] = {}
        functools.update_wrapper(self, f, updated=())

    def of(self, count: int, keywords: Iterable[str]) -> Any:
        """The transform for calls with so many positional arguments and these named ones."""
        key = (count, tuple(keywords))
        if key not in self._made:
            argnums = self._options["argnums"]
            extra = self._extra(argnums, count)
            own = count - extra
            if argnums is None and extra:  # tangents are given for the positional arguments alone
                argnums = tuple(range(own))
            options = {**self._options, "argnums": argnums}
            try:
                fixed = _fixed(self._f, own, key[1])
            except S2sadError:
                raise
            except TypeError as error:
                raise misfit(self._f, inspect.signature(self._f), error) from None
            self._made[key] = self._transform(fixed, **options)
        return self._made[key]

    @at_border
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.of(len(args), keywords)(*args, **keywords)

    @at_border
    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The generated source that a call with these arguments (without tangents) runs."""
        own = len(args)
        count = next(
            n for n in range(own, 2 * own + 2) if n - self._extra(self._options["argnums"], n) == own
        )
        found: str = self.of(count, keywords).source_for(*args, **keywords)
        return found

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        """A call as one of a plain function: see `lift`."""
        return lift(self.of(len(args), keywords), args, keywords)

    @property
    def primal(self) -> Any:
        """What it is a transform of, as it was given."""
        return self._f

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return bound_like(self._f, self, instance, owner)

    def __reduce__(self) -> Any:
        return reduce_derivative(self, Variadic, (self._transform, self._f, self._options, self._extra))

    def __repr__(self) -> str:
        name = getattr(self._f, "__qualname__", self._f)
        return f"<{self._transform.__name__} of {name}>"


def _fixed(f: Any, count: int, keywords: tuple[str, ...]) -> Any:
    """The callable for calls with so many arguments."""
    if isinstance(f, Variadic):
        return f.of(count, keywords)
    if isinstance(f, functools.partial):
        named = tuple(dict.fromkeys([*f.keywords, *keywords]))
        return functools.partial(_fixed(f.func, len(f.args) + count, named), *f.args, **f.keywords)
    if isinstance(f, MethodType):
        return MethodType(_fixed(f.__func__, count + 1, keywords), f.__self__)
    assert isinstance(f, FunctionType)
    return of_arity(f, count, keywords)
