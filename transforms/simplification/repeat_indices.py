"""Inlines indices that are read several times: `dh[i - 1]`.

A sum of an integer and a literal costs less at run time than its name costs a reader.

    h_1 = i - 1
    dh[h_1] -= dv        ->   dh[i - 1] -= dv
    dh[h_1] += du             dh[i - 1] += du
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import find_nodes, loads
from .code import Code, Line

__all__ = ["repeat_index"]

Node = Any  # gast publishes no types

MOST = 4  # reads of one name


def repeat_index(code: Code, line: Line) -> bool:
    """Inlines a temporary sum of an integer and a literal, if it is only read in indices, outside of loops,
    and before the integer is assigned again.
    """
    match line.node:
        case gast.Assign(
            targets=[gast.Name(id=name)],
            value=gast.BinOp(
                left=gast.Name(id=operand),
                op=gast.Add() | gast.Sub(),
                right=gast.Constant(value=int()),
            ) as value,
        ) if 1 < code.read[name] <= MOST and code.bound[name] == 1:
            if name in code.captured or name in code.fixed:
                return False
            last = code.last_reader(name, line)
            if last is None or not (code.facts.is_temporary(name) and code.facts.holds_number(operand)):
                return False
            for reader, count in code.readers[name].items():
                if reader.block is not line.block or reader.blocks or _in_indices(reader.node, name) != count:
                    return False
            if any(code.is_between(line, d, last) for d in code.definers.get(operand, ())):
                return False
            code.delete(line)
            code.put(name, value)
            return True
    return False


def _in_indices(s: Node, name: str) -> int:
    """The number of reads of a name in indices."""
    places = [n.slice for n in find_nodes(s, gast.Subscript)]
    calls = [n for n in find_nodes(s, gast.Call) if getattr(n.func, "id", "") == "slice"]
    return sum(loads(part).count(name) for part in [*places, *calls])
