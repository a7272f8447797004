"""Names whose values are surely numbers or arrays, where they are active: results of differentiated functions
of arrays, of which each operand is known or checked, and parts of such results.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import gast

from ..trees.nodes import bound_here, statements_in
from .facts import Facts
from .find_active import find_active, loop_elements
from .operations import Alias, Apply, Call, Item

__all__ = ["find_computed"]


def find_computed(facts: Facts, wrt: tuple[str, ...], checked: bool) -> frozenset[str]:
    """These names; with `checked` the parameters `wrt` are among them."""
    active = facts.of(find_active, wrt)
    found = {n for n in active if n in wrt and checked}
    made = _definitions(facts)
    found |= {n for n in active if n in made}

    def is_computed(source: Any) -> bool:
        match source:
            case gast.Name(id=name):
                return name in found or not facts.domain.may_be_other_array(facts.kind(source))
            case gast.Constant() | gast.UnaryOp(operand=gast.Constant()):
                return True
        match facts.operation(source) if isinstance(source, gast.AST) else None:
            case Apply(function=function) as made if facts.primitives.computes(function):
                operands = list(made.operands())  # checked where one of them is active
                is_active = any(getattr(o, "id", None) in active for o in operands)
                return is_active or (bool(operands) and all(map(is_computed, operands)))
            case Call(function=function) if _is_itself(facts, function):
                return is_computed(facts.program.tree.body[-1].value)
            case Item(base=part) | Alias(source=part) if part is not source:
                return is_computed(part)
        return False

    while True:
        lost = {n for n in found & made.keys() if not all(map(is_computed, made[n]))}
        if not lost:
            return frozenset(found)
        found -= lost


def _is_itself(facts: Facts, function: Any) -> bool:
    """Whether a call is of the function that the program is."""
    code, program = getattr(function, "__code__", None), facts.program
    return code is not None and (code.co_filename, code.co_name, code.co_firstlineno) == (
        program.filename, program.tree.name, program.tree.lineno
    )


def _definitions(facts: Facts) -> dict[str, list[Any]]:
    """What each name is assigned: an expression, or None for what nothing is known of."""
    found: dict[str, list[Any]] = defaultdict(list)
    for s in statements_in(facts.program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                found[name].append(value)
            case gast.Assign(targets=[gast.Tuple(elts=elts)], value=value):
                for target in elts:
                    found[target.id].append(value)
            case gast.For():
                sources = {t.id: source for t, source in loop_elements(s) if isinstance(t, gast.Name)}
                for name in bound_here(s):
                    found[name].append(sources.get(name))
            case _:
                for name in bound_here(s):
                    found[name].append(None)
    return found
