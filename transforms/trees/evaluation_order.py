"""The parts of expressions in Python's order of evaluation.

Splits and rebuilds expressions with parts in unusual places (an index with slices, an f-string with format
specifications), and finds the names that an expression binds by `:=`.

>>> from s2sad.transforms.trees.printer import to_source
>>> index = gast.parse("x[i:j, ..., k]").body[0].value.slice
>>> [to_source(part) for part in index_parts(index)]
['i', 'j', '...', 'k']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gast

from .nodes import children, defaults_of
from .rebuild import rebuilt

__all__ = ["index_parts", "string_fields", "walrus_names", "with_fields", "with_parts"]

Node = Any  # gast publishes no types

BOUNDS = ("lower", "upper", "step")


def index_parts(index: Node) -> list[Node]:
    """The expressions in an index."""
    parts = []
    for item in index.elts if isinstance(index, gast.Tuple) else [index]:
        bounds = [getattr(item, bound) for bound in BOUNDS] if isinstance(item, gast.Slice) else [item]
        parts += [bound for bound in bounds if bound is not None]
    return parts


def with_parts(index: Node, parts: Iterator[Node]) -> Node:
    """The index with other expressions in it."""
    if isinstance(index, gast.Tuple):
        return rebuilt(index, elts=[_with_part(item, parts) for item in index.elts])
    return _with_part(index, parts)


def _with_part(item: Node, parts: Iterator[Node]) -> Node:
    if isinstance(item, gast.Slice):
        return rebuilt(item, **{bound: next(parts) for bound in BOUNDS if getattr(item, bound) is not None})
    return next(parts)


def string_fields(node: Node) -> list[Node]:
    """The replacement fields of an f-string: each is followed by those of its format specification."""
    found = []
    for part in node.values:
        if isinstance(part, gast.FormattedValue):
            found.append(part)
            if part.format_spec is not None:
                found += string_fields(part.format_spec)
    return found


def with_fields(node: Node, values: Mapping[int, Node]) -> Node:
    """The f-string with other values in its replacement fields, which are given by their ids."""
    parts = []
    for part in node.values:
        if isinstance(part, gast.FormattedValue):
            spec = None if part.format_spec is None else with_fields(part.format_spec, values)
            part = rebuilt(part, value=values[id(part)], format_spec=spec)
        parts.append(part)
    return rebuilt(node, values=parts)


def walrus_names(nodes: list[Node]) -> set[str]:
    """The names that expressions bind by `:=`, without those that a lambda binds when it is called."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, gast.NamedExpr):
            found.add(node.target.id)
        found |= walrus_names(defaults_of(node) if isinstance(node, gast.Lambda) else children(node))
    return found
