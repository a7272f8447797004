"""Finds which elements of arrays a statement reads and writes in each iteration of its loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .measure_axes import PLACE, Axes, entries_of, start_of
from .read_expressions import step_of
from .steps import Access, Group, Place, Step

__all__ = ["Accesses"]

Levels = Sequence[int | None]  # for each axis of an expression the level of the loop over it, if there is one


class Accesses(Axes):
    """The elements that statements read and write."""

    def find_accesses(self, step: Step, group: Group) -> None:
        """Notes what a step of known lengths reads and writes."""
        levels = range(step.rank)
        step.reads = list(dict.fromkeys(self.reads(step.value, levels, group)))
        if step.place is not None:
            step.written = self.access(step.place, levels, group)
        else:
            places = (Place(None, "0") if k is None else Place(k, "{}") for k in step.left)
            step.written = Access(step.target, tuple(places))

    def reads(self, node: ast.expr, levels: Levels, group: Group) -> Iterator[Access]:
        """What an expression reads, whose last axes are those of the loops of these levels."""
        match node:
            case ast.Name() | ast.Subscript() | ast.Attribute():
                if self.is_array(node):
                    yield self.access(node, levels, group)
            case ast.Call(args=args) if self.numpy_name(node.func) == "outer":
                yield from self.reads(args[0], levels[-2:-1], group)
                yield from self.reads(args[1], levels[-1:], group)
            case _:
                children = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
                for child in children:
                    if isinstance(child, ast.expr):
                        yield from self.reads(child, levels, group)

    def access(self, node: ast.expr, levels: Levels, group: Group) -> Access:
        """What a name of an array, a part of it, or its transpose reads."""
        sizes = self.sizes(node, group)
        texts = [next(iter(s), "") for s in sizes]
        own = [k if s else None for k, s in zip(levels[len(levels) - len(sizes) :], sizes, strict=True)]
        match node:
            case ast.Name(id=name):
                return Access(name, tuple(map(along, own, texts)))
            case ast.Attribute(value=ast.Name(id=name)):
                return Access(name, tuple(map(along, own[::-1], texts[::-1])))
            case ast.Subscript(value=ast.Name(id=name) as base, slice=index):
                return Access(name, tuple(self._places(base, index, own, texts, group)))
        raise AssertionError(ast.dump(node))

    def _places(
        self, base: ast.Name, index: ast.expr, own: list[int | None], texts: list[str], group: Group
    ) -> Iterator[Place]:
        wholes = [next(iter(s), "1") for s in self.sizes(base, group)]
        moving = iter(zip(own, texts, strict=True))
        for entry, axis in entries_of(index, len(wholes)):
            if axis is None or entry is None:
                next(moving)
            elif not isinstance(entry, ast.Slice):
                yield Place(None, f"{PLACE}({ast.unparse(entry)}, {wholes[axis]})")
            else:
                level, text = next(moving)
                start = "0" if step_of(entry) == -1 else start_of(entry, wholes[axis])
                if step_of(entry) == -1:
                    yield Place(level, f"{wholes[axis]} - 1 - {{}}", text) if text else Place(None, "0")
                elif level is None:
                    yield Place(None, start)
                else:
                    yield along(level, text) if start == "0" else Place(level, f"{{}} + {start}", text)


def along(level: int | None, text: str) -> Place:
    return Place(None, "0") if level is None else Place(level, "{}", text)
