"""Conversions that return what they are given.

Form: the single-assignment form, in and out. The two names are one array from here on, as in the run.

    y = np.asarray(x, dtype=float)    ->    y = x
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt, with_body

__all__ = ["drop_conversions"]


def drop_conversions(program: Program, returned: Callable[[Any], Any]) -> Program:
    """The program with a name in the place of each call that returns it: `returned(call)`, or None."""
    dropped = False

    def visit(s: Any) -> Any:
        nonlocal dropped
        match s:
            case gast.Assign(targets=[gast.Name()], value=gast.Call() as value):
                source = returned(value)
                if source is not None:
                    dropped = True
                    return rebuilt(s, value=source)
                return s
        return map_blocks(s, lambda block: [visit(part) for part in block])

    body = [visit(s) for s in program.tree.body]
    return program.with_tree(with_body(program.tree, body)) if dropped else program
