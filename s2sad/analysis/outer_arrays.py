"""The arrays around a function that it reads."""

from __future__ import annotations

import gast
import numpy as np

from ..transforms.trees.nodes import find_nodes, load
from ..transforms.trees.program import Program

__all__ = ["reads_arrays"]


def reads_arrays(program: Program) -> list[str]:
    """The names of arrays from outside in a program."""
    read = dict.fromkeys(n.id for n in find_nodes(program.tree, gast.Name) if isinstance(n.ctx, gast.Load))
    return [n for n in read if n not in program.locals and type(program.resolve(load(n))) is np.ndarray]
