"""The types of the results of transforms, for type checkers: they keep the parameters of the function.

These are protocols; the objects are those of `derivative`, `jacobians` and `variadic` in `s2sad.derivatives`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, Protocol, TypeVar, overload

__all__ = [
    "GradientMaker",
    "GradientOf",
    "PushMaker",
    "PushOf",
    "ValueAndGradientMaker",
    "ValueAndGradientOf",
    "VjpMaker",
    "VjpOf",
]

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


BoundVjp = Callable[..., tuple[R, Callable[[Any], Any]]]


class _Shown(Protocol[P]):
    """The attributes that show generated code."""

    __name__: str
    __qualname__: str

    @property
    def source(self) -> str: ...
    def source_for(self, *args: P.args, **keywords: P.kwargs) -> str: ...
    def function_for(self, *args: P.args, **keywords: P.kwargs) -> FunctionType: ...


class GradientOf(_Shown[P], Protocol[P]):
    """Called like the function, it returns the gradient."""

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> GradientOf[P]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Callable[..., Any]: ...


class ValueAndGradientOf(_Shown[P], Protocol[P, R_co]):
    """Called like the function, it returns the function's result and the gradient."""

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> tuple[R_co, Any]: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> ValueAndGradientOf[P, R_co]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Callable[..., tuple[R_co, Any]]: ...


class VjpOf(_Shown[P], Protocol[P, R_co]):
    """Called like the function, it returns the function's result and the `bprop`."""

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> tuple[R_co, Callable[[Any], Any]]: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> VjpOf[P, R_co]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> BoundVjp[R_co]: ...


class PushOf(_Shown[P], Protocol[P, R_co]):
    """Called with the arguments of the function and then the tangents, it returns the function's result and
    its tangent. (Types cannot express that tangents follow.)
    """

    def __call__(self, *args: Any) -> tuple[R_co, Any]: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> PushOf[P, R_co]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Callable[..., tuple[R_co, Any]]: ...


class GradientMaker(Protocol):
    def __call__(self, f: Callable[P, Any], /) -> GradientOf[P]: ...


class ValueAndGradientMaker(Protocol):
    def __call__(self, f: Callable[P, R], /) -> ValueAndGradientOf[P, R]: ...


class VjpMaker(Protocol):
    def __call__(self, f: Callable[P, R], /) -> VjpOf[P, R]: ...


class PushMaker(Protocol):
    def __call__(self, f: Callable[P, R], /) -> PushOf[P, R]: ...
