"""Functions with `*args` and `**kwargs`, as functions of the arguments of one call.

Contract: `of_arity(f, count, keywords)` takes `count` positional arguments and these `keywords`, and does
what `f` does. Its body first builds `args` and `kwargs` from its parameters; the other lines are the user's.
"""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import chain
from types import CodeType, FunctionType
from typing import Any

import gast

from ..transforms.errors import NonDifferentiableError
from ..transforms.trees.nodes import assign, constant, find_nodes, load, param, tuple_of, walk
from ..transforms.trees.program import names_of
from ..transforms.trees.rebuild import rebuilt, substitute
from ..values.code_state import cells_of, own_signature, rebuilt_function, wrapped_by
from ..values.custom_rule import rule_of
from .context_decorators import as_with
from .read import code_of_tree, read_source

__all__ = ["call_method", "call_star", "has_stars", "joined", "of_arity"]

_SIZE = 1024
_codes: OrderedDict[Any, tuple[CodeType, CodeType]] = OrderedDict()
_lock = threading.Lock()


def has_stars(f: Any) -> bool:
    """Whether a function takes a variable number of arguments."""
    return isinstance(f, FunctionType) and bool(
        f.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    )


def call_star(f: Any, parts: tuple[tuple[Any, ...], ...], *mappings: Any) -> Any:
    """`f(*p, ..., **m, ...)` for all parts p and mappings m, as an ordinary call."""
    return f(*chain.from_iterable(parts), **joined(f, mappings))


def joined(f: Any, mappings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The named arguments of all mappings for a call of `f`; raises TypeError for a name given twice."""
    keywords: dict[str, Any] = {}
    for mapping in mappings:
        for key in mapping:
            if key in keywords:
                raise TypeError(f"{f!r} got several values for keyword argument {key!r}")
        keywords |= mapping
    return keywords


def call_method(owner: Any, name: str, parts: tuple[tuple[Any, ...], ...], *mappings: Any) -> Any:
    """`owner.name(*p, ..., **m, ...)` for all parts p and mappings m, as an ordinary call."""
    return call_star(getattr(owner, name), parts, *mappings)


def of_arity(f: FunctionType, count: int, keywords: Iterable[str]) -> FunctionType:
    """The function for calls with `count` positional arguments and these keywords.

    Raises TypeError for a call that does not fit the function.
    """
    names, shown, f = tuple(keywords), _names_behind(f)[:count], as_with(f)
    key = (id(f.__code__), count, names, shown)
    found = _codes.get(key)
    if found is None:
        own_signature(f).bind(*[None] * count, **dict.fromkeys(names))
        found = (f.__code__, _code(f, count, names, shown))
        with _lock:
            _codes[key] = found
            while len(_codes) > _SIZE:
                _codes.popitem(last=False)
    made = rebuilt_function(f, found[1], cells_of(f))
    if count > f.__code__.co_argcount:
        made.__defaults__ = None
    rule = rule_of(f)
    return made if rule is None else rule.of(made)


def _names_behind(f: Any) -> tuple[str, ...]:
    """The names of the parameters by position of the function that a wrapper says to wrap; else none."""
    f = wrapped_by(f)
    return f.__code__.co_varnames[: f.__code__.co_argcount] if isinstance(f, FunctionType) else ()


def _code(f: FunctionType, count: int, keywords: tuple[str, ...], shown: tuple[str, ...]) -> CodeType:
    """The code for such calls; `shown` are names for the first arguments, where the function gives none."""
    source = read_source(f)
    args = source.tree.args
    positional = [*args.posonlyargs, *args.args]
    named = {p.id for p in [*args.args, *args.kwonlyargs]}
    names = names_of(source.tree, source.scope).copy(keywords)
    taken = {n.id for n in find_nodes(source.tree, gast.Name)}
    extra = []
    if args.vararg:
        extra = [
            names.fresh(shown[k]) if k < len(shown) else names.temporary(args.vararg.id)
            for k in range(len(positional), count)
        ]
    free = [k for k in keywords if k not in named]
    renamed = {k: load(names.fresh(k)) for k in free if k in taken}
    for k in renamed:
        _check_rename(f, source.tree, k)
    start = []
    if args.vararg is not None:
        start.append(assign(args.vararg.id, tuple_of(map(load, extra)), source.tree))
    if args.kwarg is not None:
        given = gast.Dict(keys=list(map(constant, free)), values=list(map(load, free)))
        kwargs = renamed.get(args.kwarg.id, args.kwarg).id
        start.append(assign(kwargs, given, source.tree))
    body = substitute(source.tree.body, renamed) if renamed else source.tree.body
    new = gast.arguments(
        args=[*args.args, *map(param, extra)],
        posonlyargs=args.posonlyargs,
        vararg=None,
        kwonlyargs=[*args.kwonlyargs, *map(param, free)],
        kw_defaults=[*args.kw_defaults, *[None] * len(free)],
        kwarg=None,
        defaults=[] if extra else args.defaults,
    )
    tree = rebuilt(source.tree, args=new, body=[*start, *body])
    return code_of_tree(tree, source.filename, f.__code__.co_freevars, source.lines)


def _check_rename(f: FunctionType, tree: Any, name: str) -> None:
    """Raises NonDifferentiableError if a keyword of `**kwargs` is also a variable of the function."""
    own = name in {*f.__code__.co_varnames, *f.__code__.co_cellvars}
    if own and not any(isinstance(n, gast.keyword) and n.arg == name for n in walk(tree)):
        return
    raise NonDifferentiableError(
        f"{f.__qualname__} is given `{name}=` for its `**{tree.args.kwarg.id}`, and uses the name `{name}`",
        why="the argument would take the name",
        instead=f"rename `{name}` in the function",
    )
