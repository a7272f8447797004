"""Computes a value once that is computed several times from the same operands.

Within a block an operation on names and literals is not repeated while its result still has a name. Operands
and results are numbers, and arrays that are not changed in place: each is assigned once, newly made, and only
an operand of arithmetic.

    dB_1 = dA * 0.125                dB_1 = dA * 0.125
    B[2:] += dB_1                    B[2:] += dB_1
    dB_2 = dA * 0.125          ->    B[:-2] += dB_1
    B[:-2] += dB_2

Nor is an array multiplied by one, or a part of it copied, where it is not changed before the result is read.

    dout = 1.0 * h                   do = h * t
    do = dout * t              ->    dt = h * o
    dt = dout * o
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.find_sharing import base_of
from ..analyses.find_uses import is_pure
from ..trees.nodes import Comment, children, find_nodes, is_atom, load, names_read
from ..trees.rebuild import rebuilt
from ..trees.remember import remembered
from .code import Code, Line

__all__ = ["read_uncopied", "share_value"]

Node = Any  # gast publishes no types
Operation = tuple[Any, ...]

_ARITHMETIC = (gast.BinOp, gast.UnaryOp)


def share_value(code: Code, line: Line) -> bool:
    """Replaces a name by an earlier one of the same value, or by the array that it is the product of with
    one.
    """
    name = _assigned(line.node)
    if not name or not code.facts.may_go(name) or not _is_computed_with(code, name):
        return False
    other = _multiplied(code, line, name) or _computed_before(code, line, name)
    if not other:
        return False
    code.delete(line)
    code.put(name, load(other))
    return True


def read_uncopied(code: Code, line: Line) -> bool:
    """Reads a part of an array in place of a copy of it, or of a copy that a function may return."""
    part = _copied_part(line.node)
    if part is None or not is_pure(line.node.value, code.facts.is_pure):
        return False
    name, array, value = line.node.targets[0].id, part.value.id, line.node.value
    if not _is_computed_with(code, name) or not _is_read_before_change(code, line, name, array):
        return False
    code.uncopied.add(name)
    is_copy = isinstance(value.func, gast.Attribute)
    new = part if is_copy else rebuilt(value, args=[part, *value.args[1:]])
    code.replace(line, rebuilt(line.node, value=new))
    return True


def _copied_part(s: Node) -> Node | None:
    """The part of an array that a statement copies to a name, as in `v = x[i:].copy()` and in
    `v = f(x[i:].copy(), y)`; None of others.
    """
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.Call(func=gast.Name(), args=[value, gast.Name()])):
            pass
        case gast.Assign(targets=[gast.Name()], value=value):
            pass
        case _:
            return None
    match value:
        case gast.Call(
            func=gast.Attribute(value=gast.Subscript(value=gast.Name()) as part, attr="copy"), args=[]
        ):
            return part
    return None


def _computed_before(code: Code, line: Line, name: str) -> str:
    """The earlier name of the same operation in the block; "" if there is none."""
    value = line.node.value
    operands = names_read(value)
    if not all(code.facts.holds_number(n) or _is_value(code, n) for n in operands):
        return ""
    first = code.known.setdefault((id(line.block), *_operation(value)), line)
    if first is line:
        return ""
    same = "" if first.node is None else _assigned(first.node)
    is_same = same and _operation(first.node.value) == _operation(value)
    binding = [d for n in operands for d in code.definers.get(n, ())]
    if not is_same or any(code.is_between(first, d, line) for d in binding):
        code.known[(id(line.block), *_operation(value))] = line
        return ""
    is_inside = same != name and code.last_reader(name, line) is not None
    return same if is_inside and _is_value(code, same) else ""


def _is_value(code: Code, name: str) -> bool:
    return code.facts.may_go(name) and _is_computed_with(code, name)


def _is_computed_with(code: Code, name: str) -> bool:
    found = code.computed_with.get(name)
    if found is None:
        found = code.computed_with[name] = _find_computed_with(code, name)
    return found


def _find_computed_with(code: Code, name: str) -> bool:
    """Whether a name is assigned once, newly made by arithmetic or `copy`, and read only as an operand of
    arithmetic, by a call whose result shares nothing with it, or as the right-hand side of `+=`.
    """
    line = code.definer(name)
    if line is None or not code.is_own(name) or not (_is_made(line.node) or name in code.uncopied):
        return False
    is_negated = isinstance(line.node.value, gast.UnaryOp)
    for reader, count in code.readers.get(name, {}).items():
        s = reader.node
        parts = [part for part in children(s) if isinstance(part, gast.expr)]
        found = sum(_operands(part).count(name) for part in parts)
        if found < count:
            calls = [c for part in parts for c in find_nodes(part, gast.Call) if code.facts.makes_array(c)]
            found += sum(getattr(a, "id", None) == name for c in calls for a in c.args)
        match s:
            case gast.AugAssign(value=gast.Name(id=added), target=target) if added == name != base_of(target):
                if is_negated:
                    return False  # `x += -v` is `x -= v`
                found += 1
        if found != count:
            return False
    return True


@remembered
def _operands(expression: Node) -> tuple[str, ...]:
    """The names that are operands of arithmetic in an expression, with repetitions."""
    own: tuple[str, ...] = ()
    if isinstance(expression, gast.Name | gast.Constant):
        return own
    if isinstance(expression, _ARITHMETIC):
        own = tuple(n.id for n in children(expression) if isinstance(n, gast.Name))
    return own + tuple(name for part in children(expression) for name in _operands(part))


def _is_made(s: Node) -> bool:
    """Whether a statement assigns a new object to a name."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=value):
            return isinstance(value, _ARITHMETIC) or _copied_part(s) is not None
    return False


