"""The residuals that may be overwritten before the reverse sweep reads them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any

import gast

from ..trees.nodes import (
    assigned_names,
    bound_counts,
    children,
    find_nodes,
    header_of,
    load,
    names_read,
    own_statements,
    places_of,
)
from ..trees.program import MISSING
from ..trees.statements import Place
from .facts import Facts
from .find_aliases import ANYTHING, NOTHING, Aliases, both, find_aliases
from .find_effects import changes_elsewhere, find_changes_by_name
from .find_overlaps import Overlaps
from .find_stores import Stores
from .liveness import live_before
from .operations import is_pop

__all__ = ["SHAPE_ATTRIBUTES", "Changes", "find_changes", "is_free_data", "outer_arrays"]

ObjectOf = Callable[[Any], Any]

# The attributes that depend only on the shape and dtype of an array.
SHAPE_ATTRIBUTES = frozenset({"shape", "size", "ndim", "dtype"})


def find_changes(facts: Facts, active: frozenset[str] = frozenset(), outlives: bool = False) -> Changes:
    """The changes in place, given the active names: a dynamic call that is differentiated is refused when it
    changes an argument. If the reverse sweep `outlives` the call, arrays from outside that the function
    stores into may be changed by another call.
    """
    elsewhere = changes_elsewhere(facts, active)
    if outlives:
        elsewhere += [(name, facts.program.tree.body[-1]) for name in outer_arrays(facts)]
    return Changes(facts, elsewhere)


# Helpers that find the adjoint of what an object, their second argument, holds, by its identity.
OF_OBJECTS = (
    "cleared",
    "closed",
    "field_alone",
    "field_at",
    "item_alone",
    "item_at",
    "opened",
    "part_alone",
    "part_at",
    "without_field",
    "without_item",
    "without_part",
)


class Changes:
    """The changes in place in a program; `elsewhere` are further statements that may change the object of a
    name, or an object outside ("").
    """

    def __init__(self, facts: Facts, elsewhere: Stores) -> None:
        self._facts, self._program = facts, facts.program
        self._overlaps = Overlaps(facts)
        self._stores = facts.of(find_changes_by_name) + elsewhere

    @cached_property
    def _of_objects(self) -> list[Any]:
        return [self._facts.primitives.helper(name) for name in OF_OBJECTS]

    @property
    def aliases(self) -> Aliases:
        return self._facts.of(find_aliases)

    def _keeps_shape(self, name: str) -> bool:
        """Whether no change alters the shape of a name's object, as with arrays."""
        return self._facts.domain.is_numeric(self._facts.kind_of_name(name))

    @property
    def _places(self) -> dict[int, Place]:
        return places_of(self._program.tree)

    def _excludes(self, a: Any, b: Any) -> bool:
        """Whether two statements stand in different arms of a branch, so that one run takes only one of
        them.
        """
        places = self._places
        arms = places[id(b)].arms
        return any(arms.get(branch, arm) != arm for branch, arm in places[id(a)].arms.items())

    @cached_property
    def _loops(self) -> dict[int, tuple[frozenset[str], frozenset[str]]]:
        """For each loop the names that its body assigns, and those of them that a later iteration reads."""
        found = {}
        for s in find_nodes(self._program.tree, gast.For, gast.While):
            assigned = frozenset(assigned_names(s.body))
            found[id(s)] = assigned, assigned & live_before(s.body, frozenset(), frozenset())[0]
        return found

    def _shared(self, name: str, changed: str) -> frozenset[str]:
        """The common roots of the object of `changed` and of `name`'s object or its contents."""
        return self._held(name) & self.aliases.held.get(changed, ANYTHING)[0]

    def _held(self, name: str) -> frozenset[str]:
        """The roots of a name's object and of its contents."""
        held = self.aliases.held.get(name)
        return both(held or (ANYTHING if is_free_data(self._facts, name) else NOTHING))

    def _returns(self, name: str, changed: str, loop: int) -> bool:
        """Whether an iteration may change, as `changed`, an object that an earlier one held as `name`."""
        held, shared = self.aliases.held, self._shared(name, changed)
        made, carried = self._loops[loop]
        return not shared <= made or any(both(held.get(c, NOTHING)) & shared for c in carried)

    def is_changed(self, name: str) -> bool:
        """Whether any statement changes an object that a name holds."""
        return bool(self._stores) and bool(self._held(name) & self._changed)

    def is_changed_in(self, loop: Any, name: str) -> bool:
        """Whether a statement in a loop changes an object that a name holds."""
        inside = {id(s) for s in own_statements(loop.body)}
        return any(id(s) in inside and self._shared(name, changed) for changed, s in self._stores)

    @cached_property
    def _changed(self) -> frozenset[str]:
        """The roots of all objects that are changed."""
        held = self.aliases.held
        return frozenset().union(*(held.get(changed, ANYTHING)[0] for changed, _ in self._stores))

    def may_grow(self, name: str) -> bool:
        """Whether the number of items of a name's object may change."""
        return not self._keeps_shape(name) and self.is_changed(name)

    def is_change(self, statement: Any) -> bool:
        """Whether a statement changes an object in place."""
        return any(s is statement for _, s in self._stores)

    def may_be_overwritten(self, statement: Any, name: Any) -> bool:
        """Whether a later statement may change the object that a name holds at a statement."""
        return self._is_changed_after(statement, name, self._stores)

    def _is_changed_after(self, statement: Any, name: Any, stores: Stores) -> bool:
        if not stores or not isinstance(name, gast.Name):
            return False
        if stores is self._stores and not self._held(name.id) & self._changed:
            return False
        place = self._places[id(statement)]
        view = self._views.get(name.id)
        for changed, store in stores:
            if self._shared(name.id, changed):
                if view is not None and not self._overlaps.may_hit(view, statement, store):
                    continue
                made = self.aliases.recency.made(changed, store)
                if made is not None and name.id not in made.holding:
                    continue
                where = self._places.get(id(store))
                if where is None:  # in a nested function, which may be called after it
                    return True
                if where.number > place.number and not self._excludes(statement, store):
                    return True
                again = [id(loop) for loop in place.loops if loop in where.loops]
                if any(self._returns(name.id, changed, k) for k in again if made is None or k in made.inside):
                    return True
        return False

    @cached_property
    def _functions(self) -> set[str]:
        tree = self._program.tree
        return {f.name for f in find_nodes(tree, gast.FunctionDef) if f is not tree}

    def functions_overwritten(self, statement: Any, code: list[Any], object_of: ObjectOf) -> list[str]:
        """The nested functions among a primitive's arguments that its reverse may call, and whose captures
        may be changed after it, attributes included. `object_of` resolves names in the code.
        """
        value = getattr(statement, "value", None)
        if not self._functions or not isinstance(value, gast.Call):
            return []
        values: dict[str, None] = {}
        for part in code:
            self._note_values_read(part, values, object_of)
        held, given = self.aliases.held, names_read([*value.args, *(k.value for k in value.keywords)])
        read = [n for n in given if n in values and held.get(n, NOTHING)[0] & self._functions]
        if not read:
            return []
        stores = self._stores + [
            (t.value.id, s)
            for s in find_nodes(self._program.tree, gast.Assign)
            for t in s.targets
            if isinstance(t, gast.Attribute) and isinstance(t.value, gast.Name)
        ]
        return [n for n in read if self._is_changed_after(statement, load(n), stores)]

    @cached_property
    def _views(self) -> dict[str, Any]:
        """The names whose only value is a subscript, with that subscript."""
        assigned = bound_counts(self._program.tree)
        return {
            s.targets[0].id: s.value
            for s in find_nodes(self._program.tree, gast.Assign)
            if isinstance(s.targets[0], gast.Name)
            and isinstance(s.value, gast.Subscript)
            and assigned[s.targets[0].id] == 1
        }

    def is_final(self, statement: Any, place: Any) -> bool:
        """Whether no later statement changes the part of the array that a subscript selects at a
        statement.
        """
        if not self._stores:
            return True
        return all(
            not self._overlaps.may_hit(place, statement, store)
            for changed, store in self._stores
            if self._shared(place.value.id, changed)
        )

    def is_read_before(self, name: str, statement: Any) -> bool:
        """Whether the object changed at a statement is read before it, other than by changes of the same
        name.
        """
        place = self._places[id(statement)]
        changing = {
            id(s)
            for changed, s in self._stores
            if changed == name and not is_pop(getattr(s, "value", None))
        }
        for s in own_statements(self._program.tree.body):
            if id(s) not in changing and name in names_read(header_of(s)):
                where = self._places[id(s)]
                if where.number < place.number or set(place.loops) & set(where.loops):
                    return True
        return False

    def overwritten(self, statement: Any, code: list[Any], object_of: ObjectOf) -> list[str]:
        """The names whose values the reverse code of a statement reads and that may be overwritten after it;
        `object_of` resolves names in the code.
        """
        if not self._stores or not code:
            return []
        read: dict[str, None] = {}
        for part in code:
            self._note_values_read(part, read, object_of)
        return [
            n
            for n in read
            if (n in self._program.locals or is_free_data(self._facts, n))
            and self.may_be_overwritten(statement, load(n))
        ]

    def _note_values_read(self, node: Any, found: dict[str, None], object_of: ObjectOf) -> None:
        """Notes the names whose values, or shapes for containers, a tree reads."""
        if isinstance(node, gast.Name):
            if isinstance(node.ctx, gast.Load):
                found[node.id] = None
            return
        spared: list[Any] = []
        if isinstance(node, gast.Attribute) and node.attr in SHAPE_ATTRIBUTES:
            spared = [node.value]
        elif isinstance(node, gast.Call):
            function = object_of(node.func)
            places = self._facts.primitives.shape_only(function)
            spared = [node.args[k] for k in places if k < len(node.args)]
            primitives = self._facts.primitives
            asking = primitives.helper("adjoint_of"), primitives.array_function("may_share_memory")
            if any(function is f for f in asking):  # these read the object's identity
                spared = list(node.args)
            elif any(function is f for f in self._of_objects):
                for child in (node.args[0], *node.args[2:]):
                    self._note_values_read(child, found, object_of)
                return
        spared = [n for n in spared if not isinstance(n, gast.Name) or self._keeps_shape(n.id)]
        for child in children(node):
            if not any(child is n for n in spared):
                self._note_values_read(child, found, object_of)


def is_free_data(facts: Facts, name: str) -> bool:
    """Whether a name is global and holds an object that can be changed."""
    if name in facts.program.locals:
        return False
    value = facts.program.resolve(load(name))
    if value is MISSING or callable(value) or isinstance(value, ModuleType):
        return False
    return not facts.domain.is_immutable(facts.kind(load(name)))


def outer_arrays(facts: Facts) -> list[str]:
    """The names of global arrays."""
    mark = facts.primitives.helper("outer_array")
    if not any(value is mark for value in facts.program.bindings.values()):
        return []
    assigned = find_nodes(facts.program.tree, gast.Assign)
    return [s.targets[0].id for s in assigned if facts.is_call_of(s.value, "outer_array")]
