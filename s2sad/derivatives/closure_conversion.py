"""Closure conversion: a call of any callable as one of a plain function, with free variables and bound
objects as arguments.

Contract: `lift(f, args, keywords)` is a plain function and values with `function(*values)` equal to `f(*args,
**keywords)`, and layouts that say which value belongs to what. A layout has the structure of an adjoint, with
positions of values as leaves: for a function a dict by its free variables (and defaults, as `z=`), for a
bound method the layout of its object, for a derivative that of its function, None for primitives.

Results are cached by the code of the function, so that a call in a loop costs a lookup.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import gast
import numpy as np

from ..analysis.constructors import has_maker, maker_of, replacer_of
from ..analysis.outer_bindings import refuse_assigning
from ..analysis.primitive_table import PRIMITIVES
from ..kinds.abstraction import kind_of
from ..kinds.wrapped_functions import choice_of, unwrapped
from ..lowering.expand_asdict import converter_of, is_converter
from ..primitives.provided import provide
from ..primitives.record import stand_in
from ..runtime.records import held_by
from ..source.compiling import make_function
from ..source.fixed_arity import has_stars, of_arity
from ..source.forwarders import is_class_method, of_class
from ..source.getters import GETTERS, written_getter
from ..source.locate import Origin
from ..source.read import read_source
from ..transforms.errors import UnsupportedSyntaxError
from ..transforms.trees.nodes import param
from ..transforms.trees.printer import to_source_with_places
from ..transforms.trees.program import Scope
from ..values.code_state import cells_of, own_signature
from ..values.objects import fields_of, is_named_tuple, is_plain
from ..values.pytree import is_differentiable
from .derivative import Derivative
from .primitive_calls import Key, check_known, function_of_call, is_known, is_primitive, unbound

__all__ = ["CALLED", "Key", "Layout", "Lifted", "Recursive", "cached", "leaves", "lift", "moved"]

Layout = Any  # None, a position, or a dict or tuple of layouts
CALLED: dict[
    Any, Callable[[tuple[Any, ...], Mapping[str, Any]], Any]
] = {}  # functions that lift their calls themselves
_CACHE_SIZE = 4096
_cache: OrderedDict[Any, Any] = OrderedDict()
_lock = threading.Lock()


def cached(key: Any, make: Callable[[], Any]) -> Any:
    found = _cache.get(key)
    if found is None:
        found = make()
        with _lock:
            _cache[key] = found
            while len(_cache) > _CACHE_SIZE:
                _cache.popitem(last=False)
    return found


class Recursive(dict[str, Any]):
    """The layout of a recursive function: the free variables `names` are the function itself."""

    def __init__(self, layout: Mapping[str, Any], names: tuple[str, ...]) -> None:
        super().__init__(layout)
        self.names = names

    def __repr__(self) -> str:
        return f"Recursive({super().__repr__()}, {self.names})"


def closure_layout(f: FunctionType, free: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Layout]:
    """The layout of a function whose free variables come first."""
    own: dict[str, Layout] = {name: k for k, name in enumerate(free)}
    itself = tuple(name for name, value in zip(free, values, strict=True) if value is f)
    return Recursive(own, itself) if itself else own


@dataclass(frozen=True)
class Lifted:
    """A call: `own` is the layout of the callable, `arguments` that of each argument, by position or name."""

    function: FunctionType
    values: tuple[Any, ...]
    own: Layout
    arguments: Mapping[Key, Layout]

    def behind(self, count: int, own: Layout) -> Lifted:
        """The same call, of a callable that binds the first `count` arguments, with the layout `own`."""
        kept = {
            k - count if isinstance(k, int) else k: v
            for k, v in self.arguments.items()
            if isinstance(k, str) or k >= count
        }
        return replace(self, own=own, arguments=kept)


def leaves(layout: Layout) -> list[int]:
    """The positions in a layout, in its order."""
    if isinstance(layout, (dict, tuple)):
        return [k for part in (layout.values() if isinstance(layout, dict) else layout) for k in leaves(part)]
    return [] if layout is None else [layout]


def moved(layout: Layout, places: dict[int, int]) -> Layout:
    """The layout with positions replaced by those in `places`, or by None."""
    if isinstance(layout, dict):
        found = {k: moved(v, places) for k, v in layout.items()}
        return Recursive(found, layout.names) if isinstance(layout, Recursive) else found
    if isinstance(layout, tuple):
        return tuple(moved(v, places) for v in layout)
    return None if layout is None else places.get(layout)


def lift(f: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
    """The call `f(*args, **keywords)` as one of a plain function.

    Raises MissingRuleError for a C function without a rule.
    """
    f = stand_in(f)
    special = getattr(f, "lift_call", None) or (CALLED.get(f) if isinstance(f, FunctionType) else None)
    if special is not None:
        return special(args, keywords)  # type: ignore[no-any-return]
    if (inner := unwrapped(f) if PRIMITIVES.find_rule(f) is None else None) is not None:
        return lift(inner, args, keywords)
    if args and (choice := choice_of(f)) is not None:
        return lift(choice(type(args[0])), args, keywords)
    if len(args) == 1 and (f is dataclasses.replace or is_replace_of_tuple(f, args[0])):
        cls: Any = type(args[0])
        f = replacer_of(cls, tuple(keywords)) or f
    if is_converter(f):
        f = converter_of(f, [kind_of(a, "") for a in args], keywords) or f
    if has_maker(f):
        return replace(lift(maker_of(f), args, keywords), own=None)
    method = unbound(f)
    if method is not None:
        inner = lift(method, (f.__self__, *args), keywords)
        return inner.behind(1, inner.arguments[0])
    if is_known(f):
        return _lift_primitive(f, args, keywords)
    if isinstance(f, functools.partial):
        inner = lift(f.func, (*f.args, *args), {**f.keywords, **keywords})
        own = (
            inner.own,
            tuple(inner.arguments.get(k) for k in range(len(f.args))),
            {k: None if k in keywords else inner.arguments.get(k) for k in f.keywords},
        )
        kept = {k: v for k, v in inner.arguments.items() if isinstance(k, int) or k in keywords}
        return replace(inner, arguments=kept).behind(len(f.args), own)
    if isinstance(f, GETTERS):
        return replace(lift(written_getter(f), args, keywords), own=None)
    if is_class_method(f):
        return replace(lift(of_class(f.__self__, f.__func__), args, keywords), own=None)
    if isinstance(f, MethodType):
        inner = lift(f.__func__, (f.__self__, *args), keywords)
        return inner.behind(1, inner.arguments[0])
    if isinstance(f, Derivative):
        return _lift_derivative(f, args, dict(keywords))
    if is_primitive(f) or not callable(f) or PRIMITIVES.refusal(f) is not None:
        return _lift_primitive(f, args, keywords)
    if isinstance(f, FunctionType):
        return _lift_function(f, args, keywords)
    return lift(f.__call__, args, keywords)


def is_replace_of_tuple(f: Any, x: Any) -> bool:
    return is_named_tuple(type(x)) and f is type(x)._replace


def _lift_function(f: FunctionType, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
    itself = f
    refuse_assigning(f)
    if has_stars(f):
        f = of_arity(f, len(args), keywords)
    function, free, values = _without_cells(f)
    names, passed, defaults = _bind(f, args, keywords)
    own = closure_layout(itself, free, values)
    arguments: dict[Key, Layout] = {}
    everything = list(values)
    for name in names:
        if name in passed:
            key, value = passed[name]
            arguments[key] = len(everything)
            if name in defaults:
                own[f"{name}="] = None
        else:
            value = defaults[name]
            own[f"{name}="] = len(everything)
        everything.append(value)
    return Lifted(function, tuple(everything), own, arguments)


def _bind(
    f: FunctionType, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[tuple[str, ...], dict[str, tuple[Key, Any]], dict[str, Any]]:
    """The names of a function's parameters, the key and value passed for each, and the defaults."""
    code = f.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    passed: dict[str, tuple[Key, Any]] = {
        name: (k, value) for k, (name, value) in enumerate(zip(names[: code.co_argcount], args, strict=False))
    }
    positional = f.__defaults__ or ()
    defaults = dict(
        zip(names[code.co_argcount - len(positional) : code.co_argcount], positional, strict=True)
    ) | (f.__kwdefaults__ or {})
    known = len(args) <= code.co_argcount and all(
        k in names[code.co_posonlyargcount :] and k not in passed for k in keywords
    )
    passed.update((k, (k, v)) for k, v in keywords.items())
    if not known or any(name not in passed and name not in defaults for name in names):
        own_signature(f).bind(*args, **keywords)  # raises Python's own error
    return names, passed, defaults


