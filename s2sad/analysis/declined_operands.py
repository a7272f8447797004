"""Whether the method of an operator may decline its operands, by returning `NotImplemented`.

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented               # not for a Vector
        return Vector(self.x + other.x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import gast

from ..kinds.decided_tests import truth_kind
from ..kinds.lattice import Kind, Literal, Tuple
from ..kinds.queries import truth_of
from ..source.read import read_source
from ..transforms.errors import S2sadError
from ..transforms.trees.nodes import assigned_names, walk
from ..transforms.trees.program import MISSING
from ..transforms.trees.rebuild import parameter_names

__all__ = ["may_decline"]

NAME = repr(NotImplemented)
Truth = Callable[[Any], bool | None]


def may_decline(function: FunctionType, kinds: Sequence[Kind]) -> bool:
    """Whether a method may return `NotImplemented` for arguments of these kinds."""
    if NAME not in function.__code__.co_names:
        return False
    try:
        source = read_source(function)
    except S2sadError:
        return True
    body = source.tree.body
    changed = set(assigned_names(body))
    given = dict(zip(parameter_names(source.tree), kinds, strict=False))
    given = {name: kind for name, kind in given.items() if name not in changed}

    def value(node: Any) -> Any:
        match node:
            case gast.Name(id=name) if name not in given and name not in changed:
                return source.scope.lookup(name)
            case gast.Attribute(value=base, attr=attr) if (owner := value(base)) is not MISSING:
                return getattr(owner, attr, MISSING)
            case gast.Tuple(elts=elts):
                items = tuple(map(value, elts))
                return MISSING if any(item is MISSING for item in items) else items
        return MISSING

    def truth(test: Any) -> bool | None:
        match test:
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                found = truth(operand)
                return None if found is None else not found
            case gast.BoolOp(op=op, values=values):
                parts, decides = [truth(v) for v in values], isinstance(op, gast.Or)
                return decides if decides in parts else None if None in parts else not decides
            case gast.Call(func=func, args=[gast.Name(id=name), cls]) if (
                name in given and value(func) is isinstance and value(cls) is not MISSING
            ):
                classes = value(cls)
                is_tuple = isinstance(classes, tuple)
                asked = Tuple(tuple(map(Literal, classes))) if is_tuple else Literal(classes)
                kind = truth_kind(isinstance, (given[name], asked))
                return None if kind is None else truth_of(kind)
        return None

    return "declines" in _ends(body, truth)


def _ends(body: list[Any], truth: Truth) -> set[str]:
    """How a block may end: it "declines", "returns" something else or raises, or "goes on"."""
    ends: set[str] = set()
    for s in body:
        match s:
            case gast.Return() | gast.Raise():
                return ends | {"declines" if _names_it(s) else "returns"}
            case gast.If(test=test, body=first, orelse=other):
                taken = truth(test)
                arms = [first] * (taken is not False) + [other] * (taken is not True)
                found = set[str]().union(*(_ends(arm, truth) for arm in arms))
                ends |= found - {"goes on"}
                if "goes on" not in found:
                    return ends
            case _ if _names_it(s):
                ends.add("declines")
    return ends | {"goes on"}


def _names_it(node: Any) -> bool:
    return any(isinstance(n, gast.Name) and n.id == NAME for n in walk(node))
