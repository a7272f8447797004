"""Conversions of arrays to what they are already, and items of dicts that are there.

Form: the single-assignment form, in and out. What returns its argument gives it another name: one array from
here on, as in the run. The rest are copies.

    y = np.asarray(x, dtype=float)    ->    y = x
    z = np.array(x)                   ->    z = np.copy(x)
    w = d.get("w", default)           ->    w = d["w"]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..trees.nodes import attribute, call, located
from ..trees.program import Program
from ..trees.rebuild import rebuilt
from .lower_effects import Writer, lower_effects

__all__ = ["drop_conversions"]

Found = Callable[[Any], Any]


def drop_conversions(program: Program, returned: Found, copied: Found, numpy: Any) -> Program:
    """The program without them: `returned(call)` is the name of the array, or the item, that a call returns,
    `copied(call)` the name of the array that it copies, and None for other calls; `numpy` is the module.
    """

    def rewrite(s: Any, writer: Writer) -> list[Any] | None:
        match s:
            case gast.Assign(targets=[gast.Name()], value=gast.Call() as value):
                found = returned(value)
                if found is None and (source := copied(value)) is not None:
                    copy = attribute(writer.bound(numpy, "np"), "copy")
                    found = located(call(copy, source), value)
                return None if found is None else [rebuilt(s, value=found)]
        return None

    return lower_effects(program, rewrite)
