"""Names that are as good as copies, though they stand for views."""

from __future__ import annotations

from typing import Any

import gast

from ..kinds.lattice import NUMERIC, UNKNOWN, Array
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_aliases import find_aliases
from ..transforms.analyses.find_stores import find_stores
from ..transforms.analyses.operations import Apply, Item
from ..transforms.lowering.rematerialise_views import is_open_view
from ..transforms.trees.nodes import names_read, own_statements

__all__ = ["is_read_at_once"]


def is_read_at_once(facts: Facts, name: str, value: Any) -> bool:
    """Whether a name stands for a view, or for a row or a number as only the run knows, of which nothing but
    values is read, all before anything is changed that it sees: it is as good as a copy.
    """
    stores, aliases = facts.of(find_stores), facts.of(find_aliases)
    is_undecided = facts.kind_of_name(name) in (UNKNOWN, NUMERIC) and _is_of_array(facts, value)
    if not (is_undecided or is_open_view(facts, value)) or any(name == changed for changed, _ in stores):
        return False
    users = [s for s in own_statements(facts.program.tree.body) if name in names_read(s)]
    if not all(isinstance(s, gast.Assign) and _is_fresh(facts, s.value) for s in users):
        return False
    return not any(name in aliases.others(changed, s) for changed, s in stores)


def _is_fresh(facts: Facts, value: Any) -> bool:
    operation = facts.operation(value)
    return isinstance(operation, Apply) and facts.sharing(operation) == "fresh"


def _is_of_array(facts: Facts, value: Any) -> bool:
    """Whether an expression is an item of an array."""
    match facts.operation(value):
        case Item(base=base):
            return isinstance(facts.kind(base), Array)
    return False
