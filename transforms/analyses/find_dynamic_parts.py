"""Names that may hold an object of dynamic kind that comes from elsewhere.

Form: the single-assignment form.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from ..trees.nodes import target_names, walk
from .facts import Facts
from .operations import Call, Pop

__all__ = ["find_dynamic_parts"]


READS = ("heap_get", "heap_number", "heap_element", "get_field", "get_item")
SAME = {"plain_number": 0, "heap_copy": 1, "heap_view": 1}  # with the position of the value


def find_dynamic_parts(facts: Facts, given: Iterable[str] = ()) -> frozenset[str]:
    """The names that may hold an item of a container, an attribute, a call's result, or an integer on one
    path, and those `given`.
    """
    program, helper = facts.program, facts.primitives.helper
    reads = [helper(name) for name in READS]
    found = {*given}
    copies: list[tuple[str, str]] = []
    for s in walk(program.tree):
        match s:
            case gast.For(target=target) | gast.Assign(targets=[gast.Tuple() as target]):
                found.update(target_names(target))
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=source)):
                copies.append((name, source))
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.Subscript() | gast.Attribute() | gast.Constant(value=int()),
            ):
                found.add(name)
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call() as made):
                function = program.resolve(made.func)
                for k in (k for same, k in SAME.items() if function is helper(same)):
                    copies += [(name, a.id) for a in made.args[k : k + 1] if isinstance(a, gast.Name)]
                if isinstance(facts.operation(made), (Call, Pop)) or any(function is f for f in reads):
                    found.add(name)
    while new := {name for name, source in copies if source in found} - found:
        found |= new
    return frozenset(found)
