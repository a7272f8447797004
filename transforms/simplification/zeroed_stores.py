"""Simplifies the adjoint of a store, which reads a part of the array's adjoint and sets it to zero.

Where the value read has one reader, which computes a new value, that is computed first, without a copy. A
value that would be added to the part just set to zero, or to a new array of zeros, is stored: of a part at
one end, the array is then filled with zeros at the other end alone. The sign of zeros may change.

    dv = da[1:].copy()          du = da[1:] / 3
    da[1:] = 0             ->   da[1:] = 0
    du = dv / 3

    dv = da[i]
    da[i] = 0                  da[i] /= 9.0
    da[i] += dv / 9.0    ->
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.find_uses import is_pure, reads
from ..trees.nodes import Comment, constant, load, loads, located, same
from ..trees.rebuild import rebuilt, substitute
from .code import Code, Line
from .products import literal_value

__all__ = ["read_before_zero", "store_first", "store_over_zero"]

Node = Any  # gast publishes no types


def read_before_zero(code: Code, line: Line) -> bool:
    """Computes with a part of an adjoint before it is set to zero, rather than with a copy of it."""
    match line.node:
        case gast.Assign(targets=[gast.Name(id=name)], value=value) if (place := _copied(value)) is not None:
            zero = code.after(line) if isinstance(place, gast.Subscript) else None
            later = None if zero is None or not _zeroes(zero.node, place) else code.after(zero)
            while later is not None and isinstance(later.node, Comment):
                later = code.after(later)
            if zero is None or later is None or not _computes(code, later.node, name):
                return False
            code.delete(line)
            code.replace(later, substitute(later.node, {name: place}))
            code.move_after(zero, later)
            return True
    return False


def _computes(code: Code, s: Node, name: str) -> bool:
    """Whether a statement computes a new value from a name, which it alone reads, and from nothing that may
    be an alias of an adjoint.
    """
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.BinOp() | gast.UnaryOp() as value):
            is_once = code.read[name] == 1 and name in reads(value) and name not in code.captured
            is_apart = not any(map(code.facts.is_derivative, set(loads(value)) - {name}))
            return is_once and is_apart and is_pure(value, code.facts.is_pure)
    return False


def store_over_zero(code: Code, line: Line) -> bool:
    """Stores a value that is added to a part that an earlier statement sets to zero, and that a third one
    before may have read.
    """
    match line.node:
        case gast.AugAssign(
            target=(gast.Subscript(value=gast.Name(id=name)) | gast.Name(id=name)) as place,
            op=gast.Add(),
            value=value,
        ) if _is_adjoint(code, name) and code.facts.is_array(name) and is_pure(value, code.facts.is_pure):
            zero = code.before(line)
            while zero is not None and _may_stand_between(code, zero.node):
                zero = code.before(zero)
            if zero is None or not _zeroes(zero.node, place):
                return False
            taking = code.before(zero)
            taken = None if taking is None else taking.node
            between = [i for i in code.lines_between(zero, line) if i is not line]
            is_next = all(isinstance(i.node, Comment) for i in between)
            new = (_of_taken(code, value, taken, place) or _of_made(code, value, taken)) if is_next else None
            if new is None and not _is_apart(code, value, taken):
                return False
            code.delete(zero)
            if new is not None and taking is not None:
                code.delete(taking)
            stored = _stored(line.node, value if new is None else new)
            if stored is None:
                code.delete(line)
            else:
                code.replace(line, stored)
            return True
    return False


def store_first(code: Code, line: Line) -> bool:
    """Stores the first value that is added to a part of a new array of zeros."""
    match line.node:
        case gast.AugAssign(
            target=gast.Subscript(value=gast.Name(id=name)) as place, op=gast.Add(), value=value
        ) if code.facts.is_derivative(name) and code.facts.is_array(name):
            definers = [d for d in code.definers[name] if d.node.__class__ is not gast.AugAssign]
            made = definers[0] if len(definers) == 1 else line
            if made.block is not line.block or made.place > line.place or not _is_zeros(made.node):
                return False
            reading = [*code.readers.get(name, ()), *code.definers.get(name, ())]
            if any(code.is_between(made, r, line) for r in reading if r is not line):
                return False
            if name in reads(value, place.slice) or not code.is_own(name) or _starts_negated(value):
                return False
            stored = gast.Assign(targets=[place], value=value, type_comment=None)
            code.replace(line, located(stored, line.node))
            rest = _rest_of(place.slice)
            if rest is not None:
                other = gast.Subscript(value=load(name), slice=rest, ctx=gast.Store())
                zero = gast.Assign(targets=[other], value=constant(0), type_comment=None)
                code.replace(made, _unfilled(made.node))
                code.insert_after(made, located(zero, made.node))
            return True
    return False


def _rest_of(index: Node) -> Node | None:
    """The slice with the elements that `1:` or `:-1` leaves out, of an axis of any length; None for any other
    index.
    """
    match index:
        case gast.Slice(lower=gast.Constant(value=int(n)) as first, upper=None, step=None) if n > 0:
            return gast.Slice(lower=None, upper=first, step=None)
        case gast.Slice(lower=None, upper=gast.UnaryOp(op=gast.USub(), operand=operand) as last, step=None):
            count = literal_value(operand)
            if isinstance(count, int) and count > 0:
                return gast.Slice(lower=last, upper=None, step=None)
    return None


def _unfilled(s: Node) -> Node:
    """`x = np.empty_like(y)` for `x = np.zeros_like(y)`."""
    return rebuilt(s, value=rebuilt(s.value, func=rebuilt(s.value.func, attr="empty_like")))


def _starts_negated(value: Node) -> bool:
    """Whether a product starts with a negated value, which is rather subtracted."""
    while isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Mult, gast.Div)):
        value = value.left
    return isinstance(value, gast.UnaryOp) and not isinstance(value.operand, gast.Constant)


def _is_zeros(s: Node) -> bool:
    match s:
        case gast.Assign(value=gast.Call(func=gast.Attribute(attr="zeros_like"), args=[_], keywords=[])):
            return True
    return False


def _is_adjoint(code: Code, name: str) -> bool:
    return code.facts.is_derivative(name) or name in code.facts.variables


def _may_stand_between(code: Code, s: Node) -> bool:
    """Whether a statement neither changes an adjoint nor reads one, numbers aside."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=value):
            return is_pure(value, code.facts.is_pure) and _is_apart(code, value, None)
    return isinstance(s, Comment)


