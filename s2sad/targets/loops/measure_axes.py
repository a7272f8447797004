"""The lengths of axes, as texts: `x.shape[0]`, `max(x.shape[0] - 2, 0)` for `x[1:-1]`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from ..array_types import Array
from .find_bindings import LIKE, Bindings
from .read_expressions import integer, is_computed, is_view, step_of
from .steps import Group

__all__ = ["Axes"]


class Axes(Bindings):
    """The lengths of the axes of expressions."""

    def sizes(self, node: ast.expr, group: Group) -> list[dict[str, None]]:
        """For each axis of an elementwise expression the texts of the lengths that meet there."""
        match node:
            case ast.Name(id=name):
                if not self.is_array(node):
                    return []
                for step in reversed(group.steps):
                    if step.target == name and step.is_computed:
                        return step.sizes
                return [{text: None} for text in self.shape(name)]
            case ast.Subscript(value=base, slice=index):
                return self.sliced(base, index, group)
            case ast.Attribute(attr="T", value=base):
                return self.sizes(base, group)[::-1]
            case ast.Call() if self.numpy_name(node.func) == "outer":
                return [*self.sizes(node.args[0], group), *self.sizes(node.args[1], group)]
        children = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        if isinstance(node, ast.Call):
            children = node.args
        return merged([self.sizes(c, group) for c in children])

    def sliced(self, base: ast.expr, index: ast.expr, group: Group) -> list[dict[str, None]]:
        axes = list(self.sizes(base, group))
        found: list[dict[str, None]] = []
        indices = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        used = sum(isinstance(i, ast.Slice) for i in indices)
        for i in indices:
            if isinstance(i, ast.Slice):
                (text,) = list(axes.pop(0)) or ["1"]
                found.append({length_of(i, text): None})
            elif isinstance(i, ast.Constant) and i.value is None:
                found.append({})
            else:
                count = len(self.sizes(base, group)) - used
                found += [axes.pop(0) for _ in range(count)]
        return found + axes

    def shape(self, name: str) -> list[str]:
        """The texts of the lengths of an array: those of another one that is sure to have the same."""
        found = self.types.names[name]
        assert isinstance(found, Array)
        own = [f"{name}.shape[{k}]" for k in range(found.rank)]
        value = self.values.get(name)
        if name not in self.stable or value is None:
            return own
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name() as base, attr="copy"), args=[]):
                sizes = self.sizes(base, Group())
            case ast.Call(args=[ast.Name() as base, *_]) if self.numpy_name(value.func) in LIKE:
                sizes = self.sizes(base, Group())
            case _ if is_computed(value, self) or is_view(value):
                sizes = self.sizes(value, Group())
            case _:
                return own
        texts = [next(iter(s)) if len(s) == 1 and self.is_kept(s) else "" for s in sizes]
        return [t or o for t, o in zip(texts, own, strict=True)] if len(texts) == len(own) else own

    def is_kept(self, texts: Iterable[str]) -> bool:
        """Whether texts of lengths name arrays that mean the same throughout a call, and that are not made by
        a loop.
        """
        nodes = [n for t in texts for n in ast.walk(ast.parse(t))]
        names = {n.id for n in nodes if isinstance(n, ast.Name)} - {"max", "min"}
        return all(n in self.constant and not self.is_filled(n) for n in names)

    def is_filled(self, name: str) -> bool:
        """Whether a loop fills the array of this name."""
        return name in self.values and is_computed(self.values[name], self)


def merged(parts: list[list[dict[str, None]]]) -> list[dict[str, None]]:
    """The lengths that meet when arrays are broadcast together."""
    rank = max(map(len, parts), default=0)
    found: list[dict[str, None]] = [{} for _ in range(rank)]
    for part in parts:
        for k, texts in enumerate(part, rank - len(part)):
            found[k].update(texts)
    return found


def length_of(node: ast.Slice, whole: str) -> str:
    """The text of the length of a slice of an axis of this length: `max(n - 2, 0)` for `1:-1`."""
    if step_of(node) == -1:
        return whole
    lower = 0 if node.lower is None else integer(node.lower) or 0
    upper = None if node.upper is None else integer(node.upper)
    if lower >= 0 and (upper is None or upper < 0):
        cut = lower - (upper or 0)
        if (known := _CUT.fullmatch(whole)) is not None:
            whole, cut = known[1], cut + int(known[2])
        return f"max({whole} - {cut}, 0)" if cut else whole
    stop = whole if upper is None else bound_text(upper, whole)
    return f"max({stop} - {bound_text(lower, whole)}, 0)"


_CUT = re.compile(r"max\(([^ ]*) - (\d+), 0\)")


def bound_text(bound: int, whole: str) -> str:
    """The text of where a bound of a slice stands on an axis."""
    return f"min({bound}, {whole})" if bound >= 0 else f"max({whole} - {-bound}, 0)"
