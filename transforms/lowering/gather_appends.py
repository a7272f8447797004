"""Writes a list that is appended to as soon as it is made as a display.

Form in and out: the normal form.

    layers = []
    first = Dense(w)               first = Dense(w)
    layers.append(first)     ->    then = Tanh()
    then = Tanh()                  layers = [first, then]
    layers.append(then)
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import assigned_names, blocks_of, find_nodes, is_atom, names_read, statements_in
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt, with_body

__all__ = ["gather_appends"]


def gather_appends(program: Program) -> Program:
    """The program with such displays; the program itself where there are none."""
    statements = list(statements_in(program.tree.body))
    functions = find_nodes(program.tree, gast.FunctionDef)
    if not any(isinstance(s, gast.Expr) for s in statements) or functions != [program.tree]:
        return program
    bound = [n for s in statements if not blocks_of(s) for n in assigned_names([s])]

    def block(statements: list[Any]) -> list[Any]:
        found: list[Any] = []
        for s in (map_blocks(s, block) for s in statements):
            name, item = _appended(s)
            places = [k for k, made in enumerate(found) if name and _makes(made) == name]
            if bound.count(name) == 1 and places and _can_move(found[places[0] :], name):
                made = found.pop(places[0])
                s = rebuilt(made, value=rebuilt(made.value, elts=[*made.value.elts, item]))
            found.append(s)
        return found

    tree = with_body(program.tree, block(program.tree.body))
    return program if tree is program.tree else program.with_tree(tree)


def _makes(s: Any) -> str | None:
    """The name of a list that a statement makes of atoms."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.List(elts=elts)) if all(map(is_atom, elts)):
            return str(name)
    return None


def _appended(s: Any) -> tuple[str, Any]:
    """The name of the list that a statement appends to, and what."""
    match s:
        case gast.Expr(
            value=gast.Call(
                func=gast.Attribute(value=gast.Name(id=name), attr="append"), args=[item], keywords=[]
            )
        ) if is_atom(item) and getattr(item, "id", "") != name:
            return name, item
    return "", None


def _can_move(statements: list[Any], name: str) -> bool:
    """Whether the list that the first of these makes can as well be made after them: the others neither look
    at it nor change what its items are.
    """
    made, *between = statements
    items = set(names_read(made.value))
    return not any(
        name in names_read(s) or (items | {name}) & set(assigned_names([s])) or _leaves(s) for s in between
    )


def _leaves(s: Any) -> bool:
    """Whether a block may be left by a statement."""
    return isinstance(s, (gast.Return, gast.Break, gast.Continue))
