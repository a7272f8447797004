"""Names the functions of methods that are read as values.

    field = world.field         ->      field = partial(World.field, world)

Form in and out: the normal form. So their calls can be inlined as those of other partial applications.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import gast

from ..kinds.class_members import member_of
from ..kinds.lattice import Record
from ..transforms.analyses.facts import Facts
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import assign, call, find_nodes, load, located
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import rewritten

__all__ = ["name_methods"]


def name_methods(facts: Facts) -> Program:
    """The program with partial applications for the methods that it reads as values, of objects of known
    classes; itself where it reads none.
    """
    program, names = facts.program, facts.program.names.copy()
    objects = Objects(program, names)

    def function_of(s: Any) -> FunctionType | None:
        """The function of the method that a statement reads; None for other statements."""
        match s:
            case gast.Assign(targets=[gast.Name()], value=gast.Attribute(value=base, attr=attr)):
                owner = facts.kind(base)
                member = member_of(owner, attr) if isinstance(owner, Record) else None
                if member is not None and member.role == "method":
                    return member.value if isinstance(member.value, FunctionType) else None
        return None

    def statement(s: Any) -> list[Any] | None:
        function = function_of(s)
        if function is None:
            return None
        applied = call(objects.name(functools.partial), load(objects.name(function)), s.value.value)
        return [assign(s.targets[0].id, located(applied, s.value), s)]

    if not any(map(function_of, find_nodes(program.tree, gast.Assign))):
        return program
    tree = rewritten(program.tree, statement)
    return program.with_tree(tree, bindings=objects.all_bindings(), names=names)
