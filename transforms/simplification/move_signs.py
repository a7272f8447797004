"""Moves minus signs into the operators that add to derivatives.

A product or quotient of a negated number is the negated product or quotient, to the last bit. The minus of a
term that is added to a derivative goes into the operator, also that of a name which is only read in such
terms. Operands that arithmetic reads at once are not copied; what would be multiplied by one is.

    dx += -d * y              dx -= d * y
    t = -d * 0.5              t = d * 0.5
    dx[1:] += t         ->    dx[1:] -= t
    dx[:-1] += -t             dx[:-1] += t
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.find_sharing import base_of
from ..trees.nodes import attribute, call, located, names_read
from ..trees.rebuild import rebuilt
from ..trees.signs import without_sign
from .code import Code, Line

__all__ = ["copy_array", "move_sign", "read_operands_uncopied", "subtract"]

Node = Any  # gast publishes no types

_FLIPPED = {gast.Add: gast.Sub, gast.Sub: gast.Add}


def subtract(code: Code, line: Line) -> bool:
    """Subtracts a negated term from a derivative."""
    s = line.node
    if not _is_update(code, s):
        return False
    negative, value = without_sign(s.value, code.facts.is_odd)
    if negative:
        code.replace(line, rebuilt(s, op=_FLIPPED[type(s.op)](), value=value))
    return negative


def move_sign(code: Code, line: Line) -> bool:
    """Moves the minus of a name's value into the operators of the updates that read it."""
    match line.node:
        case gast.Assign(targets=[gast.Name(id=name)], value=value):
            negative, positive = without_sign(value, code.facts.is_odd)
            if not negative or not (_makes(positive) or code.facts.holds_number(name)):
                return False
            updates = _updates(code, name)
            if updates is None:
                return False
            code.replace(line, rebuilt(line.node, value=positive))
            for update in updates:
                code.replace(update, rebuilt(update.node, op=_FLIPPED[type(update.node.op)]()))
            return True
    return False


def read_operands_uncopied(code: Code, line: Line) -> bool:
    """Drops the copies of derivatives that are operands of arithmetic."""
    s = line.node
    if s.__class__ is gast.Assign and s.targets[0].__class__ is not gast.Name:
        return False
    if s.__class__ is gast.AugAssign and not _is_update(code, s):
        return False
    value = _uncopied(code, s.value)
    if value is s.value:
        return False
    code.replace(line, rebuilt(s, value=value))
    return True


def copy_array(code: Code, line: Line) -> bool:
    """Copies an array that would be multiplied by one."""
    match line.node:
        case gast.Assign(
            targets=[gast.Name()],
            value=gast.BinOp(
                left=gast.Constant(value=1.0), op=gast.Mult(), right=gast.Name(id=name) as array
            ),
        ) if code.facts.is_array(name) and code.facts.is_float(array):
            copied = call(attribute(array, "copy"))
            code.replace(line, rebuilt(line.node, value=located(copied, line.node.value)))
            return True
    return False


def _updates(code: Code, name: str) -> list[Line] | None:
    """The updates of derivatives whose terms change sign with a name, directly or through other names, with
    repetitions; None where another value would change with it.
    """
    if not code.facts.may_go(name) or code.bound[name] != 1 or not code.is_own(name):
        return None
    found: list[Line] = []
    for reader, count in code.readers.get(name, {}).items():
        s = reader.node
        if count != 1 or not isinstance(s, (gast.Assign, gast.AugAssign)):
            return None
        if not _carries_sign(code, s.value, name):
            return None
        if isinstance(s, gast.AugAssign):
            if not _is_update(code, s):
                return None
            found.append(reader)
            continue
        target = s.targets[0]
        inner = _updates(code, target.id) if isinstance(target, gast.Name) else None
        if inner is None:
            return None
        found += inner
    return found


def _is_update(code: Code, s: Node) -> bool:
    """Whether a statement adds to a derivative, or subtracts from it."""
    base = base_of(s.target)
    return type(s.op) in _FLIPPED and base is not None and code.facts.is_derivative(base)


def _carries_sign(code: Code, value: Node, name: str) -> bool:
    """Whether an expression changes only its sign when a name that it reads once does."""
    match value:
        case gast.Name():
            return bool(value.id == name)
        case gast.UnaryOp(op=gast.USub(), operand=operand):
            return _carries_sign(code, operand, name)
        case gast.BinOp(left=left, op=gast.Mult() | gast.Div(), right=right):
            sides = [side for side in (left, right) if name in names_read(side)]
            return len(sides) == 1 and _carries_sign(code, sides[0], name)
        case gast.Call(args=[first, *rest], keywords=keywords) if code.facts.is_odd(value):
            return name not in names_read([*rest, *keywords]) and _carries_sign(code, first, name)
    return False


def _makes(value: Node) -> bool:
    """Whether an expression makes a new object, and no view."""
    match value:
        case gast.BinOp() | gast.UnaryOp():
            return True
        case gast.Call(func=gast.Attribute(attr="copy"), args=[]):
            return True
    return False


def _uncopied(code: Code, value: Node) -> Node:
    """An expression without copies of the derivatives that its arithmetic reads."""
    match value:
        case gast.UnaryOp(op=gast.USub(), operand=operand):
            new = _operand(code, operand)
            return value if new is operand else rebuilt(value, operand=new)
        case gast.BinOp(left=left, op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div(), right=right):
            first, second = _operand(code, left), _operand(code, right)
            return value if first is left and second is right else rebuilt(value, left=first, right=second)
    return value


def _operand(code: Code, value: Node) -> Node:
    match value:
        case gast.Call(func=gast.Attribute(value=part, attr="copy"), args=[]):
            base = base_of(part)
            if base is not None and code.facts.is_derivative(base):
                return part
    return _uncopied(code, value)
