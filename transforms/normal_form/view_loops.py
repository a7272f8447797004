"""Loops over the values or items of a dict, as loops over its keys: the body may store at other keys, and the
adjoint is added to by key.

    for k, v in d.items():          if not has_views_of_dict(d):
        ...                             refuse_views(d)
                              ->    for k in d:
                                        v = d[k]
                                        ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.helpers import has_views_of_dict, refuse_views
from ..trees.nodes import assign, binding_counts, call, find_nodes, load, located, store, tuple_of
from ..trees.program import MISSING, Program
from .check_loop_effects import may_change_items

__all__ = ["is_view", "is_view_of_dict", "over_keys"]

Node = Any  # gast publishes no types

VIEWS = ("items", "keys", "values")


def is_view(program: Program, node: Node) -> bool:
    """Whether the expression is `d.items()`, `d.keys()` or `d.values()`, and `d` is no module or class."""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr in VIEWS
        and not node.args
        and not node.keywords
        and program.resolve(node.func) is MISSING
    )


def is_view_of_dict(objects: Objects, node: Node, loop: Node) -> bool:
    """Whether the expression in the header of `loop` is such a call that becomes a loop over keys: on a known
    object that is a dict, or on one that may be. Not if the module knows other classes that show items, and
    the loop changes none: then the list of what the call returns serves both.
    """
    if not is_view(objects.program, node):
        return False
    owner = objects.program.resolve(node.func.value)
    if owner is not MISSING:
        return has_views_of_dict(owner)
    is_other = any(map(_has_other_views, objects.program.scope.globals.values()))
    return not is_other or may_change_items(objects.program, loop, of_dict=True)


def over_keys(
    objects: Objects, loop: Node, target: Node, source: Node, hold: Callable[[Node], Node]
) -> tuple[Node, Node, list[Node], list[Node]]:
    """The target and iterable, over keys, of a loop or of a part of its `zip`, a check before the loop, which
    kinds decide, that the object is a dict, and the first statements of the loop's body.

    `hold(expression)` is a name with the expression's value before the loop.
    """
    held, shown = hold(source.func.value), source.func.attr
    checks = []
    if objects.program.resolve(held) is MISSING and not _is_display(objects.program, source.func.value):
        place = source if hasattr(source, "lineno") else loop
        refusal = located(gast.Expr(value=call(objects.name(refuse_views), held)), place)
        no_dict = gast.UnaryOp(op=gast.Not(), operand=call(objects.name(has_views_of_dict), held))
        checks = [located(gast.If(test=no_dict, body=[refusal], orelse=[]), place)]
    parts = target.elts if isinstance(target, (gast.Tuple, gast.List)) else []
    if shown == "keys":
        return target, held, checks, []
    if shown == "items" and len(parts) == 2 and isinstance(parts[0], gast.Name):
        key, value = parts
    else:
        key, value = store(objects.names.temporary("key")), target
    item: Node = gast.Subscript(value=held, slice=load(key.id), ctx=gast.Load())
    if shown == "items" and value is target:
        item = tuple_of([load(key.id), item])
    return key, held, checks, [assign(value, located(item, source), loop)]


def _is_display(program: Program, owner: Node) -> bool:
    """Whether a name's only value is a dict display."""
    match owner:
        case gast.Name(id=name) if binding_counts(program.tree)[name] == 1:
            assigned = find_nodes(program.tree, gast.Assign)
            return any(s.targets[0].id == name for s in assigned if _makes_dict(s))
    return isinstance(owner, gast.Dict)


def _makes_dict(s: Node) -> bool:
    return isinstance(s.value, gast.Dict) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name)


def _has_other_views(found: Any) -> bool:
    """Whether an object, or an instance of a class, has keys, items or values and is not like a dict."""
    found = found if isinstance(found, type) else type(found)
    return not issubclass(found, Mapping) and any(hasattr(found, name) for name in VIEWS)
