"""The texts of elements of expressions, at the indices of a loop."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..array_types import CHOICES, Array
from .read_expressions import OPERATORS, integer, step_of
from .steps import Group, Step

if TYPE_CHECKING:
    from .measure_axes import Axes

__all__ = ["Elements"]

SIGNS: dict[type[ast.AST], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "not "}
VECTORIZED = frozenset(("exp", "expm1", "log", "log1p", "tanh"))


class Elements:
    """Writes elements in a function of loops."""

    lowering: Axes
    steps: list[Step]
    mark: str  # what the names end in that the loop has for itself
    names: dict[str, str]  # what loops call, by their names in the text
    current: dict[str, str]  # what a name means by now, where that is another array

    def name_for(self, of: str) -> str:
        """The name in the text of something that loops call."""
        name = f"{of}{self.mark}"
        self.names[name] = of
        return name

    def own(self, what: str, of: int | str) -> str:
        """A name of the loop's own."""
        return f"{what}{'_' if isinstance(of, str) else ''}{of}{self.mark}"

    def text(
        self,
        node: ast.expr,
        indices: list[str],
        values: Mapping[str, str] | None,
        standing: Callable[[int, str], str],
    ) -> str:
        """The text of the element of an expression at indices. `values` are the variables that hold elements
        of arrays that the loop makes (None: they are arrays), `standing` what an index is multiplied by on an
        axis, where arrays of a length stand still.
        """
        lowering, group = self.lowering, Group([] if values is None else self.steps)

        def of(n: ast.expr, own: list[str]) -> str:
            if not lowering.is_array(n):
                return f"({ast.unparse(n)})" if isinstance(n, ast.UnaryOp) else ast.unparse(n)
            match n:
                case ast.Name(id=name):
                    if values and name in values:
                        return values[name]
                    placed = ", ".join(self.placed(n, own, indices, standing, group))
                    return f"{self.current.get(name, name)}[{placed}]"
                case ast.Subscript(value=base, slice=index):
                    return self.sliced(base, index, self.placed(n, own, indices, standing, group), of)
                case ast.Attribute(value=base):
                    return of(base, own[::-1])
                case ast.BinOp(left=left, op=op, right=right):
                    return f"({of(left, own)} {OPERATORS[type(op)]} {of(right, own)})"
                case ast.UnaryOp(op=op, operand=operand):
                    return f"({SIGNS[type(op)]}{of(operand, own)})"
                case ast.Compare(left=left, ops=[op], comparators=[right]):
                    return f"({of(left, own)} {OPERATORS[type(op)]} {of(right, own)})"
                case ast.Call(func=func, args=args):
                    name = lowering.numpy_name(func)
                    if name == "outer":
                        return f"({of(args[0], own[:1])} * {of(args[1], own[1:])})"
                    if name == "where":
                        return f"({of(args[1], own)} if {of(args[0], own)} else {of(args[2], own)})"
                    if name in VECTORIZED and lowering.types.of(n) == Array(lowering.rank_of(n), "f"):
                        return f"{self.name_for(name)}({', '.join(of(a, own) for a in args)})"
                    if name in CHOICES:
                        return f"({CHOICES[name].format(*(of(a, own) for a in args))})"
                    return f"{ast.unparse(func)}({', '.join(of(a, own) for a in args)})"
            raise AssertionError(ast.dump(n))

        return of(node, indices)

    def place_of(self, s: Step, indices: list[str]) -> str:
        """The text of the element that a store stores to."""
        assert s.place is not None
        return self.text(s.place, indices, {}, lambda k, text: "")

    def placed(
        self,
        node: ast.expr,
        own: list[str],
        indices: list[str],
        standing: Callable[[int, str], str],
        group: Group,
    ) -> list[str]:
        """The indices of an operand: the last ones, which stand still where it has the length one."""
        sizes = self.lowering.sizes(node, group)
        placed = []
        for index, texts in zip(own[len(own) - len(sizes) :], sizes, strict=True):
            if not texts or next(iter(texts)) == "1":
                placed.append("0")
                continue
            axis = indices.index(index) if index in indices else 0
            placed.append(f"{index}{''.join(dict.fromkeys(standing(axis, t) for t in texts))}")
        return placed

    def sliced(
        self, base: ast.expr, index: ast.expr, own: list[str], of: Callable[[ast.expr, list[str]], str]
    ) -> str:
        entries = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        found = self.lowering.types.of(base)
        assert isinstance(found, Array)
        used = sum(isinstance(i, ast.Slice) for i in entries)
        rest = [ast.Slice() for _ in range(found.rank - used)]
        if not any(isinstance(i, ast.Constant) and i.value is ... for i in entries):
            entries.append(ast.Constant(...))
        own = list(own)
        placed: list[str] = []
        for i in entries:
            if isinstance(i, ast.Constant) and i.value is None:
                own.pop(0)
                continue
            for s in rest if isinstance(i, ast.Constant) else [i]:
                assert isinstance(s, ast.Slice)
                k = len(placed)
                whole = f"{ast.unparse(base)}.shape[{k}]"
                position = own.pop(0)
                if step_of(s) == -1:
                    position = f"{whole} - 1 - {position}"
                elif s.lower is not None and (lower := integer(s.lower)):
                    position += f" + {lower}" if lower > 0 else f" + max({whole} - {-lower}, 0)"
                placed.append(position)
        if isinstance(base, ast.Name):
            return f"{base.id}[{', '.join(placed)}]"
        return of(base, placed)
