"""Drops conversions of arrays to the form they have, and defaults for dict items that exist.

Form: the single-assignment form, in and out. A conversion that returns its argument becomes an alias; any
other becomes a copy.

    y = np.asarray(x, dtype=float)    ->    y = x
    z = np.array(x)                   ->    z = np.copy(x)
    w = d.get("w", default)           ->    w = d["w"]
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.facts import Facts
from ..trees.nodes import attribute, call, located
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
                return None if found is None else [rebuilt(s, value=found)]
        return None

    return lower_effects(facts.program, rewrite)
