"""Reads the shape of an array from the one that it was copied from, where nothing else of it is read.

    A = a.copy()
    dA = np.ones_like(A)      ->      dA = np.ones_like(a)
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.find_contents import elements_read
from ..trees.nodes import load, names_read
from .code import Code, Line

__all__ = ["read_shape_of_source"]

Node = Any  # gast publishes no types


def read_shape_of_source(code: Code, line: Line) -> bool:
    """Reads shapes from the array that a name holds a copy of, and drops the copy."""
    match line.node:
        case gast.Assign(
            targets=[gast.Name(id=name)],
            value=gast.Call(func=gast.Attribute(value=gast.Name(id=source), attr="copy"), args=[]),
        ) if code.definer(name) is line and code.is_own(name):
            if code.bound[source] != 1 or not (code.facts.is_array(name) and code.facts.is_array(source)):
                return False
            readers = [reader.node for reader in code.readers.get(name, ())]
            if not readers or any(name in elements_read(s, code.facts.shape_only) for s in readers):
                return False
            if any(name in names_read(_targets(s)) for s in readers):
                return False
            code.delete(line)
            code.put(name, load(source))
            return True
    return False


def _targets(s: Node) -> list[Node]:
    """The places that a statement stores into."""
    return s.targets if isinstance(s, gast.Assign) else [s.target] if isinstance(s, gast.AugAssign) else []
