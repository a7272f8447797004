"""Reuses the memory of an adjoint whose only reader computes the next one.

An array that the function has just computed, that has no alias and is not read again, is updated in place to
the value computed from it, if that is an array of its kind and shape.

    dy = dout / total + dtotal          dy = dout / total + dtotal
    dy_1 = dy * y                 ->    dy *= y
    dx = np.sum(dy_1, axis=0)           dx = np.sum(dy, axis=0)
"""

from __future__ import annotations

import re
from typing import Any

import gast

from ..trees.nodes import loads, located, store
from .code import Code, Line

__all__ = ["update_in_place", "update_stretched"]

Node = Any  # gast publishes no types

_UPDATING = (gast.Add, gast.Sub, gast.Mult, gast.Div)
_COMMUTING = (gast.Add, gast.Mult)


def update_stretched(code: Code, line: Line) -> bool:
    """Updates a sum with a broadcast term in place: NumPy would not reuse the memory of the other term."""
    return _is_stretched(code, line.node) and update_in_place(code, line)


def _is_stretched(code: Code, s: Node) -> bool:
    target = s.targets[0]
    return isinstance(target, gast.Name) and target.id in code.facts.generation.stretched


def update_in_place(code: Code, line: Line) -> bool:
    """Makes an assignment an update of an array that it is the last to read."""
    match line.node:
        case gast.Assign(
            targets=[gast.Name(id=name)], value=gast.BinOp(left=left, op=op, right=right)
        ) if isinstance(op, _UPDATING):
            sides = [(left, right), (right, left)] if isinstance(op, _COMMUTING) else [(left, right)]
            for old, value in sides:
                if isinstance(old, gast.Name) and _may_become(code, old.id, name, line):
                    is_plain = _stem(name) == name and _stem(old.id) != old.id
                    kept, gone = (name, old.id) if is_plain else (old.id, name)
                    update = gast.AugAssign(target=store(kept), op=op, value=value)
                    code.replace(line, located(update, line.node))
                    code.rename(gone, kept)
                    return True
    return False


def _may_become(code: Code, old: str, name: str, line: Line) -> bool:
    """Whether an array may be updated to the value of a statement, which is the last to read it."""
    if _stem(old) != _stem(name) or old == name or not code.is_own(old) or not code.is_own(name):
        return False
    if code.readers[old].get(line) != 1 or not code.facts.have_one_form(old, name):
        return False
    made = [d for d in code.definers.get(old, ()) if d.node.__class__ is gast.Assign]
    if len(made) != 1 or _binding(code, old) != 1 or _binding(code, name) != 1:
        return False
    first, reading = made[0], [*code.definers[old], *code.readers[old]]
    if not _is_of_form(code, first.node, old):
        return False
    if any(i.block is not line.block or i.place > line.place or i.blocks for i in reading):
        return False
    assigning = [i for i in code.readers.get(name, ()) if i.node.__class__ in (gast.Assign, gast.AugAssign)]
    others = [i.node for i in (*code.readers[old], *assigning) if i is not line]
    return not any({old, name} & {*loads(s)} and _keeps(code, s) for s in others)


def _binding(code: Code, name: str) -> int:
    """The number of bindings of a name, without updates."""
    return sum(d.node.__class__ is not gast.AugAssign for d in code.definers.get(name, ()))


def _is_of_form(code: Code, s: Node, name: str) -> bool:
    """Whether a statement surely makes an array of the dtype of the variable of an adjoint."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.BinOp() | gast.UnaryOp() as value):
            return code.facts.is_of_form(value, name)
        case gast.Assign(
            targets=[gast.Name()],
            value=gast.Call(func=gast.Attribute(value=gast.Name() as copied, attr="copy"), args=[]),
        ):
            return code.facts.is_of_form(copied, name)
    return False


def _keeps(code: Code, s: Node) -> bool:
    """Whether a statement may make an alias, or a container, of an array that it reads: the derivative of
    this code would see the update through it.
    """
    match s:
        case gast.Assign() | gast.AugAssign():
            is_new = isinstance(s.value, (gast.BinOp, gast.UnaryOp, gast.Compare))
            return not (is_new or (isinstance(s.value, gast.Call) and code.facts.is_fresh(s.value)))
    return True


def _stem(name: str) -> str:
    return re.sub(r"_\d+$", "", name)
