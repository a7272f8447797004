"""Loops over the values or items of a dict, as loops over its keys: the body may store at other keys, and
the derivative adds to the keys that it reads.

    for k, v in d.items():          for k in d.keys():
        ...                   ->        v = d[k]
                                        ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import assign, attribute, load, located, store, tuple_of
from ..trees.program import MISSING, Program

__all__ = ["is_view", "over_keys", "shows_values"]

Node = Any  # gast publishes no types


def is_view(program: Program, node: Node) -> bool:
    """Whether the expression is `d.items()`, `d.keys()` or `d.values()` of what is no module or class."""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr in ("items", "keys", "values")
        and not node.args
        and not node.keywords
        and program.resolve(node.func) is MISSING
    )


def shows_values(objects: Objects, node: Node) -> bool:
    """Whether the expression is `d.items()` or `d.values()`, of a dict as far as classes at hand tell."""
    if not is_view(objects.program, node) or node.func.attr == "keys":
        return False
    return not any(map(_has_other_views, objects.program.scope.globals.values()))


def over_keys(
    objects: Objects, loop: Node, target: Node, source: Node, hold: Callable[[Node], Node]
) -> tuple[Node, Node, list[Node]]:
    """The target and source, over keys, of a loop or of a part of its `zip`, and what its body begins with.

    `hold(expression)` is a name that has the expression's value before the loop.
    """
    of_items = source.func.attr == "items"
    held = hold(source.func.value)
    parts = target.elts if isinstance(target, (gast.Tuple, gast.List)) else []
    if of_items and len(parts) == 2 and isinstance(parts[0], gast.Name):
        key, value = parts
    else:
        key, value = store(objects.names.temporary("key")), target
    item: Node = gast.Subscript(value=held, slice=load(key.id), ctx=gast.Load())
    if of_items and value is target:
        item = tuple_of([load(key.id), item])
    keys = located(gast.Call(func=attribute(held, "keys"), args=[], keywords=[]), source)
    return key, keys, [assign(value, located(item, source), loop)]


def _has_other_views(found: Any) -> bool:
    """Whether an object, or what a class makes, gives items or values, but no keys."""
    found = found if isinstance(found, type) else type(found)
    if hasattr(found, "keys"):
        return False
    return hasattr(found, "items") or hasattr(found, "values")
