"""Mangles private names (`__x`) as their class does (`_Class__x`).

Contract: the new gast tree of a function is changed in place and returned; outside of the class it means the
same as inside.
"""

from __future__ import annotations

from typing import Any

import gast

__all__ = ["mangle_names"]

Node = Any  # gast publishes no types


def mangle_names(function: Node, class_name: str) -> Node:
    """The function of a class with its private names mangled.

    >>> tree = gast.parse("def weight(self):\\n    return self.__weight").body[0]
    >>> print(gast.unparse(mangle_names(tree, "Model")).strip())
    def weight(self):
        return self._Model__weight
    """
    own_name = function.name
    _mangle(function, class_name)
    function.name = own_name  # the object's name, as Python too leaves it
    return function


def _mangle(node: Node, class_name: str) -> None:
    """Writes private names (`__x`) as the class compiles them (`_Class__x`), in place."""
    match node:
        case gast.Name():
            node.id = _mangled(node.id, class_name)
        case gast.Attribute():
            node.attr = _mangled(node.attr, class_name)
        case gast.Global() | gast.Nonlocal():
            node.names = [_mangled(name, class_name) for name in node.names]
        case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.MatchAs() | gast.MatchStar():
            node.name = _mangled(node.name, class_name)
        case gast.MatchMapping():
            node.rest = _mangled(node.rest, class_name)
        case gast.alias():  # the imported name stays, the local one is mangled
            bound = node.asname or node.name
            node.asname = node.asname if _mangled(bound, class_name) == bound else _mangled(bound, class_name)
    inner_class = node.name if isinstance(node, gast.ClassDef) else class_name
    for field_name, value in gast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, gast.AST):
                _mangle(child, inner_class if field_name == "body" else class_name)
    if isinstance(node, gast.ClassDef):
        node.name = _mangled(node.name, class_name)


def _mangled(name: str | None, class_name: str) -> str | None:
    stem = class_name.lstrip("_")
    if not stem or name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    return f"_{stem}{name}"
