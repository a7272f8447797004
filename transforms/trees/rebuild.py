"""Copies of gast nodes with some parts replaced: passes use these, and change no tree.

Contract: the result has the position of the original; parts that are not replaced are shared with it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import gast

from .children import rebuilt
from .nodes import children, fields_of, find_nodes, load, located, names_in
from .remember import remembered
from .statements import Rewriter, alike, map_blocks, rewritten, with_blocks, with_body

__all__ = [
    "Rewriter",
    "alike",
    "bound_names",
    "call_at",
    "copied_function",
    "map_blocks",
    "map_children",
    "parameter_names",
    "parameters",
    "rebuilt",
    "relocated",
    "rewritten",
    "substitute",
    "with_blocks",
    "with_body",
    "with_names",
    "without_statements",
]

Node = Any  # gast publishes no types


def map_children(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with each direct child replaced by `change` of it; the node itself when that changes none."""
    changes: dict[str, Any] = {}
    held = node.__dict__
    for name in fields_of(node.__class__):
        value = held.get(name)
        if value.__class__ is list:
            items = [change(v) if isinstance(v, gast.AST) and v._fields else v for v in value]
            if not all(map(operator.is_, items, value)):
                changes[name] = items
        elif isinstance(value, gast.AST) and value._fields and (new := change(value)) is not value:
            changes[name] = new
    return rebuilt(node, **changes) if changes else node


def substitute(node: Node, mapping: dict[str, Node]) -> Node:
    """A copy of a statement or expression in which loaded names are replaced by expressions, and stored ones
    by the names given; expressions without such names are shared with the original.
    """
    if isinstance(node, list):
        return [substitute(n, mapping) for n in node]
    if node.__class__ is gast.Name:
        new = mapping.get(node.id)
        if new is None:
            return node
        if isinstance(node.ctx, gast.Load):
            return new
        return gast.Name(id=new.id, ctx=node.ctx, annotation=None, type_comment=None)
    if not isinstance(node, gast.AST) or node.__class__ is gast.Constant:
        return node
    if isinstance(node, gast.expr) and mapping.keys().isdisjoint(names_in(node)):
        return node
    shared = isinstance(node, (gast.expr, gast.keyword))
    changes: dict[str, Any] = {}
    for name in fields_of(node.__class__):
        old = node.__dict__.get(name)
        if old.__class__ is list:
            new = [substitute(n, mapping) for n in old]
            if not (shared and all(map(operator.is_, old, new))):
                changes[name] = new
        elif isinstance(old, gast.AST) and (new := substitute(old, mapping)) is not old:
            changes[name] = new
    if isinstance(node, gast.FunctionDef) and node.name in mapping:
        changes["name"] = mapping[node.name].id
    return node if shared and not changes else rebuilt(node, **changes)


def with_names(statement: Node, mapping: Mapping[str, Node]) -> Node:
    """The statement with names replaced outside of its blocks: loaded ones by expressions, stored ones by the
    names given; itself where it has none of them.
    """
    if statement.__class__ is gast.Assign and mapping.keys().isdisjoint(names_in(statement)):
        return statement

    def replaced(node: Node) -> Node:
        kind = node.__class__
        if kind is gast.Name:
            new = mapping.get(node.id)
            if new is None or (new.__class__ is gast.Name and new.id == node.id):
                return node
            return new if isinstance(node.ctx, gast.Load) else rebuilt(node, id=new.id)
        return node if kind is gast.Constant or isinstance(node, gast.stmt) else map_children(node, replaced)

    new = map_children(statement, replaced)
    if new.__class__ is gast.FunctionDef and isinstance(mapping.get(new.name), gast.Name):
        return rebuilt(new, name=mapping[new.name].id)
    return new


def without_statements(tree: Any, is_unwanted: Callable[[Any], bool]) -> Any:
    """The function without the statements that `is_unwanted` accepts."""
    return rewritten(tree, lambda s: [] if is_unwanted(s) else None)


def relocated(node: Node, like: Node, filename: str) -> Node:
    """A copy of a tree of another file, all at the position of `like`; `inner` keeps the original
    positions.
    """
    new = rebuilt(map_children(node, lambda child: relocated(child, like, filename)))
    inner = getattr(node, "inner", None)
    if inner is None and hasattr(node, "lineno"):
        inner = filename, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
    located(new, like)
    if inner is not None:
        new.inner = inner
    return new


def call_at(value: Node, like: Node) -> Node:
    """An expression; a call, or a division in it, gets the position of `like`."""

    def divided(node: Node) -> Node:
        new = map_children(node, divided)
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Div, gast.Pow)):
            return new if hasattr(node, "lineno") else located(rebuilt(new), like)
        return new

    value = divided(value)
    return located(rebuilt(value), like) if isinstance(value, gast.Call) else value


def copied_function(function: Node, fresh: Callable[[str], str]) -> Node:
    """The function with fresh names for itself and its local variables, parameters aside."""
    kept = {p.id for n in find_nodes(function, gast.FunctionDef) for p in parameters(n)}
    own = {n: load(fresh(n)) for n in sorted({*bound_names(function), function.name}) if n not in kept}
    return substitute(function, own)


def parameters(function: Node) -> list[Node]:
    """The parameters of a function definition or lambda, as nodes, star parameters left out."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def parameter_names(function: Node) -> list[str]:
    """The names of a function's parameters, positional ones first, star parameters left out."""
    return [n.id for n in parameters(function)]


def bound_names(tree: Node) -> frozenset[str]:
    """All names that a function binds anywhere, nested functions included."""
    return frozenset().union(*map(_bound, children(tree)))


@remembered
def _bound(node: Node) -> frozenset[str]:
    if node.__class__ is gast.Name:
        return frozenset([node.id] if node.ctx.__class__ in (gast.Store, gast.Param) else [])
    own = [node.name] if node.__class__ is gast.FunctionDef else []
    return frozenset(own).union(*map(_bound, children(node)))
