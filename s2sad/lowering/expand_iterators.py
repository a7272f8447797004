"""Calls of `__iter__` for loops, unpackings and calls that iterate over objects of the user's, in normal
form.

    for v in bag:           items = bag.__iter__()
        ...                 for v in items:
                                ...

Where the method is inlined and returns `iter(x)`, the loop goes over x.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import Any

import gast

from ..kinds.class_members import member_of
from ..kinds.lattice import Instance, Kind, Record
from ..transforms.trees.nodes import assign, attribute, call, find_nodes, load, located
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import map_blocks, rebuilt, rewritten, substitute

__all__ = ["expand_iterators", "is_consumer", "without_iterators"]

CONSUMERS = (sum, max, min, any, all, list, tuple, sorted, set, frozenset, enumerate, zip)


def expand_iterators(program: Program, kind: Callable[[Any], Kind]) -> Program:
    """The program with loops over `x.__iter__()` in place of loops over an object x."""
    names = program.names.copy()
    made: list[str] = []

    def source(node: Any, before: list[Any], s: Any) -> Any:
        if not isinstance(node, gast.Name) or not iterates(kind(node)):
            return node
        made.append(names.temporary("items"))
        like = node if hasattr(node, "lineno") else s
        before.append(assign(made[-1], located(call(attribute(node, "__iter__")), like), like))
        return located(load(made[-1]), like)

    def consumed(node: Any, before: list[Any], s: Any) -> Any:
        if not isinstance(node, gast.Call):
            return source(node, before, s)
        if not is_consumer(node, program):
            return node
        return rebuilt(node, args=[source(a, before, s) for a in node.args])

    def statement(s: Any) -> list[Any]:
        before: list[Any] = []
        match s:
            case gast.For():
                s = rebuilt(s, iter=consumed(s.iter, before, s))
            case gast.Assign(targets=[gast.Tuple()], value=gast.Name() as value):
                s = rebuilt(s, value=source(value, before, s))
            case gast.Assign(value=gast.Call() as value):
                s = rebuilt(s, value=consumed(value, before, s))
        return [*before, s]

    tree = rewritten(program.tree, statement, nested=False, inner_first=True)
    if not made:
        return program
    return program.with_tree(tree, names=names)


def iterates(kind: Kind) -> bool:
    member = member_of(kind, "__iter__") if isinstance(kind, (Instance, Record)) else None
    return member is not None and member.role == "method" and isinstance(member.value, FunctionType)


def is_consumer(node: Any, program: Program) -> bool:
    """Whether a call iterates over its argument, or over each of them."""
    function = program.resolve(node.func)
    found = any(function is f for f in CONSUMERS)
    return found and (len(node.args) == 1 or function in (sum, zip, enumerate))


def without_iterators(program: Program) -> Program:
    """The program without `it = iter(x)` where the one read of `it` is a loop, call or unpacking in the same
    block: that iterates over x.
    """
    if not any(program.resolve(n.func) is iter for n in find_nodes(program.tree, gast.Call)):
        return program
    names = find_nodes(program.tree, gast.Name)
    seen, bound = (Counter(n.id for n in found) for found in (names, filter(is_stored, names)))

    def block(statements: list[Any]) -> list[Any]:
        result: list[Any] = []
        mapping: dict[str, Any] = {}
        for k, s in enumerate(statements):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(args=[x]) as value) if (
                    program.resolve(value.func) is iter
                    and seen[name] == 2
                    and any(name in iterated_names(later, program) for later in statements[k + 1 :])
                ):
                    if isinstance(x, gast.Name) and bound[x.id] == 1:
                        mapping[name] = x
                    else:
                        result.append(rebuilt(s, value=x))
                case gast.FunctionDef():
                    result.append(s)
                case _:
                    result.append(substitute(map_blocks(s, block), mapping))
        return result

    return program.with_tree(rebuilt(program.tree, body=block(program.tree.body)))


def iterated_names(s: Any, program: Program) -> list[str]:
    """The names that a statement iterates over once."""
    match s:
        case gast.For(iter=source):
            sources = source.args if isinstance(source, gast.Call) else [source]
        case gast.Assign(targets=[gast.Tuple()], value=gast.Name() as source):
            sources = [source]
        case gast.Assign(value=gast.Call() as value) if is_consumer(value, program):
            sources = value.args
        case _:
            return []
    return [n.id for n in sources if isinstance(n, gast.Name)]


def is_stored(node: Any) -> bool:
    return not isinstance(node.ctx, gast.Load)
