"""Refuses changes of the dicts in which Python keeps attributes and globals, `vars(o)["v"] = x`, and of the
methods of classes.
"""

from __future__ import annotations

import gast

from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_aliases import NOTHING, find_aliases
from ..transforms.analyses.find_effects import find_changes_by_name
from ..transforms.analyses.find_namespaces import NOT_CHANGING, find_namespaces
from ..transforms.trees.nodes import find_nodes
from ..transforms.trees.program import MISSING, Program
from ..values.objects import lookup

__all__ = ["refuse_method_changes", "refuse_namespace_changes"]


def refuse_method_changes(program: Program) -> None:
    """Raises UnsupportedSyntaxError for a method or property of a class that is set."""
    for n in find_nodes(program.tree, gast.Attribute):
        owner = MISSING if isinstance(n.ctx, gast.Load) else program.resolve(n.value)
        if isinstance(owner, type) and hasattr(type(lookup(owner, n.attr)), "__get__"):
            what = f"the method `{n.attr}` of the class `{owner.__name__}` is set"
            why = "the methods of a class are those that it has when the derivative is made"
            program.refuse(n, what, why, "set it before, or hold the function in an attribute of objects")


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
        program.refuse(statement, what, why, "name the attributes, or call `setattr`")
