"""The lengths of axes, as texts: `x.shape[0]`, `max(x.shape[0] - 2, 0)` for `x[1:-1]`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from ..array_types import Array
from .find_bindings import LIKE, Bindings
from .read_expressions import indices_of, integer, is_computed, step_of
from .steps import Group, Sizes

__all__ = ["Axes", "merged", "names_in", "start_of"]

BOUND = "bound__"  # of an axis of this length, where a bound of a slice stands on it
PLACE = "place__"  # where an index stands; it raises IndexError if that is outside
CALLED = (BOUND, PLACE, "max", "min")


class Axes(Bindings):
    """The lengths of the axes of expressions."""

    def sizes(self, node: ast.expr, group: Group) -> Sizes:
        """For each axis of an elementwise expression the texts of the lengths that meet there; none for one
        that is sure to have the length one.
        """
        match node:
            case ast.Name(id=name):
                if not self.is_array(node):
                    return []
                return group.sizes_of(name) or [{t: None} if t else {} for t in self.shape(name)]
            case ast.Subscript(value=base, slice=index):
                return self._region(base, index, group)
            case ast.Attribute(attr="T", value=base):
                return self.sizes(base, group)[::-1]
            case ast.Call() if self.numpy_name(node.func) == "outer":
                return [*self.sizes(node.args[0], group), *self.sizes(node.args[1], group)]
        children = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        if isinstance(node, ast.Call):
            children = node.args
        return merged([self.sizes(c, group) for c in children])

    def _region(self, base: ast.expr, index: ast.expr, group: Group) -> Sizes:
        axes = self.sizes(base, group)
        found: Sizes = []
        for entry, axis in entries_of(index, len(axes)):
            if entry is None:
                found.append({})
            elif axis is not None and isinstance(entry, ast.Slice):
                text = next(iter(axes[axis]), "1")
                is_whole = entry.lower is None and entry.upper is None
                found.append(axes[axis] if is_whole else {length_of(entry, text): None})
        return found

    def shape(self, name: str) -> list[str]:
        """The texts of the lengths of an array: those of another one that is sure to have the same. Empty for
        a length that is one.
        """
        array = self.types.names[name]
        assert isinstance(array, Array)
        own = ["" if k in array.ones else f"{name}.shape[{k}]" for k in range(array.rank)]
        value = self.values.get(name)
        if name not in self.stable or value is None:
            return own
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name() as base, attr="copy"), args=[]):
                sizes = self.sizes(base, Group())
            case ast.Call(args=[ast.Name() as base, *_]) if self.numpy_name(value.func) in LIKE:
                sizes = self.sizes(base, Group())
            case _ if (found := self.reduction(value)) is not None and found.like is not None:
                sizes = self.sizes(found.like, Group())
            case _ if found is not None:
                sizes = self.sizes(found.value, Group())
                axes = [k for k in range(len(sizes)) if found.keeps or k not in found.axes]
                sizes = [{} if k in found.axes else sizes[k] for k in axes]
            case _ if is_computed(value, self) or self.is_region(value):
                sizes = self.sizes(value, Group())
            case _:
                return own
        texts = [next(iter(s)) if len(s) == 1 and self.is_kept(s) else "" for s in sizes]
        return [o and (t or o) for t, o in zip(texts, own, strict=True)] if len(texts) == len(own) else own

    def is_kept(self, texts: Iterable[str]) -> bool:
        """Whether texts of lengths name arrays that mean the same throughout a call, and that are not made by
        a loop.
        """
        return all(n in self.constant and not self.is_filled(n) for t in texts for n in names_in(t))

    def is_filled(self, name: str) -> bool:
        """Whether a loop fills the array of this name."""
        value = self.values.get(name)
        return value is not None and (is_computed(value, self) or self.reduction(value) is not None)


def entries_of(index: ast.expr, rank: int) -> list[tuple[ast.expr | None, int | None]]:
    """What an index of an array of this rank has for each axis that it reads or makes, and the axis that it
    reads: None and None for a new one.
    """
    entries = indices_of(index)
    rest = rank - sum(not (isinstance(i, ast.Constant) and i.value in (None, ...)) for i in entries)
    if not any(isinstance(i, ast.Constant) and i.value is ... for i in entries):
        entries.append(ast.Constant(...))
    found: list[tuple[ast.expr | None, int | None]] = []
    axis = 0
    for i in entries:
        if isinstance(i, ast.Constant) and i.value is None:
            found.append((None, None))
            continue
        for entry in [ast.Slice()] * rest if isinstance(i, ast.Constant) and i.value is ... else [i]:
            found.append((entry, axis))
            axis += 1
    return found


def names_in(text: str) -> set[str]:
    """The names of variables in a text."""
    names = {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
    return names.difference(CALLED)


def merged(parts: list[Sizes]) -> Sizes:
    """The lengths that meet when arrays are broadcast together."""
    rank = max(map(len, parts), default=0)
    found: Sizes = [{} for _ in range(rank)]
    for part in parts:
        for k, texts in enumerate(part, rank - len(part)):
            found[k].update(texts)
    return found


def length_of(node: ast.Slice, whole: str) -> str:
    """The text of the length of a slice of an axis of this length: `max(n - 2, 0)` for `1:-1`."""
    if step_of(node) == -1:
        return whole
    lower = 0 if node.lower is None else integer(node.lower)
    upper = None if node.upper is None else integer(node.upper)
    is_cut = node.upper is None or (upper is not None and upper < 0)
    if lower is not None and lower >= 0 and is_cut:
        cut = lower - (upper or 0)
        if (known := _CUT.fullmatch(whole)) is not None:
            whole, cut = known[1], cut + int(known[2])
        return f"max({whole} - {cut}, 0)" if cut else whole
    stop = whole if node.upper is None else bound_text(node.upper, whole)
    start = start_of(node, whole)
    return f"max({stop} - {start}, 0)" if start != "0" else stop


_CUT = re.compile(r"max\(([^ ]*) - (\d+), 0\)")


def start_of(node: ast.Slice, whole: str) -> str:
    """The text of where a slice of the step 1 starts on an axis; beyond its end, if it has no elements."""
    if node.lower is None:
        return "0"
    lower = integer(node.lower)
    return str(lower) if lower is not None and lower >= 0 else bound_text(node.lower, whole)


def bound_text(node: ast.expr, whole: str) -> str:
    """The text of where a bound of a slice stands on an axis."""
    bound = integer(node)
    if bound is None:
        return f"{BOUND}({ast.unparse(node)}, {whole})"
    return f"min({bound}, {whole})" if bound >= 0 else f"max({whole} - {-bound}, 0)"