def _multiplied(code: Code, line: Line, name: str) -> str:
    """The array that a name is the product of with one, if that is read before the array may change; "" where
    the comment above would have no statement left.
    """
    match line.node.value:
        case gast.BinOp(left=gast.Constant(value=1.0), op=gast.Mult(), right=gast.Name(id=array)):
            before, after = code.before(line), code.after(line)
            is_alone = before is not None and isinstance(before.node, Comment)
            if is_alone and (after is None or isinstance(after.node, Comment)):
                return ""
            is_float = array not in code.uncopied and code.facts.is_float(load(array))
            if is_float and _is_read_before_change(code, line, name, array):
                return str(array)
    return ""


def _is_read_before_change(code: Code, line: Line, name: str, array: str) -> bool:
    """Whether all reads of a name are in the rest of the block, before the array may change."""
    last = code.last_reader(name, line)
    return last is not None and all(
        _leaves_unchanged(code, i.node, array) for i in code.lines_between(line, last)
    )


def _leaves_unchanged(code: Code, s: Node, array: str) -> bool:
    """Whether a statement does not change the object of a name."""
    facts = code.facts
    match s:
        case Comment():
            return True
        case gast.Assign(targets=[gast.Name(id=name)], value=value):
            return name != array and is_pure(value, facts.is_pure)
        case gast.AugAssign(target=target, value=value):
            changed = base_of(target) or array
            is_apart = facts.is_derivative(changed) and not facts.is_derivative(array)
            return is_apart and is_pure(value, facts.is_pure)
    return False


def _assigned(s: Node) -> str:
    """The name to which a statement assigns one arithmetic operation on names and literals; else ""."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.BinOp(left=left, right=right)):
            return str(name) if is_atom(left) and is_atom(right) else ""
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.UnaryOp(operand=operand)):
            return str(name) if is_atom(operand) else ""
    return ""


def _operation(value: Node) -> Operation:
    """A key that identifies an operation on names and literals."""
    operands = [value.operand] if isinstance(value, gast.UnaryOp) else [value.left, value.right]
    return (value.op.__class__, *map(_atom, operands))


def _atom(node: Node) -> Operation:
    match node:
        case gast.Name(id=name):
            return gast.Name, name
        case gast.UnaryOp(operand=operand):
            return gast.UnaryOp, *_atom(operand)
    return gast.Constant, node.value.__class__, repr(node.value)
