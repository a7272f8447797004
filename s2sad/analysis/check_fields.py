"""Refuses stores of active values to attributes that are not followed.

Form: the single-assignment form. Attributes that `promote_fields` made variables are followed; into any other
one, only an inactive value may be stored.
"""

from __future__ import annotations

from types import ModuleType

import gast

from ..kinds import domain
from ..transforms.analyses.facts import Facts
from ..transforms.trees.modules import Variable
from ..transforms.trees.nodes import own_statements, walk
from .object_facts import is_unseen
from .primitive_table import PRIMITIVES

__all__ = ["check_fields", "check_iteration"]


def check_fields(facts: Facts, active: frozenset[str], inside: bool) -> None:
    """Raises UnsupportedSyntaxError for a store to an attribute that may be active; `inside` says that
    another derivative calls the function, and does not see its stores.
    """
    program = facts.program
    given = {n.id for n in walk(program.tree.args) if isinstance(n, gast.Name)}
    for s in own_statements(program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Attribute(value=gast.Name(id=name), attr=attr)], value=value):
                origin = program.origins.get(name, name)
                followed = (origin, attr) in program.effects
                carries = name in active or getattr(value, "id", None) in active
                followed = followed or (carries and is_unseen(facts, name, attr))
                if inside and followed and (origin in given or (origin, attr) not in program.effects):
                    program.refuse(
                        s,
                        f"`{attr}` of an argument is set in a function that another derivative calls",
                        "the caller sees the change, and following it through this call is not supported",
                        "return the new value, and set the attribute where the function is called",
                    )
                owner = program.resolve(s.targets[0].value)
                if not followed and carries and isinstance(owner, ModuleType):
                    around = f"the variable `{owner.__name__}` around the function"
                    place = around if isinstance(owner, Variable) else f"the global `{attr}`"
                    program.refuse(
                        s,
                        f"a value that carries a derivative, assigned to {place}",
                        "the variable is read outside of the function",
                        "return the value, and assign it where the function is called",
                    )
                if not followed and carries and _varies(facts, name, attr):
                    program.refuse(s, *_held(attr))
            case gast.Assign(
                targets=[gast.Attribute(value=gast.Attribute() as base, attr=attr)], value=gast.Name(id=value)
            ) if value in active and not isinstance(program.resolve(base), (ModuleType, type)):
                program.refuse(s, *_held(attr))  # of an object that a module or class holds


def _held(attr: str) -> tuple[str, str, str]:
    return (
        f"an assignment to the attribute `{attr}` of an object that others may hold",
        "the change would be seen there, and following it is not supported",
        "make a new object, or keep the value in a local name",
    )


def _varies(facts: Facts, name: str, attr: str) -> bool:
    """Whether an attribute of the object of a name may be active."""
    held = domain.attribute_kind(facts.kind_of_name(name), attr)
    return domain.is_differentiable(held) is not False


def check_iteration(facts: Facts, active: frozenset[str]) -> None:
    """Raises UnsupportedSyntaxError for a loop over an active object, or an unpacking of one: it has an
    iterator of its own.
    """
    for s in own_statements(facts.program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Tuple()], value=gast.Name() as value):
                sources = [value]
            case gast.For(iter=gast.Name() as value):
                sources = [value]
            case gast.For(iter=gast.Call(args=args)):
                sources = [a for a in args if isinstance(a, gast.Name)]
            case _:
                continue
        if any(source.id in active and PRIMITIVES.is_object(facts.kind(source)) for source in sources):
            facts.program.refuse(
                s,
                "an object that carries a derivative and is iterated over",
                "the iterator of the object is not differentiated",
                "read its attributes by name, or give it a method that returns a list",
            )
