"""The children of a node, in source order, and copies of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import gast

__all__ = ["children", "fields_of", "located", "rebuilt", "walk"]

Node = Any  # gast publishes no types

_LEAVES = frozenset({"ctx", "op", "ops", "kind", "type_comment", "id", "attr", "arg"})
_CHILDREN: dict[type, Callable[[Node], list[Node]]] = {  # for the most frequent nodes
    gast.Constant: lambda n: [],
    gast.BinOp: lambda n: [n.left, n.right],
    gast.UnaryOp: lambda n: [n.operand],
    gast.Compare: lambda n: [n.left, *n.comparators],
    gast.Call: lambda n: [n.func, *n.args, *n.keywords],
    gast.keyword: lambda n: [n.value],
    gast.Attribute: lambda n: [n.value],
    gast.Subscript: lambda n: [n.value, n.slice],
    gast.Tuple: lambda n: [*n.elts],
    gast.List: lambda n: [*n.elts],
    gast.Assign: lambda n: [*n.targets, n.value],
    gast.Expr: lambda n: [n.value],
    gast.AugAssign: lambda n: [n.target, n.value],
    gast.If: lambda n: [n.test, *n.body, *n.orelse],
    gast.For: lambda n: [n.target, n.iter, *n.body, *n.orelse],
    gast.While: lambda n: [n.test, *n.body, *n.orelse],
}


def rebuilt(node: Node, **changes: Any) -> Node:
    """A copy of the node, at its position, with the given fields replaced."""
    new = node.__class__.__new__(node.__class__)
    new.__dict__.update(node.__dict__, **changes)
    return new


def located(node: Node, like: Node | None) -> Node:
    """The node, with the position of `like`."""
    if like is not None and hasattr(like, "lineno"):
        held = like.__dict__
        node.__dict__.update(
            lineno=held["lineno"],
            col_offset=held["col_offset"],
            end_lineno=held.get("end_lineno"),
            end_col_offset=held.get("end_col_offset"),
        )
        if "inner" in held:  # see `relocated`
            node.inner = held["inner"]
    return node


@cache
def fields_of(kind: Any) -> tuple[str, ...]:
    """The fields of a class of nodes that may hold other nodes, without operators and contexts."""
    return tuple(f for f in kind._fields if f not in _LEAVES)


def children(node: Node) -> list[Node]:
    """The children of a node, in the order of its fields, without operators and contexts."""
    known = _CHILDREN.get(node.__class__)
    if known is None:
        known = _CHILDREN[node.__class__] = _children_of(node.__class__)
    return known(node)


def _children_of(kind: Any) -> Callable[[Node], list[Node]]:
    """A function that returns the children of any node of a class."""
    fields = fields_of(kind)

    def children(node: Node) -> list[Node]:
        found: list[Node] = []
        held = node.__dict__
        for name in fields:
            value = held.get(name)
            if value is None:
                continue
            if value.__class__ is list:
                found.extend(v for v in value if isinstance(v, gast.AST))
            elif isinstance(value, gast.AST):
                found.append(value)
        return found

    return children


def walk(node: Node) -> Iterator[Node]:
    """All nodes of a tree, in source order."""
    todo = [node]
    pop, extend, known = todo.pop, todo.extend, _CHILDREN.get
    name, constant = gast.Name, gast.Constant
    while todo:
        current = pop()
        yield current
        kind = current.__class__
        if kind is not name and kind is not constant:
            extend((known(kind) or children)(current)[::-1])
