"""The kinds of containers that are changed through one alias: a list in a list that is appended to.

Form: as for `find_kinds`, which this is part of. A change widens the kind of the name that it is made
through. Where the object has aliases, the statement that made it gets the wider kind, and kinds are inferred
again.

    row = []            row: list of floats
    rows.append(row)    rows: list of lists of floats
    row.append(x)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from ..trees.nodes import assigned_names, find_nodes
from .facts import Facts, Kinds
from .find_aliases import NOTHING, argument_of, both, contents_of, find_aliases

__all__ = ["only_named", "widened"]


def only_named(tree: Any, names: Iterable[str]) -> bool:
    """Whether each of these containers is one display and has no alias: only its items are read."""
    names = set(names)
    if not names:
        return True
    assigned = [n for s in find_nodes(tree, gast.Assign) for n in assigned_names([s])]
    displays = [s.targets[0].id for s in find_nodes(tree, gast.Assign) if _is_display(s)]
    if not all(assigned.count(n) == displays.count(n) == 1 for n in names):
        return False
    bases = {id(n.value) for n in find_nodes(tree, gast.Subscript, gast.Attribute)}
    bases |= {id(n.iter) for n in find_nodes(tree, gast.For)}
    bases |= {id(s.value) for s in find_nodes(tree, gast.Return)}
    return not any(
        isinstance(n.ctx, gast.Load) and n.id in names and id(n) not in bases
        for n in find_nodes(tree, gast.Name)
    )


def _is_display(s: Any) -> bool:
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, (gast.List, gast.Dict))
    )


def widened(changed: Kinds, made: Kinds, facts: Facts) -> dict[str, Any]:
    """The wider kinds of the names whose objects are changed through aliases: `changed` maps the names that
    the changes are made through to the kinds after them, `made` all names to the kinds as assigned.
    """
    domain, aliases = facts.domain, facts.of(find_aliases)
    found: dict[str, Any] = {}
    for name, kind in changed.items():
        for root in aliases.held.get(name, NOTHING)[0]:
            if any(root in both(held) for other, held in aliases.held.items() if other != name):
                maker = argument_of(root) or contents_of(root) or root.removesuffix("[]")
                first = found.get(maker, made.get(maker, domain.UNKNOWN))
                if domain.is_array(first) and domain.is_container(kind):
                    continue  # an array cannot become or contain a list
                if root not in (maker, f"<{maker}>"):
                    found[maker] = domain.with_changed(first, kind)
                elif not domain.are_apart(first, kind):
                    found[maker] = domain.join(found[maker], kind) if maker in found else kind
    return found
