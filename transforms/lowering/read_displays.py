"""Replaces reads of a display's items by the items.

Form: the single-assignment form, in and out. The display is not changed.

    p = [s, t]              p = [s, t]
    y = p[1]         ->     y = t
    z = max(p)              z = max(s, t)
    a, b = p                a = s
                            b = t

So each item has its own derivative, or none.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.operations import Build, Item, Operation
from ..analyses.steadiness import holds_steadily
from ..trees.nodes import (
    assign,
    assigned_names,
    blocks_of,
    call,
    is_atom,
    located,
    read_counts,
    statements_in,
    target_names,
)
from ..trees.program import Program
from ..trees.rebuild import map_blocks, with_body, without_statements

__all__ = ["read_displays"]

DISPLAYS = (gast.Tuple, gast.List, gast.Dict, gast.Call)

Display = Mapping[Hashable, Any]  # the atoms by key or place


def read_displays(facts: Facts) -> Program:
    """The program with atoms for reads of displays."""
    program, operation = facts.program, facts.operation
    if not any(isinstance(getattr(s, "value", None), DISPLAYS) for s in statements_in(program.tree.body)):
        return program

    def read(s: Any, known: Mapping[str, Display]) -> list[Any]:
        """The statement, or those that read a display's items from their atoms."""
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Subscript() | gast.Attribute()):
                match operation(s.value):
                    case Item(base=gast.Name(id=base), index=gast.Constant(value=key)) if base in known:
                        if type(key) in (int, str) and key in known[base]:
                            return [assign(name, known[base][key], s)]
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.Call(func=func, args=[gast.Name(id=base)], keywords=[]),
            ) if base in known and program.resolve(func) in (max, min):
                if len(known[base]) > 1 and 0 in known[base]:
                    return [assign(name, located(call(func, *known[base].values()), s.value), s)]
            case gast.Assign(targets=[gast.Tuple(elts=targets)], value=gast.Name(id=base)) if base in known:
                items = [known[base].get(k) for k in range(len(targets))]
                names = target_names(s.targets[0])
                is_whole = len(known[base]) == len(targets) and None not in items
                if is_whole and not set(map(name_of, items)) & set(names):
                    return [assign(n, item, s) for n, item in zip(names, items, strict=True)]
        return [s]

    def block(statements: list[Any], outside: Mapping[str, Display]) -> list[Any]:
        known, found = dict(outside), []
        for s in statements:
            forget(known, frozenset(assigned_names(s)))
            if blocks_of(s):
                found.append(map_blocks(s, partial(block, outside=known)))
                continue
            display: Display | None
            new = read(s, known)
            match new[-1]:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=source)) if source in known:
                    display = known[source]
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if isinstance(value, DISPLAYS):
                    display = display_of(operation(value))
                case _:
                    name, display = "", None
            if display and holds_steadily(facts, name) and name not in map(name_of, display.values()):
                known[name] = display
            found += new
        return found

    tree = with_body(program.tree, block(program.tree.body, {}))
    if tree is program.tree:
        return program
    read_now = read_counts(tree)

    def is_unread(s: Any) -> bool:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Tuple() | gast.List() | gast.Dict()):
                return name not in read_now
        return False

    return program.with_tree(without_statements(tree, is_unread))


def forget(known: dict[str, Display], names: frozenset[str]) -> None:
    """Drops the displays of these names, and those with one of them as an item: the names are assigned
    again.
    """
    for name in [n for n, d in known.items() if n in names or not names.isdisjoint(map(name_of, d.values()))]:
        del known[name]


def name_of(atom: Any) -> str:
    return atom.id if isinstance(atom, gast.Name) else ""


def display_of(operation: Operation) -> Display | None:
    """The items of a display, or of a new named tuple, by key or position; None for other operations."""
    match operation:
        case Build(items=items, node=gast.Dict(), keys=keys):
            if all(isinstance(k, gast.Constant) and isinstance(k.value, str) for k in keys):
                return dict(zip((k.value for k in keys), items, strict=True))
        case Build(items=items, node=gast.Tuple() | gast.List()) if all(map(is_atom, items)):
            return dict(enumerate(items))
        case Build(items=items, keys=keys, is_named_tuple=True):
            return dict(sorted(zip(keys, items, strict=True)))
    return None
