"""Makes a display of a list, or dict, that is filled right after it is made.

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
    if not any(_added(s)[0] for s in statements) or functions != [program.tree]:
        return program
    bound = [n for s in statements if not blocks_of(s) for n in assigned_names([s])]

    def block(statements: list[Any]) -> list[Any]:
        found: list[Any] = []
        for s in (map_blocks(s, block) for s in statements):
            name, key, item = _added(s)
            places = [k for k, made in enumerate(found) if name and _makes(made, key) == name]
            if bound.count(name) == 1 and places and _can_move(found[places[0] :], name):
                made = found.pop(places[0])
                s = rebuilt(made, value=_with(made.value, key, item))
            found.append(s)
        return found

    tree = with_body(program.tree, block(program.tree.body))
    return program if tree is program.tree else program.with_tree(tree)


def _makes(s: Any, key: Any) -> str | None:
    """The target of a statement that makes a list of atoms; with a key, of a dict without that key; else
    None.
    """
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.List(elts=elts)) if key is None:
            return str(name) if all(map(is_atom, elts)) else None
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.Dict(keys=keys, values=values)) if key:
            are_texts = all(isinstance(getattr(k, "value", None), str) for k in keys)
            is_new = are_texts and key.value not in [k.value for k in keys]
            return str(name) if is_new and all(map(is_atom, values)) else None
    return None


def _added(s: Any) -> tuple[str, Any, Any]:
    """The list that a statement appends to, and the item; or the dict that it stores into, the key, a literal
    string, and the item.
    """
    match s:
        case gast.Expr(
            value=gast.Call(
                func=gast.Attribute(value=gast.Name(id=name), attr="append"), args=[item], keywords=[]
            )
        ):
            key = None
        case gast.Assign(
            targets=[gast.Subscript(value=gast.Name(id=name), slice=gast.Constant(value=str()) as key)],
            value=item,
        ):
            pass
        case _:
            return "", None, None
    return (name, key, item) if is_atom(item) and getattr(item, "id", "") != name else ("", None, None)


def _with(display: Any, key: Any, item: Any) -> Any:
    """The display with another item."""
    if key is None:
        return rebuilt(display, elts=[*display.elts, item])
    return rebuilt(display, keys=[*display.keys, key], values=[*display.values, item])


def _can_move(statements: list[Any], name: str) -> bool:
    """Whether the first statement, which makes the list, may stand after the others: they neither read it nor
    change its items.
    """
    made, *between = statements
    items = set(names_read(made.value))
    return not any(
        name in names_read(s) or (items | {name}) & set(assigned_names([s])) or _leaves(s) for s in between
    )


def _leaves(s: Any) -> bool:
    """Whether a statement may leave the block."""
    return isinstance(s, (gast.Return, gast.Break, gast.Continue))
