"""Computes a value once that is computed several times from the same operands.

Contract: a function definition in, one that does the same out. Within a block an operation on names and
literals is not done again where its result still has a name. Operands and results are numbers and arrays that
nothing changes in place: each is assigned once, made anew, and only computed with.

    dB_1 = dA * 0.125                dB_1 = dA * 0.125
    B[2:] += dB_1                    B[2:] += dB_1
    dB_2 = dA * 0.125          ->    B[:-2] += dB_1
    B[:-2] += dB_2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import gast

from ..analyses.find_sharing import base_of
from ..analyses.find_uses import Uses, find_uses, map_nested
from ..trees.nodes import blocks_of, find_nodes, is_atom, load, loads, names_read
from ..trees.rebuild import map_blocks, rebuilt, substitute

__all__ = ["share_values"]

Node = Any  # gast publishes no types
Test = Callable[[str], bool]
Operation = tuple[Any, ...]

_ARITHMETIC = (gast.BinOp, gast.UnaryOp)


def share_values(tree: Node, may_go: Test, is_number: Test) -> Node:
    """The function without repeated arithmetic; `may_go` says which names are not needed as such, `is_number`
    that a name always holds a number.
    """
    tree = map_nested(tree, lambda nested: share_values(nested, may_go, is_number))
    uses = find_uses(tree)
    if uses is None:
        return tree
    values = {n: uses.read[n] for n in _values(tree, uses) if may_go(n)}
    return rebuilt(tree, body=_block(tree.body, values, is_number))


def _values(tree: Node, uses: Uses) -> set[str]:
    """The names of values that are assigned once, made anew by arithmetic or `copy`, and only computed with:
    read as operands of arithmetic, and by `+=` as what is added.
    """
    computed: Counter[str] = Counter()
    made: set[str] = set()
    added: set[str] = set()
    negated: set[str] = set()
    for s in find_nodes(tree, gast.Assign, gast.AugAssign, gast.BinOp, gast.UnaryOp):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if _is_made(value):
                made.add(name)
                if isinstance(value, gast.UnaryOp):
                    negated.add(name)
            case gast.AugAssign(value=gast.Name(id=name), target=target) if base_of(target) != name:
                computed[name] += 1
                added.add(name)
            case gast.BinOp(left=left, right=right):
                computed.update(n.id for n in (left, right) if isinstance(n, gast.Name))
            case gast.UnaryOp(operand=gast.Name(id=name)):
                computed[name] += 1
    return {
        n
        for n in made - (negated & added)  # `x += -v` is `x -= v`
        if uses.bound[n] == 1
        and computed[n] == uses.read[n]
        and n not in uses.captured
        and n not in uses.fixed
        and n not in uses.parameters
    }


def _is_made(value: Node) -> bool:
    """Whether an expression makes a new object."""
    match value:
        case gast.Call(func=gast.Attribute(value=gast.Subscript(value=gast.Name()), attr="copy"), args=[]):
            return True
    return isinstance(value, _ARITHMETIC)


def _block(statements: list[Node], values: Mapping[str, int], is_number: Test) -> list[Node]:
    """The statements; `values` tells how often each name is read."""
    known: dict[Operation, str] = {}
    again: dict[str, Node] = {}
    result: list[Node] = []
    for k, s in enumerate(statements):
        if again:
            s = substitute(s, again)
        name = _assigned(s, lambda n: n in values or is_number(n))
        if name in values:
            found = known.setdefault(_operation(s.value), name)
            if found != name and _reads_of(name, statements[k + 1 :]) == values[name]:
                again[name] = load(found)
                continue
        if blocks_of(s) and not isinstance(s, gast.FunctionDef):
            s = map_blocks(s, lambda block: _block(block, values, is_number))
        result.append(s)
    return result


def _assigned(s: Node, is_steady: Test) -> str:
    """The name to which a statement assigns one arithmetic operation on values that stay as they are."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.BinOp(left=left, right=right) as value):
            operands = [left, right]
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.UnaryOp(operand=operand) as value):
            operands = [operand]
        case _:
            return ""
    is_simple = all(map(is_atom, operands)) and all(map(is_steady, names_read(value)))
    return str(name) if is_simple else ""


def _operation(value: Node) -> Operation:
    """What tells one operation on names and literals from another."""
    operands = [value.operand] if isinstance(value, gast.UnaryOp) else [value.left, value.right]
    return (value.op.__class__, *map(_atom, operands))


def _atom(node: Node) -> Operation:
    match node:
        case gast.Name(id=name):
            return gast.Name, name
        case gast.UnaryOp(operand=operand):
            return gast.UnaryOp, *_atom(operand)
    return gast.Constant, node.value.__class__, repr(node.value)


def _reads_of(name: str, statements: list[Node]) -> int:
    return sum(loads(s).count(name) for s in statements)
