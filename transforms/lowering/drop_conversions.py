"""Drops conversions of arrays to the form they have, defaults for dict items that exist, and permissions to
overwrite arrays.

Form: the single-assignment form, in and out. A conversion that returns its argument becomes an alias; any
other becomes a copy. Where nothing else reads an array, leave to overwrite it changes no result.

    y = np.asarray(x, dtype=float)    ->    y = x
    z = np.array(x)                   ->    z = np.copy(x)
    w = d.get("w", default)           ->    w = d["w"]
    v = irfft(t, overwrite_x=True)    ->    v = irfft(t)
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.operations import Apply
from ..trees.nodes import attribute, blocks_of, call, find_nodes, located, names_read, statements_in
from ..trees.program import Program
from ..trees.rebuild import rebuilt
from .lower_effects import Writer, lower_effects

__all__ = ["drop_conversions"]

def drop_conversions(facts: Facts) -> Program:
    """The program without such conversions and defaults."""
    primitives = facts.primitives

    def rewrite(s: Any, writer: Writer) -> list[Any] | None:
        match s:
            case gast.Assign(targets=[gast.Name()], value=gast.Call() as value):
                found = primitives.returned_by(facts.operation(value), facts.kind)
                source = primitives.copied_by(facts.operation(value), facts.kind)
                if found is None and source is not None:
                    copy = attribute(writer.bound(*reversed(primitives.array_module())), "copy")
                    found = located(call(copy, source), value)
                found = _without_permissions(facts, value) if found is None else found
                return None if found is None else [rebuilt(s, value=found)]
        return None

    return lower_effects(facts.program, rewrite)


def _without_permissions(facts: Facts, node: Any) -> Any:
    """A call without leave to overwrite temporaries; None for a call without."""
    operation = facts.operation(node)
    permitted = facts.primitives.permissions(operation) if isinstance(operation, Apply) else {}
    if not permitted:
        return None
    temporaries = facts.of(_find_temporaries)
    needless = {k for k, a in permitted.items() if a is None or getattr(a, "id", None) in temporaries}
    keywords = [k for k in node.keywords if k.arg not in needless]
    return rebuilt(node, keywords=keywords) if len(keywords) < len(node.keywords) else None


def _find_temporaries(facts: Facts) -> set[str]:
    """The names of new arrays that one statement reads, behind the one that makes them in its block."""
    reads = Counter(n.id for n in find_nodes(facts.program.tree, gast.Name) if isinstance(n.ctx, gast.Load))
    body = facts.program.tree.body
    found: set[str] = set()
    for block in (body, *(b for s in statements_in(body) for b in blocks_of(s))):
        made: set[str] = set()
        for s in block:
            if not blocks_of(s):
                found |= made & {n for n in names_read(s) if reads[n] == 1}
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    operation = facts.operation(value)
                    if isinstance(operation, Apply) and facts.primitives.sharing(operation) == "fresh":
                        made.add(name)
    return found