def _lift_derivative(f: Derivative, args: tuple[Any, ...], keywords: dict[str, Any]) -> Lifted:
    for x in f.target.args:
        _refuse_captured(x)
    derivative, values, own = _open_derivative(f)
    primals, tangents, taken = f.split(args, keywords)
    count, bound = len(values), len(f.target.args)
    arguments: dict[Key, Layout] = {}
    given = len(args) - len(taken)  # in forward mode the last arguments are tangents
    chosen = f.chosen(primals, taken) if f.form == "jvp" else ()
    places = {position: count + len(primals) + k for k, position in enumerate(chosen)}
    arguments = {given + k: places[position] for k, position in enumerate(taken) if position in places}
    arguments |= {k: count + bound + k for k in range(given)} | {
        k: count + f.parameters.index(k) for k in keywords
    }
    at = {name: count + k for k, name in enumerate(f.parameters)}
    passed = {*f.parameters[: bound + given], *keywords, *dict(f.target.keywords)}
    for name in f.defaults:
        own[f"{name}="] = None if name in passed else at[name]
    layout = _layout_around(f, own, iter(range(count, count + bound)), {**at, **dict.fromkeys(keywords)})
    behind = tuple(count + k for k in taken) if f.form == "jvp" else None
    function = derivative.function_of((*values, *primals), behind)
    return Lifted(function, (*values, *primals, *tangents), layout, arguments)


