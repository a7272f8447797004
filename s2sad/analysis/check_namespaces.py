"""Refuses changes of the dicts in which Python keeps attributes and globals: `vars(o)["v"] = x`."""

from __future__ import annotations

import gast

from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_aliases import NOTHING, find_aliases
from ..transforms.analyses.find_effects import find_changes_by_name
from ..transforms.analyses.find_namespaces import NOT_CHANGING, find_namespaces
from ..transforms.heap.heap_writer import HeapRefusal
from ..transforms.trees.nodes import find_nodes

__all__ = ["refuse_namespace_changes"]


def refuse_namespace_changes(facts: Facts, updates: bool = False) -> None:
    """Raises UnsupportedSyntaxError for a change of a dict of attributes or globals, through any name; with
    `updates`, those by `x.__dict__.update(...)` are accepted.
    """
    program = facts.program
    spaces = find_namespaces(program)
    if not spaces:
        return
    for inner in find_nodes(program.tree, gast.FunctionDef):
        if inner is not program.tree:
            refuse_namespace_changes(facts.after(program.with_tree(inner)), updates)
    held = facts.of(find_aliases).held
    for name, statement in facts.of(find_changes_by_name):
        if spaces.keys().isdisjoint(held.get(name, NOTHING)[0]):
            continue
        match statement:
            case gast.Assign(value=gast.Call(func=function)) | gast.Expr(value=gast.Call(func=function)):
                base = getattr(getattr(function, "value", None), "id", "")
                method = getattr(function, "attr", "")
                space = spaces.get(base)
                accepted = updates and method == "update" and isinstance(space, gast.Attribute)
                if space is not None and (accepted or name != base or method in NOT_CHANGING):
                    continue
        what = "a change of the dict that holds the attributes of an object, or the globals"
        why = "who reads them by their names is not followed"
        raise HeapRefusal(what, program.where(statement), why, "name the attributes, or call `setattr`")
