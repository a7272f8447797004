"""The effect of a function on its arguments and on outer scopes, from its program and kinds."""

from __future__ import annotations

from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

import gast
import numpy as np

from ..kinds import domain
from ..kinds.lattice import Array
from ..transforms.analyses.effects import ANYTHING, ELSEWHERE, NONE, Effect
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_aliases import (
    OUTSIDE,
    argument_of,
    both,
    contents_of,
    find_aliases,
    is_outside,
)
from ..transforms.analyses.find_effects import find_changing_calls
from ..transforms.analyses.find_stores import find_stores
from ..transforms.analyses.operations import IN_PLACE_OPERATORS, Call, starred
from ..transforms.errors import S2sadError, missing_rule
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

__all__ = ["find_effect"]


def find_effect(facts: Facts) -> Effect:
    """The effect of a call of a function, from its program and the effects of the calls in it."""
    program, kind, effect_at = facts.program, facts.kind, facts.effect_at
    numbers = _numbers_named(program)
    changed: list[Any] = [load(name) for name, _ in facts.of(find_stores)]
    fields = [
        target.value
        for s in statements_in(program.tree.body)
        if isinstance(s, gast.Assign)
        for target in s.targets
        if isinstance(target, gast.Attribute) and not is_named(program, target.value)
    ]
    calls = facts.of(find_changing_calls)
    for s, atoms in calls:
        effect, given = effect_at(s.value)
        known = effect.changed and ELSEWHERE not in effect.changed and effect.changed <= given.keys()
        changed += [given[p] for p in effect.changed] if known else atoms
    changed = [a for a in changed if getattr(a, "id", "") not in numbers]
    found: set[str] = set()
    called = find_nodes(program.tree, gast.Call)
    effects = [effect_at(c)[0] for c in called]
    if any(ELSEWHERE in effect.changed for effect in effects):
        found.add(ELSEWHERE)
    refuses = any(effect.refuses for effect in effects)
    cause = next((effect.cause for effect in effects if effect.cause is not None), None)
    unknown = next(filter(None, (_unknown(facts, c, e) for c, e in zip(called, effects, strict=True))), None)
    result = program.tree.body[-1].value
    results = _results(facts, result)
    is_number = domain.is_immutable(kind(result))
    replaces = any(e.replaces and e.changed for e in effects) or _replaces(facts)
    effect = Effect(frozenset(found), frozenset(), results, replaces, refuses, cause=cause, unknown=unknown)
    if not changed and not fields and is_number:
        return effect
    held = facts.of(find_aliases).held
    for atom in [*changed, *fields]:
        roots = held[atom.id][0] if isinstance(atom, gast.Name) and atom.id in held else {OUTSIDE}
        for root in filter(is_outside, roots):
            name = argument_of(root)
            is_array = name is not None and isinstance(facts.kinds.get(name), Array)
            found.add(name if name is not None and is_array else ELSEWHERE)
    if is_number:
        return replace(effect, changed=frozenset(found))
    roots = both(held[result.id]) if isinstance(result, gast.Name) and result.id in held else {OUTSIDE}
    shared = {argument_of(r) or contents_of(r) or ELSEWHERE for r in filter(is_outside, roots)}
    if fields:
        shared.add(ELSEWHERE)
    return replace(effect, changed=frozenset(found), shared=frozenset(shared))


def _unknown(facts: Facts, call: Any, effect: Effect) -> S2sadError | None:
    """The refusal of a call with unknown effect, or the one that the effect of its callee has; None without.
    """
    operation = facts.operation(call)
    if effect is not ANYTHING or not isinstance(operation, Call) or starred(operation):
        return effect.unknown
    if isinstance(function := operation.function, (FunctionType, type)):
        return effect.unknown
    return missing_rule(function, PRIMITIVES.refusal(function), facts.program.where(call))


def _replaces(facts: Facts) -> bool:
    """Whether a program stores anything but numbers and arrays in place of numbers and arrays."""
    program, kind = facts.program, facts.kind

    def is_plain(node: Any) -> bool:
        return domain.is_numeric(kind(node)) or domain.is_immutable(kind(node))

    if not all(is_plain(atom) for _, atoms in facts.of(find_changing_calls) for atom in atoms):
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
    """The local names bound to attributes of modules and classes that are numbers now."""
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
    """Whether an expression is a module or class: a store to its attributes changes no argument."""
    return isinstance(program.resolve(owner), (ModuleType, type))


def _results(facts: Facts, result: Any) -> frozenset[str]:
    """The value of `Effect.results`: the parameters that a program may return, NONE or ELSEWHERE."""
    program, effect_at, kind = facts.program, facts.effect_at, facts.kind
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
                todo.append(first)  # an in-place operator returns the same array
            case gast.Call() as call:
                effect, given = effect_at(call)
                todo += [given.get(r, constant(None) if r == NONE else None) for r in effect.results]
            case _:
                found.add(ELSEWHERE)
    return frozenset(found)