def _refuse_captured(x: Any) -> None:
    """Raises UnsupportedSyntaxError for an object that holds functions with numbers of their own: these would
    have no part in the derivative of a derivative.
    """
    for held in fields_of(x).values() if is_plain(type(x)) else ():
        if not isinstance(held, FunctionType):
            continue
        captured = [*held_by(held), *(held.__kwdefaults__ or {}).values()]
        if any(map(is_differentiable, captured)):
            raise UnsupportedSyntaxError(
                f"a derivative of a {type(x).__name__} that holds the function `{held.__name__}`",
                why="the variables that this function captures are not followed there",
                instead="give the function what it captures as arguments, or make it a method",
            )


def _layout_around(f: Any, own: Layout, bound: Iterator[int], named: Mapping[str, int | None]) -> Layout:
    """The layout of a callable whose innermost function has the layout `own`; `bound` gives the positions of
    the values that it binds, in the order of `target_of`, and `named` those of keyword arguments.
    """
    if isinstance(f, Derivative):
        return _layout_around(f.primal, own, bound, named)
    if isinstance(f, functools.partial):
        inner = _layout_around(f.func, own, bound, named)
        return inner, tuple([next(bound) for _ in f.args]), {k: named[k] for k in f.keywords}
    if isinstance(f, MethodType):
        _layout_around(f.__func__, own, bound, named)
        return next(bound)
    if (inner := unwrapped(f)) is not None or isinstance(f, (staticmethod, classmethod)):
        return _layout_around(f.__func__ if inner is None else inner, own, bound, named)
    if hasattr(type(f), "lift_call") or PRIMITIVES.find_rule(f) is not None:
        return own
    is_object = isinstance(inspect.getattr_static(type(f), "__call__", None), FunctionType)
    return _layout_around(f.__call__, own, bound, named) if is_object else own


def _open_derivative(f: Derivative) -> tuple[Derivative, tuple[Any, ...], dict[str, Layout]]:
    """The derivative of the function without cells, the values of its free variables, and their layout."""
    inner = f.target.function
    function: FunctionType | Derivative
    if isinstance(inner, Derivative):
        function, values, own = _open_derivative(inner)
    else:
        function, free, values = _without_cells(inner)
        own = closure_layout(inner, free, values)
    leading = len(values) + len(f.target.args)
    made = cached((function, type(f), f.options, leading), lambda: f.of(function, leading))
    return made, values, own


def _without_cells(f: FunctionType) -> tuple[FunctionType, tuple[str, ...], tuple[Any, ...]]:
    """The function with its free variables as its first parameters, and the names and present values of
    these: one function for all closures of the same code.
    """
    values = {
        name: cell.cell_contents for name, cell in cells_of(f).items() if _is_filled(cell)
    }
    kept = {name: value for name, value in values.items() if _is_fixed(value)}
    free = {name: value for name, value in values.items() if name not in kept}
    key = (f.__code__, id(f.__globals__), tuple(free), tuple(map(id, kept.values())))

    def make() -> tuple[FunctionType, Any]:
        if not values and not f.__code__.co_kwonlyargcount:
            return f, kept
        source = read_source(f)
        args = source.tree.args
        positional = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        new = gast.arguments(
            args=[*map(param, free), *positional],
            posonlyargs=[],
            vararg=args.vararg,
            kwonlyargs=[],
            kw_defaults=[],
            kwarg=args.kwarg,
            defaults=[],
        )
        tree = gast.FunctionDef(
            name=source.tree.name,
            args=new,
            body=source.tree.body,
            decorator_list=[],
            returns=None,
            type_comment=None,
            type_params=[],
        )
        text, places = to_source_with_places(tree)
        origin = Origin(source.filename, source.lines, places)
        scope = Scope(f.__globals__)
        lifted = make_function(text, source.tree.name, scope, kept, like=f, origin=origin)
        return lifted, kept  # the key holds ids of these objects, so they must stay alive

    return cached(key, make)[0], tuple(free), tuple(free.values())


def _is_filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _is_fixed(value: Any) -> bool:
    """Whether a free variable stays a free variable: a module, class, C function or module-level function."""
    if isinstance(value, (ModuleType, type, BuiltinFunctionType, np.ufunc)):
        return True
    return isinstance(value, FunctionType) and (
        PRIMITIVES.find_rule(value) is not None or "<locals>" not in value.__qualname__
    )


def _lift_primitive(f: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
    check_known(f)
    call = function_of_call(f, args, keywords)
    given: dict[Key, Any] = {**dict(enumerate(args)), **keywords}  # type: ignore[dict-item]
    arguments: dict[Key, Layout] = dict.fromkeys(given)
    arguments |= {key: k for k, key in enumerate(call.keys)}
    return Lifted(call.function, tuple(given[key] for key in call.keys), None, arguments)


provide(lift=lift, lifted_once=cached, moved_layout=moved)
