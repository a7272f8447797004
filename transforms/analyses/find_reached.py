"""Names that may reach an active value, found before kinds are known.

Form: the normal form. The result decides which callees are read; it may be too large or too small, since a
callee that is not read is treated as dynamic.

    def f(x, n):            # x leads to y and rows
        label = str(x)
        rows = []
        y = x * n
        rows.append(y)
        return rows
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import gast

from ..trees.nodes import bound_in_header, find_nodes, load, names_read, target_names
from ..trees.program import MISSING
from .facts import Facts
from .liveness import captured_names

__all__ = ["find_reached"]


def find_reached(facts: Facts, carrying: tuple[str, ...]) -> frozenset[str]:
    """The names that may hold an active value, or an object that leads to one, if the names `carrying` do.
    The result of a primitive without derivative does not; a pure one changes no argument.
    """
    program, primitives = facts.program, facts.primitives

    def is_inert(call: Any) -> bool:
        function = program.resolve(call.func)
        return function is not MISSING and primitives.is_nondifferentiable(function)

    def is_pure(call: Any) -> bool:
        function = program.resolve(call.func)
        return function is not MISSING and primitives.is_pure(function)

    leads: dict[str, set[str]] = defaultdict(set)  # from a name to those that reach all that it reaches

    @cache
    def is_data(name: str) -> bool:
        return name in program.locals or not isinstance(program.resolve(load(name)), _NO_DATA)

    def read(*nodes: Any) -> list[str]:
        return [n for node in nodes for n in names_read(node) if is_data(n)]

    def link(sources: Iterable[str], targets: Iterable[str]) -> None:
        for source in sources:
            leads[source].update(targets)

    def take(value: Any, targets: list[str]) -> None:
        """Links the names in a value to the targets."""
        if isinstance(value, (gast.JoinedStr, gast.Compare)) or (
            isinstance(value, gast.Call) and is_inert(value)
        ):
            return
        names = read(value)
        link(names, targets)
        if isinstance(value, (gast.Name, gast.Attribute, gast.Subscript)):
            link(targets, names[:1])  # a store into a part changes the whole
        elif isinstance(value, gast.Call) and not is_pure(value):
            between = f"<{id(value)}>"
            link(names, [between])
            link([between], names)

    for s in find_nodes(
        program.tree, gast.Assign, gast.AugAssign, gast.For, gast.With, gast.Expr, gast.FunctionDef
    ):
        match s:
            case gast.Assign(targets=[(gast.Subscript() | gast.Attribute()) as target]):
                link(read(s.value), read(target.value))
            case gast.Assign(targets=targets):
                take(s.value, [n for t in targets for n in target_names(t)])
            case gast.AugAssign(target=target):
                link(read(s.value), read(target) or target_names(target))
            case gast.For():
                take(s.iter, target_names(s.target))
            case gast.With():
                link(read(*(i.context_expr for i in s.items)), [n.id for n in bound_in_header(s)])
            case gast.Expr():
                take(s.value, [])
            case gast.FunctionDef() if s is not program.tree:
                link([n for _, n in captured_names(s)], [s.name])
    found: set[str] = set()
    todo = list(carrying)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(leads[name])
    return frozenset(found)


_NO_DATA = (ModuleType, type, FunctionType, BuiltinFunctionType)
