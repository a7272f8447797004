"""Derivatives of functions with `*args` or `**kwargs`, and of primitives: one for each form of their calls.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType, MethodType
from typing import Any

from ..kinds.wrapped_functions import unwrapped
from ..runtime.border import at_border, name_wrapped
from ..source.fixed_arity import has_stars, of_arity
from ..source.pickling import reduce_derivative
from ..transforms.errors import S2sadError
from ..values.code_state import signature_of, state_of
from .argnums import misfit
from .checkpoints import Checkpoint
from .closure_conversion import Layout, Lifted, lift
from .primitive_calls import (
    BY_POSITION,
    Key,
    Opened,
    function_of_call,
    is_known,
    opened,
    parameters_of,
    required,
    unbound,
)
from .signature import wrong_number
from .unwrap import bound_like

__all__ = ["Variadic", "fixed", "is_variadic", "nothing_for"]

STARS = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
ANY = [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)]


def is_variadic(f: Any) -> bool:
    """Whether a callable is a primitive, or a Python function with a variable number of arguments.

    Raises MissingRuleError for a C function without a rule.
    """
    if isinstance(f, Variadic) or opened(f) is not None:
        return True
    inner = _inside(f) or _called(f)
    return has_stars(f) if inner is None else is_variadic(inner)


def _inside(f: Any) -> Any:
    """The callable that a partial application, a method, a cache or a checkpoint holds; None for others."""
    if isinstance(f, functools.partial):
        return f.func
    if isinstance(f, (MethodType, staticmethod, classmethod)):
        return f.__func__
    return f.primal if isinstance(f, Checkpoint) else unwrapped(f)


def _behind(f: Any, objects: list[Any]) -> Any:
    """The function, or primitive, that a call of a callable ends in; the objects that are called on the way
    are added to `objects`.
    """
    if opened(f) is not None or isinstance(f, Variadic):
        return f
    inner = _inside(f)
    if inner is None and (inner := _called(f)) is not None:
        objects.append(f)
    return f if inner is None else _behind(inner, objects)


def _called(f: Any) -> Any:
    """The `__call__` of an object, if it is written in Python; None for other callables."""
    if isinstance(f, FunctionType) or any(hasattr(type(f), n) for n in ("lift_call", "function_for_kinds")):
        return None
    return f.__call__ if isinstance(inspect.getattr_static(type(f), "__call__", None), FunctionType) else None


@dataclass(frozen=True)
class Fixed:
    """A callable for calls of one form, identified by `key`: `left` are the named arguments that it still
    takes, `bound` the arguments that partial applications bind to a primitive, `named` the number of a
    primitive's options, which come last.
    """

    function: Any
    left: Mapping[str, Any]
    key: Any
    bound: tuple[Key, ...] = ()
    named: int = 0


def fixed(
    f: Any, args: tuple[Any, ...], keywords: Mapping[str, Any], arguments: tuple[Any, ...] = ()
) -> Fixed:
    """The callable for calls like `f(*args, **keywords)`; `arguments` names those that must not be constants.
    """
    if isinstance(f, Variadic):
        made, call = f.of(args, keywords)
        return Fixed(made, call.left, (made, *call.left))
    found = opened(f)
    if found is not None:
        return _fixed_primitive(found, args, keywords, arguments)
    if isinstance(f, functools.partial):
        inner = fixed(f.func, (*f.args, *args), {**f.keywords, **keywords}, arguments)
        named = {k: v for k, v in f.keywords.items() if k in inner.left}
        left = {k: v for k, v in keywords.items() if k in inner.left}
        return Fixed(functools.partial(inner.function, *f.args, **named), left, (inner.key, *left))
    if isinstance(f, MethodType):
        inner = fixed(f.__func__, (f.__self__, *args), keywords, arguments)
        return replace(inner, function=MethodType(inner.function, f.__self__))
    if isinstance(f, Checkpoint):
        inner = fixed(f.primal, args, keywords, arguments)
        return replace(inner, function=Checkpoint(inner.function))
    if (inner := _inside(f) or _called(f)) is not None:
        return fixed(inner, args, keywords, arguments)
    assert isinstance(f, FunctionType)
    return Fixed(of_arity(f, len(args), keywords), keywords, (len(args), *keywords))


def _fixed_primitive(
    found: Opened, args: tuple[Any, ...], keywords: Mapping[str, Any], arguments: tuple[Any, ...]
) -> Fixed:
    given, count = {**found.keywords, **keywords}, len(found.args)
    own = {*range(count), *(k for k in found.keywords if k not in keywords)}
    call = function_of_call(found.function, (*found.args, *args), given, own, arguments)
    bound = tuple(k for k in call.keys if k in own)
    function: Any = call.function
    if bound:
        values = [found.args[k] for k in bound if isinstance(k, int)]
        function = functools.partial(function, *values, **{k: given[k] for k in bound if isinstance(k, str)})
    left = {k: v for k, v in keywords.items() if k in call.keys}
    named = sum(isinstance(k, str) for k in call.keys)
    return Fixed(function, left, (call.function, *left), bound, named)


def nothing_for(f: Any) -> tuple[None, ...]:
    """None for each argument that a callable requires by position."""
    found = opened(f)
    if found is not None:
        return (None,) * (required(found.function) - len(found.args))
    known = signature_of(f).parameters.values()
    return (None,) * sum(p.kind in BY_POSITION and p.default is p.empty for p in known)


def layout_of(
    f: Any, bound: Mapping[Key, Layout], count: int, outer: frozenset[str] = frozenset()
) -> Layout:
    """The layout of a callable around a primitive: of the first `count` arguments, which partial applications
    and methods bind.
    """
    if isinstance(f, functools.partial) and not is_known(f):
        first = count - len(f.args)
        inner = layout_of(f.func, bound, first, outer | f.keywords.keys())
        named = {k: None if k in outer else bound.get(k) for k in f.keywords}
        return inner, tuple(bound.get(first + k) for k in range(len(f.args))), named
    return None if unbound(f) is None else bound.get(0)


class Variadic:
    """A transform of a function that takes a variable number of arguments.

    Call it like the transform of any function; `argnums` are positions of the passed arguments, or names of
    parameters and keyword arguments. `extra(argnums, count)` is the number of tangents among `count`
    positional arguments.
    """

    def __init__(
        self,
        transform: Callable[..., Any],
        f: Any,
        options: Mapping[str, Any],
        extra: Callable[[Any, int], int],
    ) -> None:
        self._transform, self._f, self._options, self._extra = transform, f, dict(options), extra
        self._begin()
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(f, name):
                setattr(self, name, getattr(f, name))
        try:
            self.__signature__ = signature_of(f)
        except (TypeError, ValueError):  # a primitive without a signature
            self.__signature__ = inspect.Signature(parameters_of(f) or ANY)

    def _begin(self) -> None:
        """Notes what a call ends in, and forgets all derivatives."""
        objects: list[Any] = []
        self._function = function = _behind(self._f, objects)
        self._called = [(x, type(x).__call__) for x in objects]
        self._state = state_of(function) if isinstance(function, FunctionType) else None
        self._made: dict[Any, Any] = {}
        self._by_position: dict[int, tuple[Any, Fixed]] = {}  # for calls without keywords, by their number

    def _is_current(self) -> bool:
        return (self._state is None or self._state.is_of(self._function)) and all(
            type(x).__call__ is function for x, function in self._called
        )

    def of(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, Fixed]:
        """The transform for calls with arguments like these, and its callable."""
        if not self._is_current():
            self._begin()
        if keywords:
            return self._of(args, keywords)
        found = self._by_position.get(len(args))
        if found is None:
            found = self._by_position[len(args)] = self._of(args, keywords)
        return found

    def _of(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, Fixed]:
        argnums = self._options.get("argnums")
        extra = self._extra(argnums, len(args))
        has_tangents = argnums is None and self._extra(None, 2) > 0
        if len(args) < extra or (has_tangents and len(args) != 2 * extra):
            raise wrong_number(getattr(self._f, "__qualname__", repr(self._f)), len(args), argnums, extra)
        own = args[: len(args) - extra]
        if argnums is not None and opened(self._function) is None:
            argnums, keywords = self._placed(argnums, len(own), keywords)
        names = argnums if isinstance(argnums, tuple) else (argnums,)
        try:
            call = fixed(self._f, own, keywords, names)
        except S2sadError:
            raise
        except TypeError as error:
            raise misfit(self._f, self.__signature__, error) from None
        if call.key not in self._made:
            if argnums is None and extra:  # tangents belong to the positional arguments
                argnums = tuple(range(len(own)))
            options = {**self._options, "argnums": argnums} if "argnums" in self._options else self._options
            made = self._transform(call.function, **options)
            self._made[call.key] = made.without_last(call.named) if argnums is None else made
        return self._made[call.key], call

    def _placed(self, argnums: Any, count: int, keywords: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """`argnums` of the signature's parameters as those of a call with `count` arguments and these
        keywords; and the keywords, with the defaults that are differentiated.
        """
        known = list(self.__signature__.parameters.values())
        given = dict(keywords)
        at_end = next((k for k, p in enumerate(known) if p.kind in STARS), None)

        def placed(a: Any) -> Any:
            at = next((k for k, p in enumerate(known) if p.name == a), a)
            if at_end is None and type(at) is int and -len(known) <= at < 0:
                at += len(known)
            if type(at) is not int or not 0 <= at < (len(known) if at_end is None else at_end):
                return a
            p = known[at]
            if at < count and p.kind in BY_POSITION:
                return at
            if p.default is not p.empty:
                given.setdefault(p.name, p.default)
            return p.name

        return tuple(map(placed, argnums)) if isinstance(argnums, tuple) else placed(argnums), given

    @at_border
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        try:
            made, call = self.of(args, keywords)
            return made(*args, **call.left)
        except S2sadError as error:
            name_wrapped(error, self._f)
            raise

    def _of_required(self) -> Any:
        """The transform for the smallest number of arguments."""
        return self.of(self._padded(nothing_for(self._f)), {})[0]

    @property
    def source(self) -> str:
        """The generic generated source, for the smallest number of arguments."""
        found: str = self._of_required().source
        return found

    @property
    def __wrapped__(self) -> Any:
        """The generic generated function, so that `inspect.getsource` shows it."""
        try:
            return self._of_required().__wrapped__
        except (S2sadError, TypeError) as error:  # `inspect.signature` looks for the attribute
            raise AttributeError(str(error)) from error

    @at_border
    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The generated source that a call with these arguments (without tangents) runs."""
        made, call = self.of(self._padded(args), keywords)
        found: str = made.source_for(*args, **call.left)
        return found

    def _padded(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of the function, followed by None for each tangent."""
        own, argnums = len(args), self._options.get("argnums")
        extra = next(n for n in range(own + 1, -1, -1) if self._extra(argnums, own + n) == n)
        return (*args, *(None,) * extra)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        """A call as one of a plain function: see `lift`."""
        made, fixed_ = self.of(args, keywords)
        call = lift(made, args, fixed_.left)
        found, own = opened(self._f), call.own
        if found is not None:
            values = [*own[1], *own[2].values()] if fixed_.bound else []
            own = layout_of(self._f, dict(zip(fixed_.bound, values, strict=True)), len(found.args))
        return replace(call, own=own, arguments={**dict.fromkeys(keywords), **call.arguments})

    @property
    def primal(self) -> Any:
        """The callable that it is a transform of, as the user passed it."""
        return self._f

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return bound_like(self._f, self, instance, owner)

    def __reduce__(self) -> Any:
        return reduce_derivative(self, Variadic, (self._transform, self._f, self._options, self._extra))

    def __repr__(self) -> str:
        name = getattr(self._f, "__qualname__", self._f)
        return f"<{self._transform.__name__} of {name}>"
