"""Names that need a shadow: an adjoint with the same aliases as the name's value.

Form: the single-assignment form. Names that may hold one object, or parts of one, form a class. Where one
name of a class sees a change in place that is made through another, all active names of the class have
shadows; elsewhere the adjoint of a name has no alias.

    row = A[i]          drow = dA[i]
    row[0] = v          dv = drow[0]
    return A            drow[0] = 0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast

from ..trees.nodes import header_of, names_read, own_statements
from .facts import Facts
from .find_aliases import (
    NOTHING,
    OUTSIDE,
    Aliases,
    argument_of,
    both,
    contents_of,
    find_aliases,
    is_outside,
)
from .find_stores import find_stores

__all__ = ["Sharing", "classes_of", "find_shadowed"]


@dataclass(frozen=True)
class Sharing:
    """`classes` are the alias classes with a change that another name sees; `outside` are the changes that
    are seen outside of the function, with the name and the root; `written` are the parameters that are
    changed, or whose contents are.
    """

    classes: tuple[frozenset[str], ...] = ()
    outside: tuple[tuple[Any, str, str], ...] = ()
    written: tuple[str, ...] = ()


def find_shadowed(facts: Facts) -> Sharing:
    """The alias classes of changes in place. A store into a tuple makes a new tuple, and is none."""
    stores = facts.of(find_stores)
    if not stores:
        return Sharing()
    aliases = facts.of(find_aliases)
    shared: list[str] = []
    seeing: set[str] = set()
    outside: list[tuple[Any, str, str]] = []
    written: dict[str, None] = {}
    for name, statement in stores:
        if facts.domain.is_tuple(facts.kind_of_name(name)):
            continue
        target = statement.targets[0] if isinstance(statement, gast.Assign) else None
        others = aliases.others(name, statement, target.id if isinstance(target, gast.Name) else None)
        outside += [(statement, name, root) for root in others if is_outside(root)]
        if any(not is_outside(other) for other in others):
            shared.append(name)
        seeing.update(others)
        for root in aliases.held.get(name, (frozenset({OUTSIDE}),))[0]:
            parameter = argument_of(root) or contents_of(root)
            if parameter is not None:
                written[parameter] = None
    apart = _closures(aliases, seeing) if shared else frozenset()
    return Sharing(tuple(classes_of(aliases, shared, apart)), tuple(outside), tuple(sorted(written)))


def _closures(aliases: Aliases, seeing: set[str]) -> frozenset[str]:
    """The nested functions, and tuples of them, that see no change of their captures and whose captures do
    not escape through them: they are values, with adjoints without aliases.
    """
    statements = own_statements(aliases.tree.body)
    found = {s.name for s in statements if isinstance(s, gast.FunctionDef)}
    found |= {
        s.targets[0].id
        for s in statements
        if _is_display(s) and isinstance(s.targets[0], gast.Name) and found.intersection(names_read(s.value))
    }
    found -= seeing
    while True:
        passed = {n for s in statements for n in found.intersection(_passed_on(s, aliases, found))}
        if not passed:
            return frozenset(found)
        found -= passed


def _is_display(s: Any) -> bool:
    return isinstance(s, gast.Assign) and isinstance(s.value, gast.Tuple)


def _passed_on(s: Any, aliases: Aliases, found: set[str]) -> Sequence[str]:
    """The names whose contents a statement may pass to names other than `found`."""
    match s:
        case gast.Assign(targets=[gast.Name(id=target)]) | gast.FunctionDef(name=target):
            mine = both(aliases.held.get(target, NOTHING))
            read = [] if target in found else names_read(s)
            return [n for n in read if both(aliases.held.get(n, NOTHING)) & mine]
        case gast.Return() | gast.If() | gast.While():
            return []
    return names_read(header_of(s))


def classes_of(
    aliases: Aliases, members: list[str], apart: frozenset[str] = frozenset()
) -> list[frozenset[str]]:
    """The alias classes that hold one of `members`; names in `apart` connect nothing."""
    found: list[frozenset[str]] = []
    for member in members:
        if any(member in c for c in found):
            continue
        names, roots = {member}, set(both(aliases.held.get(member, (frozenset(), frozenset()))))
        while True:
            more = {n for n, held in aliases.held.items() if n not in names | apart and both(held) & roots}
            if not more:
                break
            names |= more
            for n in more:
                roots |= both(aliases.held[n])
        found.append(frozenset(names))
    return found
