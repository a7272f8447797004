"""The definition of each name, and how often it is read.

Form: the single-assignment form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import gast

from ..trees.nodes import blocks_of, bound_here, read_counts

__all__ = ["Definitions"]


class Definitions:
    """The assignments of a program, nested functions aside."""

    def __init__(self, tree: Any) -> None:
        self._reads = read_counts(tree)
        self._blocks: dict[str, int] = {}  # the number of the block in which a name is assigned
        self._values: dict[str, Any] = {}
        self._iterated: dict[str, Any] = {}
        bound: Counter[str] = Counter()
        for number, block in enumerate(_blocks(tree.body)):
            for s in block:
                names = bound_here(s)
                bound.update(names)
                self._blocks.update(dict.fromkeys(names, number))
                if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                    self._values[s.targets[0].id] = s.value
                elif isinstance(s, gast.For) and isinstance(s.target, gast.Name):
                    self._iterated[s.target.id] = s.iter
        for found in (self._values, self._iterated):
            for name in [n for n in found if bound[n] > 1]:
                del found[name]

    def value(self, name: str) -> Any | None:
        """The value of a name that is assigned once; else None."""
        return self._values.get(name)

    def values(self) -> Iterable[tuple[str, Any]]:
        """The names that are assigned once, with their values."""
        return self._values.items()

    def block_of(self, name: str) -> int | None:
        """The number of the block in which a name is assigned."""
        return self._blocks.get(name)

    def iterated(self, name: str) -> Any | None:
        """The iterable of a name that is the target of one loop, and of nothing else; else None."""
        return self._iterated.get(name)

    def display(self, node: Any, reader: str) -> Sequence[Any] | None:
        """The items of a list or tuple whose only reader is the value of `reader`, later in the same block;
        else None.
        """
        if not isinstance(node, gast.Name) or self._reads[node.id] != 1:
            return None
        value: Any = self._values.get(node.id)
        if not isinstance(value, (gast.List, gast.Tuple)):
            return None
        return value.elts if self._blocks[node.id] == self._blocks.get(reader) else None


def _blocks(block: list[Any]) -> Iterator[list[Any]]:
    yield block
    for s in block:
        for inner in blocks_of(s):
            yield from _blocks(inner)
