"""Hoists reads of a parameter's items to the start, where each becomes a variable with an adjoint; also those
of a container that is an attribute of a parameter.

Form: the single-assignment form, in and out. The container is not changed.

    def f(p, xs):                      def f(p, xs):
        h = np.zeros(3)                    w = p["w"]
        for x in xs:                       h = np.zeros(3)
            h_1 = p["w"]         ->        for x in xs:
            h = h_1 @ h + x                    h = w @ h + x
"""

from __future__ import annotations

import re
from collections.abc import Container, Hashable
from itertools import takewhile
from keyword import iskeyword
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.steadiness import keys_of
from ..trees.nodes import assign, constant, load, own_statements
from ..trees.program import Program
from ..trees.rebuild import Rewriter, substitute, with_body

__all__ = ["field_read", "hoist_items", "item_read"]


def hoist_items(facts: Facts) -> tuple[Program, dict[str, str]]:
    """The program with a name for each item that it reads by a literal key from a parameter, and for each new
    name an old one of the same kind.
    """
    program, hoister = facts.program, _Hoister(facts)
    parameters = [n.id for n in program.tree.args.args]
    fields = list(takewhile(lambda s: field_read(s, parameters) is not None, program.tree.body))
    body = program.tree.body[len(fields) :]
    bases = [*parameters, *(s.targets[0].id for s in fields)]
    reads: list[Any] = []
    while items := hoister.named_items(body, {base for base in bases if keys_of(facts, base)}):
        body = hoister.block(body)
        reads += [read_of(*item, name, hoister.first[item]) for item, name in items.items()]
        bases = list(items.values())  # items may be containers, too
    if not reads:
        return program, {}
    tree = with_body(program.tree, [*fields, *reads, *substitute(body, hoister.replaced)])
    new = program.with_tree(tree, names=hoister.names)
    return new, hoister.kinds


def read_of(base: str, key: Hashable, name: str, like: Any) -> Any:
    item = gast.Subscript(value=load(base), slice=constant(key), ctx=gast.Load())
    return assign(name, item, like)


def field_read(s: Any, parameters: Container[str]) -> str | None:
    """The target of a statement that reads an attribute of a parameter."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.Attribute(value=gast.Name(id=base))):
            return str(name) if base in parameters else None
    return None


def item_read(s: Any) -> tuple[str, str, Hashable] | None:
    """The target, the container and the key of a statement that reads an item by a literal key."""
    match s:
        case gast.Assign(
            targets=[gast.Name(id=target)], value=gast.Subscript(value=gast.Name(id=base), slice=index)
        ):
            match index:
                case gast.Constant(value=str() | int() as key):
                    return target, base, key
                case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() as key)):
                    return target, base, -key
    return None


class _Hoister(Rewriter):
    """The items of containers with their new names; `kinds` maps each new name to an old one of its kind."""

    def __init__(self, facts: Facts) -> None:
        self.facts, self.names = facts, facts.program.names.copy()
        self.items: dict[tuple[str, Hashable], str] = {}
        self.first: dict[tuple[str, Hashable], Any] = {}  # their first reads
        self.kinds: dict[str, str] = {}
        self.replaced: dict[str, Any] = {}

    def read(self, s: Any) -> tuple[str, tuple[str, Hashable]] | None:
        """The target and the item of a statement that reads one; positions count from the front."""
        found = item_read(s)
        if found is None:
            return None
        target, base, key = found
        keys = keys_of(self.facts, base)
        if type(key) is int and key < 0 and keys == (*range(len(keys)),):
            key += len(keys)
        return (target, (base, key)) if key in keys else None

    def named_items(self, body: list[Any], bases: set[str]) -> dict[tuple[str, Hashable], str]:
        """The items that are read of some containers, with names: the user's, or from the key."""
        targets: dict[tuple[str, Hashable], list[str]] = {}
        for s in own_statements(body):
            found = self.read(s)
            if found is not None and found[1][0] in bases:
                targets.setdefault(found[1], []).append(found[0])
                self.first.setdefault(found[1], s)
        new = {}
        for (base, key), names in targets.items():
            own = [n for n in names if not re.search(r"_\d+$", n)]
            new[base, key] = own[0] if own else self.name_of(base, key)
            if not own:
                self.kinds[new[base, key]] = names[0]
        self.items |= new
        return new

    def name_of(self, base: str, key: Hashable) -> str:
        is_word = isinstance(key, str) and key.isidentifier() and not iskeyword(key)
        return self.names.fresh(str(key) if is_word else f"{base}{key}" if type(key) is int else base)

    def statement(self, s: Any) -> list[Any]:
        found = self.read(s)
        name = None if found is None else self.items.get(found[1])
        if found is None or name is None:
            return [self.inside(s)]
        if re.search(r"_\d+$", found[0]):
            self.replaced[found[0]] = load(name)
            return []
        return [assign(found[0], load(name), s)] if found[0] != name else []
