"""Hoists repeated reads of an object's attribute.

Form: the single-assignment form. An attribute that is read in a loop, or that is active and read twice, gets
a name where its object is bound: `w = model.w`. So the loop's trace does not hold it, and its adjoint is a
variable's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import gast

from ..analyses.facts import Facts
from ..trees.nodes import (
    assign,
    assigned_names,
    attribute,
    bound_here,
    load,
    own_statements,
    places_of,
    statements_in,
    target_names,
    walk,
)
from ..trees.program import Program
from ..trees.rebuild import Rewriter, rebuilt, substitute

__all__ = ["hoist_fields"]


@dataclass
class _Read:
    """The reads of one attribute: how many, and whether one is in a loop that its object is not bound in."""

    count: int = 0
    repeated: bool = False
    name: str = ""


def hoist_fields(facts: Facts) -> Program:
    """The program with names for the attributes that it reads often, if they exist and stay the same while
    their object is bound.
    """
    program, primitives, domain = facts.program, facts.primitives, facts.domain

    def is_fixed(node: Any) -> bool:
        owner = facts.kind(node.value)
        member = primitives.member(owner, node.attr) if domain.is_record(owner) else None
        return member is not None and member.role in ("field", "constant")

    def varies(node: Any) -> bool:
        held = domain.attribute_kind(facts.kind(node.value), node.attr)
        return domain.is_differentiable(held) is not False

    stored = {n.attr for n in walk(program.tree) if _is_store(n)}
    bound = _bound_once(program)
    reads: dict[tuple[str, str], _Read] = {}

    places = places_of(program.tree)
    for s in own_statements(program.tree.body):
        match s:
            case gast.Assign(value=gast.Attribute(value=gast.Name(id=base), attr=attr) as node) if (
                base in bound and attr not in stored and is_fixed(node)
            ):
                read = reads.setdefault((base, attr), _Read())
                read.count += 1 + varies(node)
                read.repeated |= places[id(s)].loops != bound[base]
    wanted = {key: read for key, read in reads.items() if read.repeated or read.count > 2}
    if not wanted:
        return program
    names = program.names.copy()
    for (_, attr), read in wanted.items():
        read.name = names.fresh(attr)
    hoister = _Hoister(wanted, frozenset(bound))
    tree = hoister.function(program.tree)
    tree = rebuilt(tree, body=substitute(tree.body, hoister.replaced))
    return program.with_tree(
        tree, names=names
    )


def _is_store(node: Any) -> bool:
    return isinstance(node, gast.Attribute) and isinstance(node.ctx, gast.Store)


def _bound_once(program: Program) -> dict[str, tuple[Any, ...]]:
    """The names with one binding, each with the loops around it; a loop's target counts as inside the
    loop.
    """
    found: dict[str, tuple[Any, ...]] = {}
    found.update((n.id, ()) for n in walk(program.tree.args) if isinstance(n, gast.Name))
    count = Counter(found.keys())

    places = places_of(program.tree)
    for s in own_statements(program.tree.body):
        if isinstance(s, (gast.Assign, gast.For)):
            loops = places[id(s)].loops
            for name in bound_here(s):
                found[name] = (*loops, s) if isinstance(s, gast.For) else loops
                count[name] += 1
    return {name: loops for name, loops in found.items() if count[name] == 1}


class _Hoister(Rewriter):
    def __init__(self, wanted: dict[tuple[str, str], _Read], bound: frozenset[str]) -> None:
        self.wanted, self.bound = wanted, bound
        self.replaced: dict[str, Any] = {}  # the old names of attributes

    def function(self, tree: Any) -> Any:
        parameters = [n.id for n in walk(tree.args) if isinstance(n, gast.Name)]
        first = next(iter(statements_in(tree.body)))
        return rebuilt(tree, body=[*self.reads_of(parameters, first), *self.block(tree.body)])

    def reads_of(self, names: list[str], like: Any) -> list[Any]:
        return [
            assign(read.name, attribute(load(base), attr), like)
            for (base, attr), read in self.wanted.items()
            if base in names
        ]

    def statement(self, s: Any) -> list[Any]:
        match s:
            case gast.Assign(
                targets=[gast.Name(id=target)], value=gast.Attribute(value=gast.Name(id=base), attr=attr)
            ) if (base, attr) in self.wanted:
                name, reads = self.wanted[base, attr].name, self.reads_of([target], s)
                if target in self.bound:
                    self.replaced[target] = load(name)
                    return reads
                return [assign(target, load(name), s), *reads]
            case gast.Assign():
                return [s, *self.reads_of(assigned_names(s), s)]
            case gast.For():
                new = self.inside(s)
                return [rebuilt(new, body=[*self.reads_of(target_names(s.target), s), *new.body])]
        return [self.inside(s)]
