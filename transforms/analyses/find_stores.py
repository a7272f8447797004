"""The statements that change an object in place: `a[i] = v`, `items.append(v)`, `add_at(a, i, v)`.

Form: the single-assignment form.
"""

from __future__ import annotations

from typing import Any, NoReturn

import gast

from ..trees.nodes import own_statements
from ..trees.program import Program
from .facts import Facts
from .liveness import free_names
from .operations import Pop, is_append, is_pop

__all__ = ["Stores", "find_stores", "refuse_captured"]

Stores = list[tuple[str, Any]]


def find_stores(facts: Facts) -> Stores:
    """The statements that change an object in place, each with the name that they change it through.

    Stores in nested functions are left out: they are found when the function itself is differentiated. Raises
    UnsupportedSyntaxError for a nested function that changes a captured object.
    """
    program = facts.program
    found: Stores = []
    for n in own_statements(program.tree.body):
        if isinstance(n, gast.FunctionDef):
            captured = free_names(n)
            for name, inner in find_stores(facts.after(program.with_tree(n))):
                if name in captured:
                    refuse_captured(program, inner, name)
        match n:
            case (
                gast.Assign(targets=[gast.Subscript(value=value)])
                | gast.AugAssign(target=gast.Subscript(value=value))
            ):
                if not isinstance(value, gast.Name):
                    program.refuse(
                        n,
                        "a store into an object that has no name in the function",
                        "its aliases are not known",
                        "give the object a name, and return it",
                    )
                found.append((value.id, n))
            case gast.Expr() if is_append(n, facts):
                found.append((n.value.func.value.id, n))
            case gast.Assign(value=value) if is_pop(value) and isinstance(facts.operation(value), Pop):
                found.append((value.func.value.id, n))
            case (
                gast.Assign(value=gast.Call(args=[gast.Name(id=name), *_]))
                | gast.Expr(value=gast.Call(args=[gast.Name(id=name), *_]))
            ) if facts.primitives.is_in_place(program.resolve(n.value.func)):
                found.append((name, n))
    return found


def refuse_captured(program: Program, statement: Any, name: str) -> NoReturn:
    """Raises UnsupportedSyntaxError for a change of a captured name in a nested function."""
    program.refuse(
        statement,
        f"a change in place of `{name}` in a nested function",
        "who calls the function, and when, is not followed",
        f"return the new value from the function, and change `{name}` where it is called",
    )
