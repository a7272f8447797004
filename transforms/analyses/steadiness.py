"""Objects that do not change while a function runs.

Form: the single-assignment form, with kinds.
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import find_nodes, load, names_read
from ..trees.program import MISSING
from .facts import Facts
from .find_overwrites import find_changes
from .operations import Call

__all__ = ["calls_unknown", "find_objects", "holds_steadily", "is_steady", "keys_of"]


def find_objects(facts: Facts) -> frozenset[str]:
    """The names that a program reads of instances of users' classes."""
    names = names_read(facts.program.tree.body)
    return frozenset(n for n in names if facts.domain.is_record(facts.kind(load(n))))


def is_steady(facts: Facts, name: str) -> bool:
    """Whether a name holds an array or a tuple that no statement changes."""
    kind = facts.kind_of_name(name)
    of_items = facts.domain.is_array(kind) or facts.domain.is_tuple(kind)
    return of_items and not facts.of(find_changes).is_changed(name)


def holds_steadily(facts: Facts, name: str) -> bool:
    """Whether a name holds a tuple, list or dict that nothing changes while the function runs."""
    domain, kind = facts.domain, facts.kind_of_name(name)
    if domain.is_list(kind) or domain.is_dict(kind):
        return not facts.of(calls_unknown) and not facts.of(find_changes).is_changed(name)
    return domain.is_any_tuple(kind)


def keys_of(facts: Facts, name: str) -> tuple[Any, ...]:
    """The keys of a differentiable container that nothing changes while the function runs."""
    kind = facts.kind_of_name(name)
    keys = facts.domain.keys_of(kind)
    if not keys or facts.domain.is_differentiable(kind) is False:
        return ()
    return () if facts.of(find_changes).is_changed(name) or facts.of(calls_unknown) else keys


def calls_unknown(facts: Facts) -> bool:
    """Whether there is a dynamic callee, other than a method of a list."""
    return any(_is_unknown(facts, call) for call in find_nodes(facts.program.tree, gast.Call))


def _is_unknown(facts: Facts, call: Any) -> bool:
    operation = facts.operation(call)
    if not isinstance(operation, Call) or operation.function is not MISSING:
        return False
    match operation.callee:
        case gast.Attribute(value=base) if not operation.keywords:
            return not facts.domain.is_list(facts.kind(base))
    return True
