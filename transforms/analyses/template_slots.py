"""The differentiable parameters of a rule's template, and the number of its results."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import gast

from ..trees.nodes import walk
from .operations import Apply
from .primitive_table import Rule, Template

__all__ = [
    "array_operands_of",
    "array_slots",
    "carrying_operands",
    "differentiable_slots",
    "results_of",
    "uncovered_argument",
]


@lru_cache(maxsize=4096)
def differentiable_slots(template: Template) -> frozenset[int]:
    """The parameters of a template that get a gradient; the others are options or give only their shape."""
    found: set[int] = set()
    for statement in template.body:
        for n in walk(statement):
            if isinstance(n, gast.Return):
                elements = n.value.elts if isinstance(n.value, gast.Tuple) else [n.value]
                found |= {
                    k
                    for k, e in enumerate(elements)
                    if not (isinstance(e, gast.Constant) and e.value is None)
                }
    return frozenset(found)


@lru_cache(maxsize=4096)
def results_of(template: Template) -> int | None:
    """The number of tangents in the tuple that a forward template returns; None where it returns no tuple."""
    returned = [n.value for s in template.body for n in walk(s) if isinstance(n, gast.Return)]
    counts = {len(v.elts) if isinstance(v, gast.Tuple) else None for v in returned}
    return counts.pop() if len(counts) == 1 else None


def uncovered_argument(operation: Apply, template: Template) -> str | None:
    """The first argument of a call that a template has no parameter for, in words; None without any."""
    if template.vararg is None and len(operation.args) > template.positional:
        return f"positional argument {template.positional + 1}"
    taken = {*template.parameters[: min(len(operation.args), template.positional)]}
    for name, _ in operation.keywords:
        if name in taken or (name not in template.parameters and template.kwarg is None):
            return f"argument `{name}`"
    return None


def carrying_operands(operation: Apply, rule: Rule) -> list[Any]:
    """The operands of a call that a derivative may flow through."""
    template = rule.template
    slots = _carrying_slots(rule)
    names = template.parameters
    by_position = [*names[: template.positional], *[""] * len(operation.args)]
    given = [(by_position[k], k, min(k, template.positional), a) for k, a in enumerate(operation.args)]
    for name, a in operation.keywords:
        k = names.index(name) if name in names else template.gradients
        given.append((name, k, k, a))
    return [
        a
        for name, k, slot, a in given
        if (slot in slots or k >= template.gradients) and name not in rule.inert
    ]


def _carrying_slots(rule: Rule) -> frozenset[int]:
    """The parameters that a rule has derivatives for, or refuses derivatives for."""
    names = rule.template.parameters
    return differentiable_slots(rule.template) | {k for k, name in enumerate(names) if name in rule.refused}


@lru_cache(maxsize=4096)
def array_slots(rule: Rule) -> frozenset[int]:
    """The parameters of a function on arrays for which lists of numbers are arrays: the differentiable ones,
    unless the rule handles lists itself.
    """
    template = rule.template
    named = template.parameters if template.vararg is None else template.parameters[: template.positional]
    handled = {k for k, name in enumerate(named) if name in rule.lists | rule.inert}
    if template.vararg in rule.lists:
        handled.add(template.positional)
    return _carrying_slots(rule) - handled


def array_operands_of(operation: Apply, rule: Rule) -> list[Any]:
    """The operands of a call of a function on arrays for which lists of numbers are arrays."""
    template, slots = rule.template, array_slots(rule)
    given = [(min(k, template.positional), a) for k, a in enumerate(operation.args)]
    names = template.parameters
    given += [(names.index(name), a) for name, a in operation.keywords if name in names]
    return [a for slot, a in given if slot in slots]
