"""What a program changes in place, given the kinds of its names."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import gast
import numpy as np

from ..kinds import domain
from ..kinds.lattice import UNKNOWN, Array, Dict, Kind, List, Literal, Scalar
from ..runtime import heap
from ..runtime.adjoints import add
from ..runtime.containers import dict_copy, list_copy, united
from ..runtime.mutation import repeated, times_repeated
from ..transforms.analyses.classified import Operations
from ..transforms.analyses.find_aliases import (
    OUTSIDE,
    Aliases,
    argument_of,
    both,
    contents_of,
    find_aliases,
    is_outside,
)
from ..transforms.analyses.find_effects import Calls, changing_calls
from ..transforms.analyses.find_stores import stores
from ..transforms.analyses.operations import IN_PLACE_OPERATORS, Apply
from ..transforms.errors import S2sadError, UnsupportedSyntaxError
from ..transforms.trees.helpers import merged
from ..transforms.trees.modules import named
from ..transforms.trees.nodes import (
    assigned_names,
    blocks_of,
    constant,
    find_nodes,
    load,
    own_statements,
    statements_in,
)
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import parameter_names
from .primitive_table import PRIMITIVES

__all__ = [
    "ANYTHING",
    "ELSEWHERE",
    "NONE",
    "Effect",
    "EffectAt",
    "aliases_of",
    "calls_that_change",
    "effect_of",
    "sharing_of",
]

COPIES = (
    list,
    tuple,
    dict,
    sorted,
    list_copy,
    dict_copy,
    merged,
    united,
    operator.concat,
    repeated,
    times_repeated,
)
ELSEWHERE, NONE = "", "None"


@dataclass(frozen=True)
class Effect:
    """What a call of a function may do.

    `changed` are the parameters whose arrays it changes in place, `shared` those that its result may share
    memory with; ELSEWHERE stands for anything else. `results` are the parameters whose objects its result may
    be, NONE for None and ELSEWHERE for anything else. `runs` is what a call of a derivative runs. If it
    `replaces`, objects and containers may hold other objects, containers and functions afterwards.
    """

    changed: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    replaces: bool = False
    runs: FunctionType | None = field(default=None, compare=False)
    cause: UnsupportedSyntaxError | None = field(default=None, compare=False)  # why nothing is known of it
    unknown: S2sadError | None = field(default=None, compare=False)  # of a call that may do anything

    @property
    def known_result(self) -> str | None:
        """The one parameter that the result is, or NONE; None where only the run knows the result."""
        return next(iter(self.results)) if len(self.results) == 1 and ELSEWHERE not in self.results else None


ANYTHING = Effect(frozenset({ELSEWHERE}), frozenset({ELSEWHERE}), frozenset({ELSEWHERE}), True)
# Of a call: what it may do, and the atoms that its parameters stand for.
EffectAt = Callable[[Any], tuple[Effect, Mapping[str, Any]]]

# What objects hold is changed in place nowhere: it is replaced.
HEAP_READS = (heap.heap_element, heap.heap_get, heap.heap_number)


def aliases_of(
    program: Program,
    kinds: Mapping[str, Kind],
    operations: Operations | None = None,
    makes_new: Callable[[Any], bool] = lambda call: False,
) -> Aliases:
    """Which names of the program may hold the same object; `makes_new(call)` says that the result of a call
    of a user's function shares no memory with anything.
    """

    def kind(node: Any) -> Kind:
        return domain.kind_of_atom(node, kinds, program)

    return find_aliases(
        program,
        (operations or Operations(program, PRIMITIVES, kind)).of,
        lambda name: domain.is_immutable(kinds.get(name, UNKNOWN)),
        lambda operation: sharing_of(operation, kind),
        lambda base, index: domain.is_scalar_item(kind(base), index, kind),
        lambda atom: domain.is_container(kind(atom)),
        PRIMITIVES.is_in_place,
        lambda atom: domain.item_nature(kind(atom)) == "array",
        lambda call: program.resolve(call.func) is PRIMITIVES.helper("holding"),
        makes_new,
        lambda call: program.resolve(call.func) is PRIMITIVES.helper("outer_array"),
    )


def sharing_of(operation: Apply, kind: Callable[[Any], Kind]) -> str:
    """As `PRIMITIVES.sharing`, with what kinds tell: a copy of a list of numbers shares nothing."""
    if any(operation.function is f for f in HEAP_READS):
        return "fresh"
    found: str = PRIMITIVES.sharing(operation)
    kinds = [kind(o) for o in operation.operands()]
    is_listed = any(operation.function is f for f in (list, tuple, sorted))
    if is_listed and kinds and isinstance(kinds[0], Dict):
        return "fresh"  # of the keys
    if found in ("elements", "unknown") and any(operation.function is f for f in COPIES):
        if all(domain.holds_immutables(k) or domain.is_immutable(k) for k in kinds):
            return "fresh"
        is_joined = len(kinds) > 1 and not all(isinstance(k, (List, Dict, Scalar, Literal)) for k in kinds)
        return "unknown" if is_joined else found
    if operation.function is add:  # of None and a list it is that list
        return "fresh" if all(map(domain.holds_immutables, kinds)) else found
    return "elements" if found == "fresh" and _may_join(operation.function, kinds) else found


def _may_join(function: Any, kinds: list[Kind]) -> bool:
    """Whether an operator may be given lists or dicts, for all that is known."""
    if function is operator.mul:
        return UNKNOWN in kinds and any(map(domain.is_integer, kinds))
    is_join = function is operator.add or function is operator.or_
    return is_join and all(k is UNKNOWN for k in kinds)


def calls_that_change(
    program: Program, kinds: Mapping[str, Kind], may_change: Callable[[Any], bool]
) -> Calls:
    """The calls that may change arguments, each with those that can be changed at all."""

    def kind(node: Any) -> Kind:
        return domain.kind_of_atom(node, kinds, program)

    found = [
        (s, [a for a in atoms if not domain.is_immutable(kind(a))])
        for s, atoms in changing_calls(program, PRIMITIVES, kind, may_change)
    ]
    return [(s, atoms) for s, atoms in found if atoms]


def effect_of(program: Program, kinds: Mapping[str, Kind], effect_at: EffectAt) -> Effect:
    """What a call of a function may do, given its program and what the calls in it may do."""

    def kind(node: Any) -> Kind:
        return domain.kind_of_atom(node, kinds, program)

    def may_change(call: Any) -> bool:
        return bool(effect_at(call)[0].changed)

    numbers = _numbers_named(program)
    changed: list[Any] = [load(name) for name, _ in stores(program, PRIMITIVES.is_in_place)]
    fields = [
        target.value
        for s in statements_in(program.tree.body)
        if isinstance(s, gast.Assign)
        for target in s.targets
        if isinstance(target, gast.Attribute) and not is_named(program, target.value)
    ]
    calls = calls_that_change(program, kinds, may_change)
    for s, atoms in calls:
        effect, given = effect_at(s.value)
        known = effect.changed and ELSEWHERE not in effect.changed and effect.changed <= given.keys()
        changed += [given[p] for p in effect.changed] if known else atoms
    changed = [a for a in changed if getattr(a, "id", "") not in numbers]
    found: set[str] = set()
    effects = [effect_at(c)[0] for c in find_nodes(program.tree, gast.Call)]
    if any(ELSEWHERE in effect.changed for effect in effects):
        found.add(ELSEWHERE)
    cause = next((effect.cause for effect in effects if effect.cause is not None), None)
    unknown = next((effect.unknown for effect in effects if effect.unknown is not None), None)
    result = program.tree.body[-1].value
    results = _results(program, result, effect_at, kind)
    is_number = domain.is_immutable(kind(result))
    replaces = any(e.replaces and e.changed for e in effects) or _replaces(program, calls, kind)
    if not changed and not fields and is_number:
        return Effect(frozenset(found), results=results, replaces=replaces, cause=cause, unknown=unknown)
    held = aliases_of(program, kinds, makes_new=lambda call: not effect_at(call)[0].shared).held
    for atom in [*changed, *fields]:
        roots = held[atom.id][0] if isinstance(atom, gast.Name) and atom.id in held else {OUTSIDE}
        for root in filter(is_outside, roots):
            name = argument_of(root)
            is_array = name is not None and isinstance(kinds.get(name), Array)
            found.add(name if name is not None and is_array else ELSEWHERE)
    if is_number:
        return Effect(frozenset(found), results=results, replaces=replaces, cause=cause, unknown=unknown)
    roots = both(held[result.id]) if isinstance(result, gast.Name) and result.id in held else {OUTSIDE}
    shared = {argument_of(r) or contents_of(r) or ELSEWHERE for r in filter(is_outside, roots)}
    if fields:
        shared.add(ELSEWHERE)
    return Effect(frozenset(found), frozenset(shared), results, replaces, cause=cause, unknown=unknown)


def _replaces(program: Program, calls: Calls, kind: Callable[[Any], Kind]) -> bool:
    """Whether a program itself sets anything but numbers and arrays in the place of such; `calls` are those
    of its calls that change something.
    """

    def is_plain(node: Any) -> bool:
        return domain.is_numeric(kind(node)) or domain.is_immutable(kind(node))

    if not all(is_plain(atom) for _, atoms in calls for atom in atoms):
        return True
    for s in statements_in(program.tree.body):
        match s:
            case gast.Assign(targets=targets):
                for target in targets:
                    if isinstance(target, gast.Attribute):
                        if not (is_plain(s.value) and domain.holds_number(kind(target.value), target.attr)):
                            return True
                    elif isinstance(target, gast.Subscript) and not domain.is_array(kind(target.value)):
                        return True
            case gast.AugAssign(target=gast.Subscript(value=base)) if not domain.is_array(kind(base)):
                return True
            case gast.AugAssign(target=gast.Name() as name) if not is_plain(name):
                return True
            case gast.AugAssign(target=gast.Attribute()) | gast.Delete():
                return True
            case gast.Expr(value=gast.Call(func=gast.Attribute(attr="append"))):
                return True
    return False


def _numbers_named(program: Program) -> set[str]:
    """The variables that are read from modules and classes which hold numbers there now."""
    return {
        s.targets[0].id
        for s in statements_in(program.tree.body)
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.Attribute)
        and is_named(program, s.value.value)
        and isinstance(named(program.resolve(s.value.value), s.value.attr), (int, float, complex, np.generic))
    }


def is_named(program: Program, owner: Any) -> bool:
    """Whether an object is a module or class, whose names are no arrays that others pass."""
    return isinstance(program.resolve(owner), (ModuleType, type))


def _results(
    program: Program, result: Any, effect_at: EffectAt, kind: Callable[[Any], Kind]
) -> frozenset[str]:
    """What a program may return, as `Effect.results`."""
    parameters = set(parameter_names(program.tree))
    values: dict[str, list[Any]] = {}
    for s in own_statements(program.tree.body):
        for name in assigned_names(s) if not blocks_of(s) else ():
            values.setdefault(name, []).append(s)
    found: set[str] = set()
    todo, seen = [result], set()
    while todo:
        match todo.pop():
            case gast.Constant(value=None):
                found.add(NONE)
            case gast.Name(id=name) if name in seen:
                pass
            case gast.Name(id=name) if name in parameters and name not in values:
                found.add(name)
            case gast.Name(id=name) if name in values:
                seen.add(name)
                for s in values[name]:
                    is_one = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
                    todo.append(s.value if is_one else None)
            case gast.Call(args=[first, _], func=function) if (
                program.resolve(function) in IN_PLACE_OPERATORS.values() and isinstance(kind(first), Array)
            ):
                todo.append(first)  # an array changed in place is what it was
            case gast.Call() as call:
                effect, given = effect_at(call)
                todo += [given.get(r, constant(None) if r == NONE else None) for r in effect.results]
            case _:
                found.add(ELSEWHERE)
    return frozenset(found)
