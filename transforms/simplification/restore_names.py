"""Gives generated code the names that a person would have used: the user's own, and few numbers.

Contract: a function definition in, the same with other local names out. The remaining versions of a variable
take its name, then `x_2`, `x_3`; temporaries, and their versions, are numbered from 1, in order of
appearance. Parameters and captured names stay.
"""

from __future__ import annotations

import re
from collections.abc import Set
from keyword import iskeyword
from typing import Any

import gast

from ..trees.nodes import load, walk
from ..trees.rebuild import rebuilt
from .facts import GeneratedFacts
from .interference import renamed

__all__ = ["restore_names"]

_NUMBERED = re.compile(r"^(.*?)_(\d+)$")


def restore_names(tree: Any, facts: GeneratedFacts) -> Any:
    """The function with its local names restored; none is a name of the scope."""
    origins, reserved, fixed = facts.origins, facts.reserved, facts.captured | facts.scope
    order = _names_in_order(tree)
    bound = {n for n, stored in order.items() if stored}
    movable = [
        n
        for n in order
        if n in bound and n not in fixed and (n in origins or (facts.is_temporary(n) and _NUMBERED.match(n)))
    ]
    taken = set(order) - set(movable)
    mapping: dict[str, Any] = {}
    left: dict[tuple[str, bool], Any] = {}  # names not given to another yet
    for name in movable:
        variable = origins.get(name, name)
        match = _NUMBERED.match(variable)
        key = (variable, True) if match is None else (match[1], False)
        candidates = left.get(key)
        if candidates is None:
            candidates = _versions(variable, reserved) if match is None else _numbers(match[1], 1)
            left[key] = candidates
        # The adjoint of `el` must not be called `del`.
        new = next(c for c in candidates if not (c in taken or c in reserved or iskeyword(c)))
        taken.add(new)
        if new != name:
            mapping[name] = load(new)
    return rebuilt(renamed([tree], mapping, tree)[0], name=tree.name) if mapping else tree


def _versions(variable: str, reserved: Set[str]) -> Any:
    yield f"{variable}_" if variable in reserved else variable
    yield from _numbers(variable, 2)


def _numbers(stem: str, start: int) -> Any:
    while True:
        yield f"{stem}_{start}"
        start += 1


def _names_in_order(tree: Any) -> dict[str, bool]:
    """All names in a function, in order of appearance, and whether each is its own variable: nested functions
    keep their names, also where they are unpacked from a trace.
    """
    found: dict[str, bool] = {}
    functions: set[str] = set()
    for node in walk(tree):
        if node.__class__ is gast.Name:
            found[node.id] = found.get(node.id, False) or node.ctx.__class__ is gast.Store
        elif node.__class__ is gast.FunctionDef:
            found.setdefault(node.name, False)
            functions.add(node.name)
    return {name: is_bound and name not in functions for name, is_bound in found.items()}