def _of_taken(code: Code, value: Node, before: Node | None, place: Node) -> Node | None:
    """The value with the part for the name that the previous statement reads it into; None where the value
    reads another adjoint, or the name is read again.
    """
    match before:
        case gast.Assign(targets=[gast.Name(id=taken)], value=source) if taken in loads(value):
            part = source if code.facts.is_number_adjoint(taken) else _copied(source)
            is_apart = not any(_is_adjoint(code, n) for n in set(loads(value)) - {taken})
            is_new = isinstance(value, (gast.Name, gast.BinOp, gast.UnaryOp))
            if part is not None and is_new and is_apart and _is_read_once(code, taken) and same(part, place):
                return substitute(value, {taken: part})
    return None


def _of_made(code: Code, value: Node, before: Node | None) -> Node | None:
    """The value of the previous statement, where it is new and has this one reader; else None."""
    match value, before:
        case gast.Name(id=name), gast.Assign(targets=[gast.Name(id=made)], value=gast.BinOp() as source):
            return source if made == name and _is_read_once(code, name) else None
    return None


def _is_read_once(code: Code, name: str) -> bool:
    return code.read[name] == code.bound[name] == 1 and name not in code.captured


def _is_apart(code: Code, value: Node, before: Node | None) -> bool:
    """Whether the adjoints that a value reads are numbers, or the new value of the previous statement."""
    made = ""
    match before:
        case gast.Assign(targets=[gast.Name(id=name)], value=source):
            is_new = isinstance(source, (gast.BinOp, gast.UnaryOp)) or _copied(source) is not None
            made = name if is_new else ""
    return all(n == made or not _is_adjoint(code, n) or code.facts.is_number_adjoint(n) for n in loads(value))


def _zeroes(s: Node, place: Node) -> bool:
    match s:
        case gast.Assign(targets=[gast.Subscript() as target], value=gast.Constant(value=0)):
            return same(target, _elements(place))
    return False


def _elements(place: Node) -> Node:
    """A part of an array; all of it for a name."""
    whole = gast.Constant(value=..., kind=None)
    return gast.Subscript(load(place.id), whole, gast.Store()) if isinstance(place, gast.Name) else place


def _copied(source: Node) -> Node | None:
    """The part of an array that a call copies."""
    match source:
        case gast.Call(
            func=gast.Attribute(
                value=(gast.Name() | gast.Subscript(value=gast.Name())) as part, attr="copy"
            ),
            args=[],
            keywords=[],
        ):
            return part
    return None


def _stored(s: Node, value: Node) -> Node | None:
    """The statement that stores a value into the part that an addition updates; None where it is there
    already.
    """
    place = s.target
    match value:
        case _ if same(value, place):
            return None
        case gast.BinOp(left=left, op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div() as op, right=right):
            if same(left, place):
                return rebuilt(s, op=op, value=right)
    return located(gast.Assign(targets=[_elements(place)], value=value, type_comment=None), s)
