"""The dicts in which Python keeps attributes and globals: `vars(o)`, `o.__dict__`, `globals()`."""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import find_nodes
from ..trees.program import Program

__all__ = ["NOT_CHANGING", "find_namespaces"]

NOT_CHANGING = frozenset({"copy", "get", "items", "keys", "values"})


def find_namespaces(program: Program) -> dict[str, Any]:
    """The names that are bound to such a dict, each with the expression that gives it; None for a name that
    may hold something else as well.
    """
    bound: dict[str, list[Any]] = {}
    for s in find_nodes(program.tree, gast.Assign):
        if isinstance(s.targets[0], gast.Name):
            bound.setdefault(s.targets[0].id, []).append(s.value)
    givers = {name for name, values in bound.items() if any(_gives_namespace(program, v) for v in values)}

    def is_namespace(value: Any) -> bool:
        match value:
            case gast.Attribute(attr="__dict__"):
                return True
            case gast.Call(func=function):
                return _gives_namespace(program, function) or getattr(function, "id", "") in givers
        return False

    return {
        name: values[0] if len(values) == 1 else None
        for name, values in bound.items()
        if any(map(is_namespace, values))
    }


def _gives_namespace(program: Program, node: Any) -> bool:
    found = program.resolve(node)
    return any(found is f for f in (vars, globals))
