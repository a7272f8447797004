"""Puts a check in front of a function: the arguments that it writes to share no memory with others."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from ..analysis.primitive_table import PRIMITIVES
from ..kinds import domain
from ..runtime.reachable_arrays import outside_of
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_overwrites import is_free_data
from ..transforms.analyses.find_shadowed import find_shadowed
from ..transforms.analyses.find_stores import find_stores
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import call, load, located, names_read, tuple_of
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import parameter_names, rebuilt

__all__ = ["guard_overlaps"]


def guard_overlaps(facts: Facts) -> Program:
    """The program with the check as its first statement, where a written argument may have an alias."""
    written = facts.of(find_shadowed).written
    program = facts.program
    if not written:
        return program
    read = names_read(program.tree.body)
    given = parameter_names(program.tree)
    others = [n for n in given if n not in written and _may_be_shared(facts, n, read)]
    outside = {n for n in read if n not in program.bindings and is_free_data(facts, n)} - {*written}
    seen = outside_of(program.resolve(load(n)) for n in read if n not in program.locals)
    contents = any(not domain.is_array(facts.kind(load(n))) for n in written)
    if len(written) + len(others) + len(outside) + bool(seen) < 2 and not contents:
        return program
    names = program.names.copy()
    objects = Objects(program, names)
    stored = [facts.kind(load(n)) for n, _ in facts.of(find_stores)]
    helper = "refuse_overlap" if all(map(domain.is_array, stored)) else "refuse_held_twice"
    guard = objects.name(PRIMITIVES.helper(helper))
    rest = [*others, *sorted(outside)]
    if seen:
        rest.append(objects.name(seen, "outside"))
    check = call(guard, tuple_of(map(load, written)), tuple_of(map(load, rest)))
    first = located(gast.Expr(value=check), program.tree.body[0])
    tree = rebuilt(program.tree, body=[first, *program.tree.body])
    return program.with_tree(tree, names=names, bindings=objects.all_bindings())


def _may_be_shared(facts: Facts, name: str, read: Iterable[str]) -> bool:
    return name in read and not domain.is_immutable(facts.kind_of_name(name))
